//! The columns of each table. The place of a column in its list, from 1, is its field id: new ones go to the end.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Table {
    Pages,
    Versions,
    Paragraphs,
    Events,
    Visits,
}

/// The type of a column.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Texts,
    Whole,
    Number,
    Flag,
    Time,
    /// So many bytes.
    Bytes(i32),
    /// What happened to paragraphs.
    Changes,
}

pub type Column = (&'static str, Form);

const PAGES: &[Column] = &[
    ("url", Form::Text),
    ("page", Form::Text),
    ("site", Form::Text),
    ("tags", Form::Texts),
    ("state", Form::Text),
    ("title", Form::Text),
    ("language", Form::Text),
    ("content_type", Form::Text),
    ("importance", Form::Number),
    ("depth", Form::Whole),
    ("version", Form::Whole),
    ("visits", Form::Whole),
    ("changes", Form::Whole),
    ("first_visit", Form::Time),
    ("last_visit", Form::Time),
    ("seen", Form::Time),
];

const VERSIONS: &[Column] = &[
    ("url", Form::Text),
    ("page", Form::Text),
    ("site", Form::Text),
    ("version", Form::Whole),
    ("moment", Form::Time),
    ("status", Form::Whole),
    ("payload_digest", Form::Bytes(20)),
    ("body_bytes", Form::Whole),
    ("segment", Form::Whole),
    ("offset", Form::Whole),
    ("length", Form::Whole),
    ("event", Form::Text),
    ("kinds", Form::Texts),
    ("left", Form::Texts),
    ("magnitude", Form::Number),
    ("degree", Form::Text),
    ("seen_same", Form::Time),
    ("seen_different", Form::Time),
];

const PARAGRAPHS: &[Column] = &[
    ("op", Form::Text),
    ("id", Form::Text),
    ("digest", Form::Bytes(8)),
    ("url", Form::Text),
    ("page", Form::Text),
    ("site", Form::Text),
    ("version", Form::Whole),
    ("position", Form::Whole),
    ("role", Form::Text),
    ("headings", Form::Texts),
    ("text", Form::Text),
    ("language", Form::Text),
    ("title", Form::Text),
    ("tags", Form::Texts),
    ("born", Form::Time),
    ("edited", Form::Time),
    ("template", Form::Flag),
    ("noindex", Form::Flag),
    ("nofollow", Form::Flag),
    ("noarchive", Form::Flag),
    ("split_from", Form::Text),
    ("merged_into", Form::Text),
    ("why", Form::Text),
];

const EVENTS: &[Column] = &[
    ("id", Form::Text),
    ("cursor", Form::Text),
    ("event", Form::Text),
    ("url", Form::Text),
    ("page", Form::Text),
    ("site", Form::Text),
    ("tags", Form::Texts),
    ("title", Form::Text),
    ("language", Form::Text),
    ("content_type", Form::Text),
    ("version", Form::Whole),
    ("previous", Form::Whole),
    ("seen_same", Form::Time),
    ("seen_different", Form::Time),
    ("kinds", Form::Texts),
    ("left", Form::Texts),
    ("magnitude", Form::Number),
    ("degree", Form::Text),
    ("flapping", Form::Flag),
    ("detail", Form::Text),
    ("paragraphs", Form::Changes),
];

const VISITS: &[Column] = &[
    ("url", Form::Text),
    ("page", Form::Text),
    ("site", Form::Text),
    ("started", Form::Time),
    ("finished", Form::Time),
    ("outcome", Form::Text),
    ("wire_bytes", Form::Whole),
    ("version", Form::Whole),
    ("changed", Form::Flag),
    ("second_look", Form::Flag),
];

/// The fields of one entry of [`Form::Changes`].
pub const CHANGE: [Column; 8] = [
    ("op", Form::Text),
    ("id", Form::Text),
    ("digest", Form::Bytes(8)),
    ("role", Form::Text),
    ("position", Form::Whole),
    ("headings", Form::Texts),
    ("before", Form::Text),
    ("after", Form::Text),
];

impl Table {
    pub const ALL: [Table; 5] = [Table::Pages, Table::Versions, Table::Paragraphs, Table::Events, Table::Visits];

    pub fn name(self) -> &'static str {
        match self {
            Table::Pages => "pages",
            Table::Versions => "versions",
            Table::Paragraphs => "paragraphs",
            Table::Events => "events",
            Table::Visits => "visits",
        }
    }

    pub fn named(name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|table| table.name() == name)
    }

    pub fn columns(self) -> &'static [Column] {
        match self {
            Table::Pages => PAGES,
            Table::Versions => VERSIONS,
            Table::Paragraphs => PARAGRAPHS,
            Table::Events => EVENTS,
            Table::Visits => VISITS,
        }
    }

    pub fn schema(self) -> Arc<Schema> {
        let columns =
            self.columns().iter().enumerate().map(|(at, (name, form))| identified(name, form.data_type(), at + 1));
        Arc::new(Schema::new(columns.collect::<Vec<Field>>()))
    }
}

impl Form {
    pub fn data_type(self) -> DataType {
        match self {
            Form::Text => DataType::Utf8,
            Form::Texts => DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))),
            Form::Whole => DataType::Int64,
            Form::Number => DataType::Float64,
            Form::Flag => DataType::Boolean,
            Form::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Form::Bytes(count) => DataType::FixedSizeBinary(count),
            Form::Changes => DataType::List(Arc::new(Field::new("item", DataType::Struct(change_fields()), true))),
        }
    }
}

pub fn change_fields() -> Fields {
    CHANGE.iter().map(|(name, form)| Field::new(*name, form.data_type(), true)).collect()
}

fn identified(name: &str, data_type: DataType, id: usize) -> Field {
    let id = (parquet::arrow::PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string());
    Field::new(name, data_type, true).with_metadata(std::collections::HashMap::from([id]))
}
