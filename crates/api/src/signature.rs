//! What a handler asks and answers, by the types of its arguments and of its result.

use std::future::Future;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::answer::{ApiError, EventStream, Exported, JSON, LINES, Listed, Many, One, PlainText, RawBody, Views};
use super::description::{Asked, Schemas};
use super::marks::Asking;
use super::memento::{AcceptDatetime, Behind};
use super::other_forms::{AtomFeed, LeadsOn, TimeMaps, Xml};
use super::parameters::{Fields, Given, Heads, JsonLines, Parameters};
use super::shared::Shared;

/// A handler with described arguments and a described result.
pub trait Signature<S> {
    fn asked(schemas: &mut Schemas) -> Asked;
    /// The `content` of a good answer.
    fn answered(schemas: &mut Schemas) -> Value;
    /// Whether a good answer leads to another address.
    const LEADS_ON: bool;
}

/// An argument of a handler.
pub trait Asks {
    fn ask(asked: &mut Asked, schemas: &mut Schemas);
}

/// The result of a handler.
pub trait Answers {
    const LEADS_ON: bool = false;

    fn content(schemas: &mut Schemas) -> Value;
}

macro_rules! signature {
    ($($argument:ident),*) => {
        impl<F, R, O, $($argument),*> Signature<(R, O, $($argument,)*)> for F
        where
            F: FnOnce($($argument),*) -> R,
            R: Future<Output = O>,
            O: Answers,
            $($argument: Asks,)*
        {
            #[allow(unused_mut, unused_variables)]
            fn asked(schemas: &mut Schemas) -> Asked {
                let mut asked = Asked::default();
                $($argument::ask(&mut asked, schemas);)*
                asked
            }

            fn answered(schemas: &mut Schemas) -> Value {
                O::content(schemas)
            }

            const LEADS_ON: bool = O::LEADS_ON;
        }
    };
}

signature!();
signature!(A);
signature!(A, B);
signature!(A, B, C);
signature!(A, B, C, D);

impl Asks for State<Arc<Shared>> {
    fn ask(_: &mut Asked, _: &mut Schemas) {}
}

impl Asks for Asking {
    fn ask(_: &mut Asked, _: &mut Schemas) {}
}

/// Of the headers, `Last-Event-ID` alone is read.
impl Asks for HeaderMap {
    fn ask(asked: &mut Asked, _: &mut Schemas) {
        asked.parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "A cursor; it wins over `since`", "schema": { "type": "string" },
        }));
    }
}

impl Asks for Heads {
    fn ask(_: &mut Asked, _: &mut Schemas) {}
}

impl Asks for Uri {
    fn ask(_: &mut Asked, _: &mut Schemas) {}
}

/// What the path of a memento names: whichever of these it has.
impl Asks for Behind {
    fn ask(asked: &mut Asked, _: &mut Schemas) {
        let named = [
            ("url", "The page, as it is or with its letters escaped", json!({ "type": "string" })),
            ("moment", "14 digits in UTC: year, month, day, hour, minute, second", json!({ "type": "string" })),
            ("form", "link or json", json!({ "type": "string", "enum": ["link", "json"] })),
        ];
        let in_path = |(name, says, schema)| json!({ "name": name, "in": "path", "required": true, "description": says, "schema": schema });
        asked.parameters.extend(named.map(in_path));
    }
}

impl Asks for AcceptDatetime {
    fn ask(asked: &mut Asked, _: &mut Schemas) {
        asked.parameters.push(json!({
            "name": "Accept-Datetime", "in": "header", "required": false,
            "description": "A date as HTTP has it; the newest memento where none is given", "schema": { "type": "string" },
        }));
    }
}

impl<T: JsonSchema> Asks for Parameters<T> {
    fn ask(asked: &mut Asked, schemas: &mut Schemas) {
        asked.parameters.extend(schemas.parameters::<T>());
    }
}

impl<T: JsonSchema> Asks for Fields<T> {
    fn ask(asked: &mut Asked, schemas: &mut Schemas) {
        asked.fields = Some(schemas.inline::<T>());
    }
}

impl<T: JsonSchema> Asks for JsonLines<T> {
    fn ask(asked: &mut Asked, schemas: &mut Schemas) {
        asked.body = Some(json!({
            "required": true,
            "description": "JSON lines; each is such an object",
            "content": { LINES: { "schema": schemas.named_to_read::<T>() } },
        }));
    }
}

impl<T: JsonSchema> Asks for Given<T> {
    fn ask(asked: &mut Asked, schemas: &mut Schemas) {
        let schema = schemas.inline::<T>();
        asked.body = Some(json!({ "required": true, "content": { JSON: { "schema": schema } } }));
    }
}

impl<T: Answers> Answers for Result<T, ApiError> {
    const LEADS_ON: bool = T::LEADS_ON;

    fn content(schemas: &mut Schemas) -> Value {
        T::content(schemas)
    }
}

impl<T: JsonSchema> Answers for One<T> {
    fn content(schemas: &mut Schemas) -> Value {
        json!({ JSON: { "schema": schemas.named::<T>() } })
    }
}

impl<T: JsonSchema> Answers for Many<T> {
    fn content(schemas: &mut Schemas) -> Value {
        json!({ LINES: { "schema": schemas.named::<T>() } })
    }
}

impl<T: JsonSchema> Answers for Listed<T> {
    fn content(schemas: &mut Schemas) -> Value {
        let rest = schemas.named::<super::answer::Rest>();
        json!({ LINES: { "schema": { "anyOf": [schemas.named::<T>(), rest] } } })
    }
}

impl<T: JsonSchema> Answers for EventStream<T> {
    fn content(schemas: &mut Schemas) -> Value {
        let event = schemas.named::<T>();
        json!({ "text/event-stream": { "schema": { "type": "string", "contentMediaType": JSON, "contentSchema": event } } })
    }
}

impl<T: JsonSchema> Answers for Views<T> {
    fn content(schemas: &mut Schemas) -> Value {
        let text = json!({ "schema": { "type": "string" } });
        json!({ JSON: { "schema": schemas.named::<T>() }, "text/plain": text, "text/html": text })
    }
}

impl Answers for PlainText {
    fn content(_: &mut Schemas) -> Value {
        json!({ "text/plain": { "schema": { "type": "string" } } })
    }
}

impl Answers for AtomFeed {
    fn content(_: &mut Schemas) -> Value {
        json!({ "application/atom+xml": { "schema": { "type": "string" } } })
    }
}

impl Answers for Xml {
    fn content(_: &mut Schemas) -> Value {
        json!({ "application/xml": { "schema": { "type": "string" } } })
    }
}

impl Answers for TimeMaps {
    fn content(_: &mut Schemas) -> Value {
        json!({ "application/link-format": { "schema": { "type": "string" } }, JSON: { "schema": { "type": "object" } } })
    }
}

impl Answers for LeadsOn {
    const LEADS_ON: bool = true;

    fn content(_: &mut Schemas) -> Value {
        json!({})
    }
}

impl Answers for Exported {
    fn content(_: &mut Schemas) -> Value {
        let kinds = [
            "application/warc",
            "application/wacz",
            "application/vnd.apache.parquet",
            "application/x-tar",
            "text/plain",
            LINES,
        ];
        kinds.into_iter().map(|kind| (kind.to_owned(), json!({}))).collect::<serde_json::Map<_, _>>().into()
    }
}

impl Answers for RawBody {
    fn content(_: &mut Schemas) -> Value {
        json!({ "application/octet-stream": {}, "text/plain": { "schema": { "type": "string" } } })
    }
}
