//! Every rule that a write can break, each with its builder, machine and value, and all of them at once.

use serde_json::{Value, json};

use super::desk::{FARM, desk, desk_with};

/// A write of one builder that breaks these rules.
fn breaks(builder: &str, machines: &Value, faults: &Value) {
    let boxes = desk();
    boxes.broken("PATCH", "/v1/allocations", &json!({"set": {builder: machines}}), faults);
    let mut all = super::desk::first();
    all[builder] = machines.clone();
    let problem = boxes.refused("PUT", "/v1/allocations", &json!({"builders": all}).to_string(), (422, "rules_broken"));
    // This one names the others too, which may break the rule together with it.
    let told = problem["faults"].as_array().unwrap();
    assert!(faults.as_array().unwrap().iter().all(|fault| told.contains(fault)), "{problem}");
    let target = format!("/v1/builders?name={}", super::desk::component(builder));
    let body = json!({"machines": machines, "reason": "why not"});
    boxes.broken("PUT", &target, &body, faults);
    boxes.broken("PUT", &format!("{target}&dry_run=true"), &body, faults);
    boxes.broken("PUT", &format!("{target}&force=true"), &body, faults);
}

#[test]
fn an_empty_list() {
    breaks("Linux central c", &json!([]), &json!([{"builder": "Linux central c", "rule": "empty_list"}]));
}

#[test]
fn an_unknown_machine() {
    let fault = |machine: &str| json!({"builder": "Linux x", "rule": "unknown_machine", "machine": machine});
    let machines = json!(["lin50", "Lin02", "lin02", "lin2"]);
    breaks("Linux x", &machines, &json!([fault("Lin02"), fault("lin2"), fault("lin50")]));
}

#[test]
fn a_machine_of_another_pool() {
    let fault = json!({"builder": "Linux x", "rule": "wrong_pool", "machine": "mac1",
        "value": {"pool": "mac", "expected": "linux"}});
    breaks("Linux x", &json!(["lin02", "mac1"]), &json!([fault]));
}

#[test]
fn a_machine_with_too_many_builders() {
    let fault = json!({"builder": "Linux central c", "rule": "too_many_builders", "machine": "lin00",
        "value": {"builders": 3, "max": 2}});
    breaks("Linux central c", &json!(["lin00", "lin01"]), &json!([fault]));
}

#[test]
fn a_machine_shared_across_isolation_groups() {
    let fault = |builder: &str| json!([{"builder": builder, "rule": "isolation", "machine": "lin01", "value": ["Linux central a"]}]);
    breaks("Linux inbound c", &json!(["lin01"]), &fault("Linux inbound c"));
    // In no listed group: a group of its own.
    breaks("Linux c", &json!(["lin01"]), &fault("Linux c"));
}

#[test]
fn a_builder_without_a_rule() {
    breaks("linux central", &json!(["lin02"]), &json!([{"builder": "linux central", "rule": "unmatched_builder"}]));
}

#[test]
fn a_name_that_is_none() {
    let bad = |builder: &str, machine: Option<&str>, text: &str| {
        let mut fault = json!({"builder": builder, "rule": "bad_name", "value": text});
        if let Some(machine) = machine {
            fault["machine"] = json!(machine);
        }
        json!([fault])
    };
    let long = format!("Linux {}", "x".repeat(123));
    breaks(&long, &json!(["lin02"]), &bad(&long, None, "a name has at most 128 characters, this one has 129"));
    breaks("", &json!(["lin02"]), &bad("", None, "a name is never empty"));
    for control in ["\0", "\n", "\u{1f}", "\u{7f}", "\u{80}", "\u{9f}"] {
        let text = format!(
            "a name has no control characters, this one has U+{:04X} at character 6",
            u32::from(control.chars().next().unwrap())
        );
        let name = format!("Linux {control}");
        breaks(&name, &json!(["lin02"]), &bad(&name, None, &text));
        breaks("Linux x", &json!(["lin02", name]), &bad("Linux x", Some(&name), &text));
    }
}

#[test]
fn a_shrink() {
    let boxes = desk();
    let lists = |count: usize| -> Value { (0..count).map(|at| format!("lin{at:02}")).collect() };
    boxes.write("PUT", "/v1/allocations", &json!({"builders": {"Linux x": lists(40)}}));
    let fault = |becomes: u64| {
        json!([{"builder": null, "rule": "shrink",
            "value": {"most": 40, "becomes": becomes, "max_shrink_percent": 30}}])
    };
    boxes.broken("PUT", "/v1/builders/Linux%20x", &json!({"machines": lists(27)}), &fault(27));
    boxes.broken("PUT", "/v1/allocations", &json!({"builders": {}}), &fault(0));
    boxes.broken("PATCH", "/v1/allocations", &json!({"unset": ["Linux x"]}), &fault(0));
    boxes.broken("DELETE", "/v1/builders/Linux%20x", &Value::Null, &fault(0));
    boxes.broken("POST", "/v1/allocations/rollback", &json!({"generation": 0}), &fault(0));
    boxes.write("PUT", "/v1/builders/Linux%20x", &json!({"machines": lists(28)}));
    boxes.broken("PUT", "/v1/builders/Linux%20x", &json!({"machines": lists(27)}), &fault(27));
    boxes.write("DELETE", "/v1/builders/Linux%20x?force=true&reason=moved", &Value::Null);
    assert_eq!(boxes.read("/v1/allocations")["builders"], json!({}));
}

