//! The JSON of the allocation reads, written out once a generation.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::domain::allocator::{Builders, Generation};
use crate::domain::{BuilderName, WorkerName};

/// What comes before and after the list in a builder's and a machine's body.
/// The blob takes the lists out of the bodies again, by these lengths.
const MACHINES: (&str, &str) = ("{\"machines\":", "}");
const BUILDERS: (&str, &str) = ("{\"builders\":", "}");

pub(super) fn machines_body(workers: &[WorkerName]) -> Vec<u8> {
    wrap(MACHINES, workers)
}

pub(super) fn builders_body(builders: &[BuilderName]) -> Vec<u8> {
    wrap(BUILDERS, builders)
}

/// The bare list in a body made by one of the above.
pub(super) fn list_in(body: &[u8]) -> &[u8] {
    &body[MACHINES.0.len()..body.len() - MACHINES.1.len()]
}

pub(super) fn all_machines<'a>(names: impl Iterator<Item = &'a WorkerName>) -> Vec<u8> {
    wrap(MACHINES, &names.collect::<Vec<_>>())
}

pub(super) fn all_builders<'a>(names: impl Iterator<Item = &'a BuilderName>) -> Vec<u8> {
    wrap(BUILDERS, &names.collect::<Vec<_>>())
}

fn wrap<T: Serialize + ?Sized>((before, after): (&str, &str), list: &T) -> Vec<u8> {
    let mut body = before.as_bytes().to_vec();
    write_json(&mut body, list);
    body.extend_from_slice(after.as_bytes());
    body
}

/// `{name: list, …}` out of ready-made lists.
pub(super) fn write_lists<'a>(to: &mut Vec<u8>, lists: impl Iterator<Item = (&'a str, &'a [u8])>) {
    to.push(b'{');
    for (at, (name, list)) in lists.enumerate() {
        if at > 0 {
            to.push(b',');
        }
        write_json(to, name);
        to.push(b':');
        to.extend_from_slice(list);
    }
    to.push(b'}');
}

pub(super) fn write_json<T: Serialize + ?Sized>(to: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(to, value).expect("names and numbers are always JSON, and a vector takes every byte");
}

/// What turns generation `since` into `generation`, as clients read it.
pub struct DeltaBody<'a> {
    /// Only where the client cannot know it, as in an event stream.
    pub epoch: Option<&'a str>,
    pub generation: Generation,
    pub since: Generation,
    pub set: &'a Builders,
    pub unset: &'a [BuilderName],
}

impl DeltaBody<'_> {
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        write_json(&mut body, self);
        body
    }
}

impl Serialize for DeltaBody<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        if let Some(epoch) = self.epoch {
            map.serialize_entry("epoch", epoch)?;
        }
        map.serialize_entry("generation", &self.generation)?;
        map.serialize_entry("since", &self.since)?;
        map.serialize_entry("set", self.set)?;
        map.serialize_entry("unset", self.unset)?;
        map.end()
    }
}
