//! JSON as a tree of values, each with its JSON pointer as a URI fragment (RFC 6901, section 6).

use serde_json::Value as Json;

use super::fault::Place;
use super::node::{Entry, Node, Value};

pub(super) fn parse(json: &Json) -> Node {
    node(json, "#".to_owned())
}

fn node(json: &Json, pointer: String) -> Node {
    let value = match json {
        Json::Null => Value::Other("null".into()),
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Integer(number),
            (None, Some(number)) => Value::Float(number),
            (None, None) => Value::Other(number.to_string()),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => {
            Value::Array(items.iter().enumerate().map(|(at, item)| node(item, format!("{pointer}/{at}"))).collect())
        }
        Json::Object(entries) => {
            let entry = |(key, value): (&String, &Json)| {
                let node = node(value, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")));
                (key.clone(), Entry { key_place: node.place.clone(), node })
            };
            Value::Table(entries.iter().map(entry).collect())
        }
    };
    Node { place: Place::Named(pointer.into()), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_its_pointer() {
        let tree = parse(&serde_json::json!({ "a": [1, { "b/c~": null }], "x": 1.5 }));
        assert_eq!(tree.place_of("a[1]").to_string(), "#/a/1");
        assert_eq!(tree.place_of("a[1].b/c~").to_string(), "#/a/1/b~1c~0");
        assert_eq!(tree.place_of("y").to_string(), "#");
    }
}