#[test]
fn all_faults_of_all_builders_are_told_at_once_and_one_refuses_all() {
    let boxes = desk();
    let set = json!({
        "": ["lin02"],
        "Linux central c": [],
        "Linux central d": ["lin00", "lin03", "mac1", "none"],
        "Linux inbound": ["lin01", "lin04"],
        "Mac central b": ["mac0", "mac1"],
        "Windows": ["lin05", "\t"],
    });
    let faults = json!([
        {"builder": "", "rule": "bad_name", "value": "a name is never empty"},
        {"builder": "Windows", "rule": "bad_name", "machine": "\t",
            "value": "a name has no control characters, this one has U+0009 at character 0"},
        {"builder": "Linux central c", "rule": "empty_list"},
        {"builder": "Linux central d", "rule": "too_many_builders", "machine": "lin00",
            "value": {"builders": 3, "max": 2}},
        {"builder": "Linux central d", "rule": "wrong_pool", "machine": "mac1",
            "value": {"pool": "mac", "expected": "linux"}},
        {"builder": "Linux central d", "rule": "unknown_machine", "machine": "none"},
        {"builder": "Linux inbound", "rule": "isolation", "machine": "lin01", "value": ["Linux central a"]},
        {"builder": "Windows", "rule": "unmatched_builder"},
    ]);
    boxes.broken("PATCH", "/v1/allocations", &json!({"set": set}), &faults);
    boxes.broken("PATCH", "/v1/allocations?force=true", &json!({"set": set}), &faults);
    let problem = boxes.ask("PATCH", "/v1/allocations", &[], &json!({"set": set}).to_string()).json();
    let detail = problem["detail"].as_str().unwrap();
    for named in ["Linux central c", "Linux central d", "lin00", "mac1", "none", "Linux inbound", "Windows"] {
        assert!(detail.contains(named), "{named} is not in {detail}");
    }
}

#[test]
fn two_builders_of_one_write_are_judged_together() {
    let boxes = desk();
    let fault = |builder: &str, other: &str| json!({"builder": builder, "rule": "isolation", "machine": "lin09", "value": [other]});
    let body = json!({"set": {"Linux central x": ["lin09"], "Linux inbound x": ["lin09"]}});
    let faults = json!([fault("Linux central x", "Linux inbound x"), fault("Linux inbound x", "Linux central x")]);
    boxes.broken("PATCH", "/v1/allocations", &body, &faults);
    // What one write gives up, another builder of the same write may take.
    let swap =
        json!({"set": {"Linux central a": ["lin02"], "Linux inbound x": ["lin01"]}, "unset": ["Linux central b"]});
    boxes.write("PATCH", "/v1/allocations", &swap);
}

#[test]
fn only_the_builders_that_a_write_names_are_judged() {
    let boxes = desk();
    let history = json!({"set": {"Linux central a": ["lin00", "mac7"], "Linux inbound z": ["lin00"], "odd": ["gone"]}});
    assert_eq!(boxes.try_write("POST", "/v1/allocations/import", &history.to_string()).status, 200);
    boxes.write("PUT", "/v1/builders/Linux%20central%20c", &json!({"machines": ["lin05"]}));
    boxes.write("PATCH", "/v1/allocations", &json!({"set": {"Linux x": ["lin06"]}, "unset": ["odd"]}));
    // A write that names them again is judged, though it changes nothing about them.
    let faults = json!([{"builder": "Linux central a", "rule": "too_many_builders", "machine": "lin00",
            "value": {"builders": 3, "max": 2}},
        {"builder": "Linux central a", "rule": "isolation", "machine": "lin00", "value": ["Linux inbound z"]},
        {"builder": "Linux central a", "rule": "wrong_pool", "machine": "mac7",
            "value": {"pool": "mac", "expected": "linux"}}]);
    boxes.broken("PUT", "/v1/builders/Linux%20central%20a", &json!({"machines": ["lin00", "mac7"]}), &faults);
}

#[test]
fn the_farm_file_sets_the_limits() {
    let isolation = "isolation_groups = [\"central\", \"inbound\"]\n";
    let (open, alone) = (FARM.replace(isolation, ""), FARM.replace(isolation, "isolation_groups = []\n"));
    let shared = json!({"machines": ["lin01"]});
    desk_with(&open, |start| start).write("PUT", "/v1/builders/Linux%20inbound", &shared);
    // With an empty list of groups every builder is its own.
    let server = crate::suite::reads::boxes::Boxes::with(&alone, |start| start);
    server.write("PUT", "/v1/builders/Linux%20central%20a", &shared);
    let fault = json!([{"builder": "Linux central b", "rule": "isolation", "machine": "lin01",
        "value": ["Linux central a"]}]);
    server.broken("PUT", "/v1/builders/Linux%20central%20b", &shared, &fault);

    let three = FARM.replace("max_builders_per_machine = 2", "max_builders_per_machine = 3");
    desk_with(&three, |start| start).write("PUT", "/v1/builders/Linux%20central%20c", &json!({"machines": ["lin00"]}));
    let never = format!("{FARM}\nmax_shrink_percent = 100\n");
    let boxes = desk_with(&never, |start| start);
    let all: Value = (0..50).map(|at| format!("lin{at:02}")).collect();
    boxes.write("PUT", "/v1/allocations", &json!({"builders": {"Linux x": all}}));
    boxes.write("PUT", "/v1/allocations", &json!({"builders": {}}));
}

#[test]
fn what_is_not_there_cannot_be_deleted() {
    let boxes = desk();
    for name in ["Linux", "lin00", "", "%00", "%FF", &"x".repeat(129)] {
        for target in [format!("/v1/builders?name={name}"), format!("/v1/builders?name={name}&dry_run=true")] {
            boxes.refused("DELETE", &target, "", (404, "not_allocated"));
        }
    }
    boxes.write("DELETE", "/v1/builders/Mac%20central", &Value::Null);
    boxes.refused("DELETE", "/v1/builders/Mac%20central", "", (404, "not_allocated"));
}
