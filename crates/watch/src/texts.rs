//! Types that are written as one text, described so.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::condition::MovesBy;
use crate::outbox::{Quiet, Schedule};
use crate::secret::Secret;
use crate::watch::{AtMost, How};

macro_rules! is_a_text {
    ($($text:ident),*) => {
        $(impl JsonSchema for $text {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($text).into()
            }

            fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
                String::json_schema(schemas)
            }
        })*
    };
}

is_a_text!(AtMost, How, MovesBy, Quiet, Schedule, Secret);
