//! A thousand generations, swapped in under 64 readers: nobody ever sees two of them mixed, or time run backwards.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};

use super::boxes::{Boxes, FARM};
use super::model::{Lists, State};

const SWAPS: u64 = 1000;
const WRITERS: u64 = 4;
const READERS: usize = 64;
/// So many of the readers never wait.
const RESTLESS: usize = 2;

/// What a reader saw of one generation, to be held against that generation in the end.
struct Seen {
    generation: u64,
    target: String,
    /// `None`: 404.
    body: Option<Value>,
}

/// What readers and writers share.
struct Stage {
    boxes: Boxes,
    epoch: String,
    /// The newest generation that some writer has been told of.
    acknowledged: AtomicU64,
    states: Mutex<HashMap<u64, State>>,
    finished: AtomicBool,
}

/// The allocations of a swap: no two are alike in more than a few builders.
fn swap(number: u64) -> Lists {
    let machines = |builder: u64| {
        let bits = (number * 8 + builder + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        (0..10).filter(|bit| bits >> bit & 1 == 1).map(|bit| format!("box{bit}")).collect::<Vec<_>>()
    };
    (0..8).map(|builder| (format!("b{builder}"), machines(builder))).filter(|(_, list)| !list.is_empty()).collect()
}

fn write(stage: &Stage, writer: u64) {
    for number in (0..SWAPS).filter(|number| number % WRITERS == writer) {
        let builders = swap(number);
        let generation = stage.boxes.write("PUT", "/v1/allocations", &json!({"builders": builders}));
        stage.acknowledged.fetch_max(generation, Ordering::SeqCst);
        stage.states.lock().unwrap().insert(generation, State { builders });
    }
}

/// What a reader asks next.
fn target(reader: usize, turn: usize, last: u64) -> String {
    let number = reader + turn;
    match (reader + turn * 7) % 8 {
        0 => "/v1/allocations".into(),
        1 => "/v1/builders".into(),
        2 => "/v1/machines".into(),
        3 => "/v1/allocated/all".into(),
        4 => format!("/v1/allocations?since={last}"),
        5 => format!("/v1/machines/box{}", number % 10),
        _ => format!("/v1/builders/b{}", number % 8),
    }
}

/// Reads again and again, most readers whenever there is a new generation, a few without a pause.
fn read(stage: &Stage, reader: usize) -> Vec<Seen> {
    let mut connection = stage.boxes.server.connect();
    let mut ask = |target: &str| connection.request("GET", target, &["Host: localhost"]);
    let (mut collected, mut last) = (Vec::new(), 0);
    for turn in 0.. {
        if reader >= RESTLESS {
            ask(&format!("/v1/allocations?since={last}&wait=1"));
        }
        // Neither older than what this connection saw, nor than what anybody was told before this request.
        let floor = last.max(stage.acknowledged.load(Ordering::SeqCst));
        let finished = stage.finished.load(Ordering::SeqCst);
        let target = target(reader, turn, last);
        let response = ask(&target);
        last = response.header("x-jacuzzi-generation").unwrap().parse().unwrap();
        assert!(last >= floor, "{target}: generation {last} after {floor}");
        assert!([200, 404].contains(&response.status), "{target}: {response:?}");
        let body = (response.status == 200).then(|| response.json());
        collected.push(Seen { generation: last, target, body });
        if finished {
            break;
        }
    }
    collected
}

/// What was seen is what the generation in its header says, and nothing of any other.
fn check(states: &HashMap<u64, State>, epoch: &str, Seen { generation, target, body }: Seen) {
    let state = &states[&generation];
    if let Some(since) = target.strip_prefix("/v1/allocations?since=") {
        let delta = body.unwrap();
        assert_eq!(
            (&delta["since"], &delta["generation"]),
            (&json!(since.parse::<u64>().unwrap()), &json!(generation))
        );
        let mut from = states[&since.parse().unwrap()].clone();
        from.apply(&delta);
        return assert_eq!(&from, state, "{since} to {generation}");
    }
    let (builders, machines) = (&state.builders, state.machines());
    let path: Vec<&str> = target.trim_start_matches("/v1/").split('/').collect();
    let expected = match path[..] {
        ["allocations"] => Some(state.blob(epoch, generation)),
        ["builders"] => Some(json!({"builders": builders.keys().collect::<Vec<_>>()})),
        ["machines"] | ["allocated", "all"] => Some(json!({"machines": machines.keys().collect::<Vec<_>>()})),
        ["builders", name] => builders.get(name).map(|list| json!({"machines": list})),
        ["machines", name] => machines.get(name).map(|list| json!({"builders": list})),
        _ => panic!("not asked: {target}"),
    };
    assert_eq!(body, expected, "{target} in generation {generation}");
}

#[test]
fn no_reader_ever_sees_two_generations_mixed() {
    let boxes = Boxes::with(FARM, |start| {
        start.env("JACUZZI__LIMITS__WRITES_PER_SECOND", "100000").env("JACUZZI__LIMITS__READS_PER_SECOND", "1000000")
    });
    let stage = Stage {
        epoch: boxes.epoch(),
        boxes,
        acknowledged: AtomicU64::new(0),
        states: Mutex::new(HashMap::from([(0, State::default())])),
        finished: AtomicBool::new(false),
    };
    let seen: Vec<_> = thread::scope(|scope| {
        let stage = &stage;
        let readers: Vec<_> = (0..READERS).map(|reader| scope.spawn(move || read(stage, reader))).collect();
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(stage, writer))).collect();
        let written: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        // Also when a writer failed: the readers go on until they are told.
        stage.finished.store(true, Ordering::SeqCst);
        assert!(written.iter().all(Result::is_ok));
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
    });
    let states = stage.states.into_inner().unwrap();
    assert_eq!(states.len() as u64, SWAPS + 1, "every write is a generation of its own");
    let generations: BTreeSet<_> = seen.iter().map(|seen| seen.generation).collect();
    println!("{} reads saw {} of {SWAPS} generations", seen.len(), generations.len());
    assert!(seen.len() > READERS * 10 && generations.len() > 100, "the readers were there while it happened");
    for seen in seen {
        check(&states, &stage.epoch, seen);
    }
}
