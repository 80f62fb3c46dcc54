//! What the options of a farm file come to for one builder, as the oracle reads them.

use serde_json::Value;

use super::outcome::{Micros, micros, text};

const SECOND: Micros = 1_000_000;

/// What the builder's rule says, else its pool, else `[farm]`, else the default.
pub struct Terms {
    pub overflow_after: Option<Micros>,
    pub lend_after: Option<Micros>,
    /// Classes of workers, the first preferred first.
    pub prefer: Vec<String>,
    pub inhouse_wait: Micros,
    pub reserve: usize,
    /// An allocation without workers is gone.
    pub pool_takes_over: bool,
    pub warmth: bool,
    pub lease: Micros,
    pub max_attempts: u64,
    pub quarantine_after: u32,
}

impl Terms {
    /// The narrowest place is the first.
    pub fn new(places: [&Value; 3]) -> Self {
        let said = |key: &str| places.iter().find_map(|place| place.get(key));
        let number = |key: &str| said(key).map(|number| number.as_u64().unwrap());
        let prefer = said("prefer").and_then(Value::as_array);
        Self {
            overflow_after: said("overflow_after").map(span),
            lend_after: said("lend_after").map(span),
            prefer: prefer.into_iter().flatten().map(text).collect(),
            inhouse_wait: said("inhouse_wait").map_or(0, span),
            reserve: number("reserve").unwrap_or(0) as usize,
            pool_takes_over: said("on_empty_set").is_some_and(|what| what == "pool"),
            warmth: said("warmth").is_none_or(|what| what == "recent_success"),
            lease: said("lease").map_or(60 * SECOND, span),
            max_attempts: number("max_attempts").unwrap_or(5),
            quarantine_after: number("quarantine_after").unwrap_or(3) as u32,
        }
    }

    /// The place of a class of workers in the order of choice; those not named are alike.
    pub fn preference(&self, class: &str) -> usize {
        self.prefer.iter().position(|preferred| preferred == class).unwrap_or(self.prefer.len())
    }
}

/// Seconds, or minutes in a text such as `10m`.
fn span(value: &Value) -> Micros {
    let Some(text) = value.as_str() else { return micros(value) };
    let minutes = text.strip_suffix('m').unwrap_or_else(|| panic!("seconds or minutes, not {text}"));
    minutes.parse::<Micros>().unwrap() * 60 * SECOND
}
