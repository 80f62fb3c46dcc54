//! Where our JSON is stricter than serde's: a repeated key is an error, and a word is a text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::CowStrDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

/// Values by key, each key given once.
pub struct Unique<V>(pub BTreeMap<String, V>);

impl<V> Default for Unique<V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Unique<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Object<V> {
            type Value = Unique<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique<V>, A::Error> {
                let mut values = BTreeMap::new();
                while let Some(key) = map.next_key::<String>()? {
                    let value = map.next_value()?;
                    if values.contains_key(&key) {
                        return Err(A::Error::custom(format_args!("{key:?} is given twice")));
                    }
                    values.insert(key, value);
                }
                Ok(Unique(values))
            }
        }
        from.deserialize_map(Object(PhantomData))
    }
}

/// One of several words, and never the object with it as a key that serde takes for it.
pub struct Word<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = Cow::<str>::deserialize(from)?;
        T::deserialize(CowStrDeserializer::new(word)).map(Self)
    }
}
