//! What the OpenAPI document says of explanations.

use super::operation::{Described, LIMITED_READ, id_in_path, json, query, reference};

const EXPLAIN: &str = "Explanations";

pub fn operations() -> Vec<Described> {
    let why = "The smallest change is not guessed: it was tried on a sketch of the farm, by the matcher that decides.";
    vec![
        Described::get("/v1/jobs/{id}/explain", "explainJob", "Why a job is where it is, and what would start it now")
            .tag(EXPLAIN)
            .about(why)
            .takes([id_in_path()])
            .answers(200, json("The reasons.", &["ExplainedJob", "ExplainedEndedJob"]))
            .fails(&[400, 404])
            .fails(LIMITED_READ),
        Described::get("/v1/explain", "explain", "Why a worker is idle, or where a builder stands")
            .tag(EXPLAIN)
            .about("Exactly one of the parameters is given.")
            .takes([
                query("worker", "The worker that is to be explained.", reference("Name")),
                query("builder", "The builder that is to be explained.", reference("Name")),
            ])
            .answers(200, json("The reasons.", &["ExplainedWorker", "ExplainedBuilder"]))
            .fails(&[400, 404])
            .fails(LIMITED_READ),
    ]
}
