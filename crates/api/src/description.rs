//! The routes described for machines (OpenAPI 3.1), from what their handlers ask and answer.

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::access::roles;
use super::answer::{JSON, PROBLEM, Problem};

/// What one method of one path does.
pub struct Operation {
    pub method: Method,
    pub path: String,
    pub says: &'static str,
    pub asked: Asked,
    pub answered: Value,
    /// Whether a good answer leads to another address.
    pub leads_on: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// What a request may say.
#[derive(Default)]
pub struct Asked {
    /// In the query, in the path, or in headers.
    pub parameters: Vec<Value>,
    /// The fields of a JSON object in the body; each may stand in the query instead.
    pub fields: Option<Value>,
    /// A body of another kind.
    pub body: Option<Value>,
}

/// Schemas of types, each under one name.
pub struct Schemas {
    written: SchemaGenerator,
    read: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Schemas {
        let named = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        let written = named().with(|settings| settings.contract = Contract::Serialize);
        Schemas { written: written.into_generator(), read: named().into_generator() }
    }
}

impl Schemas {
    /// A type of answers.
    pub fn named<T: JsonSchema>(&mut self) -> Value {
        self.written.subschema_for::<T>().to_value()
    }

    /// A type of bodies.
    pub fn named_to_read<T: JsonSchema>(&mut self) -> Value {
        self.read.subschema_for::<T>().to_value()
    }

    /// A type that stands where it is used.
    pub fn inline<T: JsonSchema>(&mut self) -> Value {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
        if let Some(object) = schema.as_object_mut() {
            object.remove("title");
        }
        schema
    }

    /// The fields of a type as parameters of a query.
    pub fn parameters<T: JsonSchema>(&mut self) -> Vec<Value> {
        let schema = self.inline::<T>();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields = schema["properties"].as_object().into_iter().flatten();
        fields.map(|(name, field)| parameter(name, field, required.contains(&name.as_str()))).collect()
    }

    fn definitions(mut self) -> Map<String, Value> {
        let mut all = self.read.take_definitions(true);
        all.extend(self.written.take_definitions(true));
        all
    }
}

fn parameter(name: &str, field: &Value, required: bool) -> Value {
    let mut schema = field.clone();
    let mut said = Value::Null;
    if let Some(schema) = schema.as_object_mut() {
        said = schema.remove("description").unwrap_or_default();
        // A parameter is given or not: a query has no null.
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
        if let Some(Value::Array(kinds)) = schema.get_mut("type") {
            kinds.retain(|kind| kind != "null");
            if let [one] = kinds.as_slice() {
                let one = one.clone();
                schema.insert("type".into(), one);
            }
        }
        if let Some(Value::Array(options)) = schema.remove("anyOf") {
            let real = options.into_iter().find(|option| option["type"] != "null").unwrap_or_default();
            schema.extend(real.as_object().cloned().unwrap_or_default());
        }
    }
    let mut parameter = json!({ "name": name, "in": "query", "required": required, "schema": schema });
    if said.is_string() {
        parameter["description"] = said;
    }
    parameter
}

/// The whole document.
pub fn document(operations: &[Operation], mut schemas: Schemas) -> Value {
    let problem = schemas.named::<Problem>();
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let path = paths.entry(operation.path.clone()).or_insert_with(|| json!({}));
        path[operation.method.name()] = described(operation, &problem);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Vernal",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A copy of the web, kept fresh. Times are RFC 3339 in UTC; lists are JSON lines, and their schema is \
                            that of a line. Every GET has a HEAD.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas.definitions(),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{ "token": [] }],
    });
    roles::describe(&mut document);
    document
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::Post => "post",
            Method::Put => "put",
            Method::Delete => "delete",
        }
    }
}

fn described(operation: &Operation, problem: &Value) -> Value {
    let Operation { method, path, says, asked, answered, leads_on } = operation;
    let mut parameters = asked.parameters.clone();
    let is_named =
        |parameter: &Value| parameter["name"].as_str().is_some_and(|name| path.contains(&format!("{{{name}}}")));
    parameters.retain(|parameter| parameter["in"] != "path" || is_named(parameter));
    for parameter in &mut parameters {
        if parameter["name"].as_str().is_some_and(|name| path.contains(&format!("{{{name}}}"))) {
            parameter["in"] = "path".into();
            parameter["required"] = true.into();
        }
    }
    let refused = |says: &str| json!({ "description": says, "content": { PROBLEM: { "schema": problem } } });
    let mut described = json!({
        "operationId": format!("{}{}", method.name(), path.replace(['/', '.', '{', '}'], "_")),
        "summary": says,
        "parameters": parameters,
        "responses": {
            "200": { "description": "Answered", "content": answered },
            "400": refused("Asked wrongly"),
            "404": refused("Not known here"),
            "default": refused("Refused or failed"),
        },
    });
    if let Some(answers) = described["responses"].as_object_mut().filter(|_| *leads_on) {
        let location = json!({ "description": "The address", "required": true, "schema": { "type": "string" } });
        answers.remove("200");
        answers.insert("302".into(), json!({ "description": "Leads there", "headers": { "Location": location } }));
    }
    if let Some(fields) = &asked.fields {
        described["requestBody"] = json!({
            "required": fields["required"].as_array().is_some_and(|required| !required.is_empty()),
            "description": "The fields as one JSON object; each may stand in the query instead",
            "content": { JSON: { "schema": fields } },
        });
    }
    if let Some(body) = &asked.body {
        described["requestBody"] = body.clone();
    }
    described
}
