//! The farm file over HTTP: reload it, or see what a reload would change.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;

use super::App;
use super::allocations::writes::flag;
use super::problem::Problem;
use crate::config::Faults;
use crate::domain::fleet::{self, Change, Definition, Fleet};
use crate::domain::{Author, Farm};

/// Reads the farm file anew, and checks it; the composition root knows where it is.
pub type ReadDefinition = Box<dyn Fn() -> Result<Definition, Faults> + Send + Sync>;

#[derive(Serialize)]
struct Reloaded {
    /// Whether anything was to be changed.
    changed: bool,
    changes: Vec<Change>,
    /// Allocated machines that are not workers of the new farm.
    lost: Vec<String>,
}

/// `POST /v1/farm/reload?dry_run=`
pub async fn reload(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.limits.write(&request)?;
    let dry_run = flag(&request, "dry_run")?;
    let author = app.tokens.operator(&request)?;
    let definition = read_definition(&app).await?;
    let reloaded = app.put_in_force(definition, author, dry_run).await?;
    Ok(HttpResponse::Ok().json(reloaded))
}

/// On SIGHUP: the same, told to the log.
pub async fn reload_on_signal(app: &web::Data<App>) {
    let reloaded = async {
        let definition = read_definition(app).await?;
        app.put_in_force(definition, Author::new("SIGHUP"), false).await
    };
    match reloaded.await {
        Ok(Reloaded { changes, lost, .. }) => {
            tracing::info!("reloaded the farm file: {} change(s)", changes.len());
            changes.iter().for_each(|change| tracing::info!("{change}"));
            lost.iter()
                .for_each(|machine| tracing::warn!("{machine:?} is allocated, but no worker of the farm any more"));
        }
        Err(problem) => tracing::error!("the farm file was not reloaded, nothing changed: {problem}"),
    }
}

/// Away from the threads that answer: a big farm file takes long to check.
async fn read_definition(app: &web::Data<App>) -> Result<Definition, Problem> {
    let shared = app.clone();
    let read = web::block(move || (shared.read_definition)()).await;
    let definition = read.map_err(|_| anyhow::anyhow!("the server is stopping"))?;
    definition.map_err(|faults| {
        let problems = serde_json::to_value(&faults).expect("faults are plain data");
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_farm_file", faults.to_string()).with_problems(problems)
    })
}

impl App {
    async fn put_in_force(&self, definition: Definition, author: Author, dry_run: bool) -> Result<Reloaded, Problem> {
        let new = definition.clone();
        let reloaded = self.engine.ask(move |farm| compare(farm, &Fleet::from(new))).await?;
        if !dry_run {
            let command = fleet::Command::Define { definition: Box::new(definition), author };
            self.engine.submit(command.into()).await?;
        }
        Ok(reloaded)
    }
}

fn compare(farm: &Farm, new: &Fleet) -> Reloaded {
    let changes = fleet::diff(&farm.fleet, new);
    let lost = farm.allocations.workers().map(|(name, _)| name);
    let lost = lost.filter(|name| new.worker(name).is_none() && farm.fleet.worker(name).is_some());
    Reloaded { changed: !changes.is_empty(), lost: lost.map(ToString::to_string).collect(), changes }
}
