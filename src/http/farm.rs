//! The farm file over HTTP: reload it, or see what a reload would change.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};

use super::App;
use super::auth::{Call, Permit};
use super::parameters::{flag, only_parameters};
use super::problem::Problem;
use crate::daemons::ReloadError;

/// `POST /v1/farm/reload?dry_run=`
pub async fn reload(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_write(&request)?;
    only_parameters(&request, &["dry_run"])?;
    let dry_run = flag(&request, "dry_run")?;
    let Permit { author, token } = app.authorize(&request, Call::ReloadFarm)?;
    Ok(HttpResponse::Ok().json(app.farm_file.reload(author, Some(token), dry_run).await?))
}

impl From<ReloadError> for Problem {
    fn from(error: ReloadError) -> Self {
        match error {
            ReloadError::BadFile(faults) => {
                let problems = serde_json::to_value(&faults).expect("faults are plain data");
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_farm_file", faults.to_string()).with_problems(problems)
            }
            ReloadError::Submit(error) => error.into(),
            ReloadError::Fault(fault) => fault.into(),
        }
    }
}
