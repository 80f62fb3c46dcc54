//! Lists of names in JSON files, read so that a fault says whose list it is in and which value it is.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::domain::allocator::Builders;
use crate::domain::{BadName, BuilderName, WorkerName};

/// What stands in such lists. Machines are called machines here, as in the files.
pub(super) trait Name: Sized {
    const KIND: &'static str;

    fn parse(text: &str) -> Result<Self, BadName>;
}

impl Name for BuilderName {
    const KIND: &'static str = "builder";

    fn parse(text: &str) -> Result<Self, BadName> {
        Self::parse(text)
    }
}

impl Name for WorkerName {
    const KIND: &'static str = "machine";

    fn parse(text: &str) -> Result<Self, BadName> {
        Self::parse(text)
    }
}

/// One name at the place that `place` describes.
struct OneName<'a, N> {
    place: &'a str,
    kind: PhantomData<N>,
}

impl<'de, N: Name> DeserializeSeed<'de> for OneName<'_, N> {
    type Value = N;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<N, D::Error> {
        from.deserialize_str(self)
    }
}

impl<N: Name> Visitor<'_> for OneName<'_, N> {
    type Value = N;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {} in {}", N::KIND, self.place)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<N, E> {
        N::parse(text).map_err(|error| E::custom(format_args!("{} {text:?} in {}: {error}", N::KIND, self.place)))
    }
}

/// A list of names at the place that `place` describes; repeated names stay repeated.
pub(super) struct NameList<'a, N> {
    place: &'a str,
    kind: PhantomData<N>,
}

impl<'a, N> NameList<'a, N> {
    pub(super) fn at(place: &'a str) -> Self {
        Self { place, kind: PhantomData }
    }
}

impl<'de, N: Name> DeserializeSeed<'de> for NameList<'_, N> {
    type Value = Vec<N>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<N>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, N: Name> Visitor<'de> for NameList<'_, N> {
    type Value = Vec<N>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}s in {}", N::KIND, self.place)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<N>, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element_seed(OneName { place: self.place, kind: PhantomData })? {
            names.push(name);
        }
        Ok(names)
    }
}

/// An object of builders and their machines, under the key `key`; a repeated builder is a fault.
pub(super) struct ListsByBuilder {
    pub key: &'static str,
}

impl<'de> DeserializeSeed<'de> for ListsByBuilder {
    type Value = Builders;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Builders, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ListsByBuilder {
    type Value = Builders;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "an object of builders and their machines in {:?}", self.key)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Builders, A::Error> {
        let key = format!("{:?}", self.key);
        let mut builders = Builders::new();
        while let Some(builder) = object.next_key_seed(OneName::<BuilderName> { place: &key, kind: PhantomData })? {
            if builders.contains_key(&builder) {
                return Err(A::Error::custom(format_args!("builder {builder:?} is named twice in {key}")));
            }
            let place = format!("{key}, builder {builder:?}");
            let machines = object.next_value_seed(NameList::at(&place))?;
            builders.insert(builder, machines);
        }
        Ok(builders)
    }
}

/// Fills the slot of a key that an object has at most once.
pub(super) fn once<T, E: Error>(slot: &mut Option<T>, key: &str, value: T) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::custom(format_args!("the key {key:?} is given twice"))),
    }
}

/// The error's own words, without the place that it ends with.
pub(super) fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
