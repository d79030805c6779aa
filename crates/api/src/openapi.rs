//! The description of all routes (OpenAPI 3.1), made when it is asked for first.

use std::sync::OnceLock;

use serde_json::Value;

use super::answer::{self, One};
use super::nouns::Nouns;

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/openapi.json", "This description", show)
}

async fn show() -> One<Value> {
    answer::value(document())
}

pub fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| routes(super::nouns()).document())
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn operations() -> impl Iterator<Item = (String, String, &'static Value)> {
        let paths = document()["paths"].as_object().unwrap();
        paths.iter().flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap();
            methods.iter().map(move |(method, operation)| (method.clone(), path.clone(), operation))
        })
    }

    fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, field)| match (name.as_str(), field) {
                ("$ref", Value::String(to)) => found.push(to),
                _ => references(field, found),
            }),
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_name_of_a_schema_leads_to_one_and_every_schema_is_named() {
        let schemas: &Map<String, Value> = document()["components"]["schemas"].as_object().unwrap();
        let mut named = Vec::new();
        references(document(), &mut named);
        for reference in &named {
            let name = reference.strip_prefix("#/components/schemas/").unwrap();
            assert!(schemas.contains_key(name), "{reference}");
        }
        for name in schemas.keys() {
            assert!(named.iter().any(|reference| reference.ends_with(&format!("/{name}"))), "{name} is never named");
            assert!(!name.ends_with(|last: char| last.is_ascii_digit()), "{name}: two types have one name");
        }
    }

    #[test]
    fn every_operation_says_what_it_asks_and_answers() {
        let mut ids = std::collections::BTreeSet::new();
        for (method, path, operation) in operations() {
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{method} {path}: its id is taken");
            let content = operation["responses"]["200"]["content"].as_object();
            let leads_on = operation["responses"]["302"]["headers"]["Location"].is_object();
            assert!(content.is_some_and(|content| !content.is_empty()) != leads_on, "{method} {path}");
            for parameter in operation["parameters"].as_array().unwrap() {
                let name = parameter["name"].as_str().unwrap();
                assert!(parameter["description"].is_string(), "{method} {path}: nobody says what `{name}` is");
                assert!(parameter["schema"].is_object(), "{method} {path}: `{name}`");
                assert_eq!(
                    parameter["in"] == "path",
                    path.contains(&format!("{{{name}}}")),
                    "{method} {path}: `{name}`"
                );
            }
        }
        assert!(ids.len() > 40, "{}", ids.len());
    }

    #[test]
    fn every_list_that_takes_a_limit_can_be_asked_for_in_parts() {
        for (method, path, operation) in operations() {
            let asks = |name: &str| operation["parameters"].as_array().unwrap().iter().any(|one| one["name"] == name);
            let Some(content) = operation["responses"]["200"]["content"].as_object() else { continue };
            let is_list = content.len() == 1 && content.contains_key("application/x-ndjson");
            assert!(!is_list || asks("limit") == asks("after"), "{method} {path}");
        }
    }
}
