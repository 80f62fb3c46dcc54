//! What the OpenAPI document says of jobs, claims and pools.

use utoipa::openapi::schema::Type;
use utoipa::openapi::{HttpMethod, ObjectBuilder, ResponseBuilder};

use super::operation::{
    Described, LIMITED_READ, WRITE, flag, id_in_path, json, json_body, number, query, reference, text,
};

const JOBS: &str = "Jobs and claims";

pub fn operations() -> Vec<Described> {
    let mut all = jobs();
    all.extend(claims());
    all.push(advice());
    all.push(
        Described::get("/v1/pools", "listPools", "The pools: their workers, and what waits for them")
            .tag("The fleet")
            .answers(200, json("All pools.", &["Pools"]))
            .fails(LIMITED_READ),
    );
    all
}

fn jobs() -> Vec<Described> {
    let states = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["pending", "running"]));
    let limit = number(Type::Integer, 1).maximum(Some(1000)).default(Some(100.into()));
    vec![
        Described::get("/v1/jobs", "listJobs", "The jobs that wait or run, the most important first")
            .tag(JOBS)
            .takes([
                query("state", "Only in this state.", states),
                query("builder", "Only of this builder.", text()),
                query("pool", "Only of builders of this pool.", text()),
                query("limit", "Jobs on a page.", limit),
                query("after", "`next_after` of the page before; it is good while jobs come and go.", text()),
            ])
            .answers(200, json("A page.", &["JobPage"]))
            .fails(&[400])
            .fails(LIMITED_READ),
        called("/v1/jobs", "submitJobs", "Submit jobs, all or none")
            .body(json_body("NewJobs"))
            .answers(201, json("They are accepted, for good.", &["SubmittedJobs"])),
        Described::get("/v1/jobs/{id}", "getJob", "One job, with its payload")
            .tag(JOBS)
            .takes([id_in_path()])
            .answers(200, json("The job.", &["Job", "EndedJob"]))
            .fails(&[404])
            .fails(LIMITED_READ),
        Described::new(HttpMethod::Delete, "/v1/jobs/{id}", "cancelJob", "Cancel a job, and its run if it has one")
            .tag(JOBS)
            .needs_token()
            .takes([id_in_path(), query("reason", "Why, for the audit log.", reference("Reason"))])
            .answers(200, json("It has ended.", &["EndedJob"]))
            .fails(&[404, 409])
            .fails(WRITE),
        called("/v1/jobs/requeue", "requeueJobs", "Put running jobs back, with their age")
            .takes([flag("dry_run", "Answer what would be put back, and change nothing.")])
            .body(json_body("Requeue"))
            .answers(200, json("What was put back, or would be.", &["Requeued"])),
    ]
}

fn claims() -> Vec<Described> {
    let nothing = ResponseBuilder::new().description("There was no job for them in time; they are idle no more.");
    vec![
        called("/v1/claims", "claimJobs", "Offer idle workers, and get jobs for them")
            .about(
                "The answer comes as soon as there is a job for one of them. A client that goes away offers nothing \
                 any more; claims that it did not get to see end with their leases.",
            )
            .body(json_body("Offer"))
            .answers(200, json("Jobs to run, durably theirs.", &["Claims"]))
            .answers(204, nothing)
            .fails(&[409]),
        called("/v1/claims/{id}/heartbeat", "renewLease", "Say that the worker of a claim lives")
            .takes([id_in_path()])
            .body(json_body("Heartbeat"))
            .answers(200, json("The lease begins anew.", &["Lease"]))
            .fails(&[404, 409]),
        called("/v1/claims/{id}/finish", "finishRun", "Say how a run ended")
            .takes([id_in_path()])
            .body(json_body("Finish"))
            .answers(200, json("It has ended.", &["Finished"]))
            .fails(&[404, 409]),
    ]
}

fn advice() -> Described {
    called("/v1/prioritize", "prioritize", "Advise a master that assigns by itself; nothing is changed")
        .about(
            "What would start where if exactly these jobs waited and these workers were idle. Masters that share a \
             queue still race for a job in their own database: a claim is the truth.",
        )
        .body(json_body("Situation"))
        .answers(200, json("What to start, and what has to wait.", &["Advice"]))
}

fn called(path: &'static str, id: &'static str, summary: &str) -> Described {
    Described::new(HttpMethod::Post, path, id, summary).tag(JOBS).needs_token().fails(WRITE)
}
