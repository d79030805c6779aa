//! Values become columns.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    StructBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;
use vernal_model::Moment;

use super::schema::{CHANGE, Form, Table, change_fields};
use crate::export::Result;

/// One value of a row, in the order of the columns.
#[derive(Clone, Debug)]
pub enum Value {
    None,
    Text(String),
    Texts(Vec<String>),
    Whole(i64),
    Number(f64),
    Flag(bool),
    Time(Moment),
    Bytes(Vec<u8>),
    Changes(Vec<ChangeValue>),
}

/// One entry of a list of changes.
#[derive(Clone, Debug, Default)]
pub struct ChangeValue {
    pub operation: &'static str,
    pub id: Option<String>,
    pub digest: [u8; 8],
    pub role: &'static str,
    pub position: u32,
    pub headings: Vec<String>,
    pub before: Option<String>,
    pub after: Option<String>,
}

enum Builder {
    Text(StringBuilder),
    Texts(ListBuilder<StringBuilder>),
    Whole(Int64Builder),
    Number(Float64Builder),
    Flag(BooleanBuilder),
    Time(TimestampMicrosecondBuilder),
    Bytes(FixedSizeBinaryBuilder),
    Changes(Box<ListBuilder<StructBuilder>>),
}

/// Rows that are gathered until they become a batch.
pub struct Columns {
    schema: Arc<Schema>,
    builders: Vec<Builder>,
    rows: usize,
}

impl Columns {
    pub fn of(table: Table) -> Columns {
        let builders = table.columns().iter().map(|(_, form)| builder(*form)).collect();
        Columns { schema: table.schema(), builders, rows: 0 }
    }

    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn push(&mut self, row: Vec<Value>) -> Result<()> {
        debug_assert_eq!(row.len(), self.builders.len(), "a row has a value for each column");
        for (builder, value) in self.builders.iter_mut().zip(row) {
            builder.push(value)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// What was gathered, which leaves nothing.
    pub fn batch(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(parquet::errors::ParquetError::from)?)
    }
}

fn builder(form: Form) -> Builder {
    match form {
        Form::Text => Builder::Text(StringBuilder::new()),
        Form::Texts => Builder::Texts(ListBuilder::new(StringBuilder::new())),
        Form::Whole => Builder::Whole(Int64Builder::new()),
        Form::Number => Builder::Number(Float64Builder::new()),
        Form::Flag => Builder::Flag(BooleanBuilder::new()),
        Form::Time => Builder::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC")),
        Form::Bytes(count) => Builder::Bytes(FixedSizeBinaryBuilder::new(count)),
        Form::Changes => {
            let fields = CHANGE.iter().map(|(_, form)| builder(*form).boxed()).collect();
            Builder::Changes(Box::new(ListBuilder::new(StructBuilder::new(change_fields(), fields))))
        }
    }
}

impl Builder {
    fn boxed(self) -> Box<dyn ArrayBuilder> {
        match self {
            Builder::Text(builder) => Box::new(builder),
            Builder::Texts(builder) => Box::new(builder),
            Builder::Whole(builder) => Box::new(builder),
            Builder::Number(builder) => Box::new(builder),
            Builder::Flag(builder) => Box::new(builder),
            Builder::Time(builder) => Box::new(builder),
            Builder::Bytes(builder) => Box::new(builder),
            Builder::Changes(builder) => builder,
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(builder) => Arc::new(builder.finish()),
            Builder::Texts(builder) => Arc::new(builder.finish()),
            Builder::Whole(builder) => Arc::new(builder.finish()),
            Builder::Number(builder) => Arc::new(builder.finish()),
            Builder::Flag(builder) => Arc::new(builder.finish()),
            Builder::Time(builder) => Arc::new(builder.finish()),
            Builder::Bytes(builder) => Arc::new(builder.finish()),
            Builder::Changes(builder) => Arc::new(builder.finish()),
        }
    }

    fn push(&mut self, value: Value) -> Result<()> {
        match (self, value) {
            (Builder::Text(builder), Value::Text(text)) => builder.append_value(text),
            (Builder::Text(builder), _) => builder.append_null(),
            (Builder::Texts(builder), Value::Texts(texts)) => append_texts(builder, texts),
            (Builder::Texts(builder), _) => builder.append(false),
            (Builder::Whole(builder), Value::Whole(number)) => builder.append_value(number),
            (Builder::Whole(builder), _) => builder.append_null(),
            (Builder::Number(builder), Value::Number(number)) => builder.append_value(number),
            (Builder::Number(builder), _) => builder.append_null(),
            (Builder::Flag(builder), Value::Flag(flag)) => builder.append_value(flag),
            (Builder::Flag(builder), _) => builder.append_null(),
            (Builder::Time(builder), Value::Time(moment)) => builder.append_value(moment.micros()),
            (Builder::Time(builder), _) => builder.append_null(),
            (Builder::Bytes(builder), Value::Bytes(bytes)) => {
                builder.append_value(bytes).map_err(parquet::errors::ParquetError::from)?;
            }
            (Builder::Bytes(builder), _) => builder.append_null(),
            (Builder::Changes(builder), Value::Changes(changes)) => {
                for change in changes {
                    append_change(builder.values(), change)?;
                }
                builder.append(true);
            }
            (Builder::Changes(builder), _) => builder.append(false),
        }
        Ok(())
    }
}

fn append_texts(builder: &mut ListBuilder<StringBuilder>, texts: Vec<String>) {
    texts.into_iter().for_each(|text| builder.values().append_value(text));
    builder.append(true);
}

/// The fields in the order of [`CHANGE`].
fn append_change(builder: &mut StructBuilder, change: ChangeValue) -> Result<()> {
    let ChangeValue { operation, id, digest, role, position, headings, before, after } = change;
    const KNOWN: &str = "the builder was made for these fields";
    let texts = [(0, Some(operation.to_owned())), (1, id), (3, Some(role.to_owned())), (6, before), (7, after)];
    for (place, text) in texts {
        builder.field_builder::<StringBuilder>(place).expect(KNOWN).append_option(text);
    }
    let digests = builder.field_builder::<FixedSizeBinaryBuilder>(2).expect(KNOWN);
    digests.append_value(digest).map_err(parquet::errors::ParquetError::from)?;
    builder.field_builder::<Int64Builder>(4).expect(KNOWN).append_value(i64::from(position));
    append_texts(builder.field_builder::<ListBuilder<StringBuilder>>(5).expect(KNOWN), headings);
    builder.append(true);
    Ok(())
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Value {
        Value::Texts(texts)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Whole(i64::from(number))
    }
}

impl From<f32> for Value {
    fn from(number: f32) -> Value {
        Value::Number(f64::from(number))
    }
}

impl From<Moment> for Value {
    fn from(moment: Moment) -> Value {
        if moment == Moment::EPOCH || moment == Moment::NEVER { Value::None } else { Value::Time(moment) }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::None, Into::into)
    }
}
