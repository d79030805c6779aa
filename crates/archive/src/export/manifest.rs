//! What an export says of itself: the last line of a stream, or `vernal-export.json` in a folder.

use serde::{Deserialize, Serialize};

use super::asked::{Asked, Until};

/// The name of the file in a folder.
pub const MANIFEST_FILE: &str = "vernal-export.json";

/// The number of this form; fields are only added.
const SCHEMA: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// `end` in a stream of lines, so that it is told from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    pub format: String,
    pub schema: u32,
    /// The next export goes on from here.
    pub cursor: String,
    /// The state that this one went on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The state of this time and not the newest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    #[serde(default, skip_serializing_if = "Scope::is_all")]
    pub scope: Scope,
    pub made: String,
    pub pages: u64,
    pub paragraphs: u64,
    /// Lines that change fields alone.
    #[serde(default)]
    pub patched: u64,
    /// Paragraphs that went, or pages where pages are written.
    pub removed: u64,
    /// Pages whose text is not in it: no body is kept of them, or it cannot be read; they ask not to be indexed; they have no text.
    #[serde(default)]
    pub without_body: u64,
    #[serde(default)]
    pub noindex: u64,
    #[serde(default)]
    pub without_text: u64,
    /// Records of an archive, and places of it that could not be read.
    #[serde(default, skip_serializing_if = "is_none")]
    pub records: u64,
    #[serde(default, skip_serializing_if = "is_none")]
    pub damaged: u64,
    #[serde(default, skip_serializing_if = "is_none")]
    pub events: u64,
    /// Of the program.
    pub version: String,
}

/// Which pages the export is of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_noindex: bool,
}

impl Scope {
    fn is_all(&self) -> bool {
        *self == Scope::default()
    }
}

impl Manifest {
    pub fn of(asked: &Asked, format: &str) -> Manifest {
        let filter = &asked.filter;
        Manifest {
            format: format.to_owned(),
            schema: SCHEMA,
            cursor: asked.to.cursor.to_string(),
            since: asked.from.map(named),
            at: asked.to.moment.map(|moment| moment.rfc3339()),
            scope: Scope {
                site: filter.site.as_ref().map(|site| site.as_str().to_owned()),
                prefix: filter.prefix.clone(),
                tag: filter.tag.clone(),
                with_noindex: filter.with_noindex,
            },
            made: asked.made.rfc3339(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Manifest::default()
        }
    }

    /// As the last line of a stream.
    #[must_use]
    pub fn as_line(self) -> Manifest {
        Manifest { op: Some("end".into()), ..self }
    }
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

fn named(until: Until) -> String {
    until.moment.map_or_else(|| until.cursor.to_string(), |moment| moment.rfc3339())
}
