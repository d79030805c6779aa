//! The expression that a query means.

use vernal_model::Moment;

#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Every(Vec<Expression>),
    Either(Vec<Expression>),
    Not(Box<Expression>),
    Text(TextAsked),
    Filter(Filter),
}

/// Words that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextAsked {
    pub column: usize,
    pub scope: Scope,
    /// Folded, in their order.
    pub words: Vec<String>,
    pub form: Form,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// The word, and all words with its stem.
    Stem,
    /// Words that begin with it.
    Prefix,
    /// These words side by side, exactly.
    Exact,
}

/// Where the words must stand.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    Anywhere,
    Title,
    Url,
    /// In links of other pages to it.
    Anchor,
}

/// What a page or a paragraph must be, whatever its words are.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    Site(String),
    Language(String),
    Kind(String),
    Tag(String),
    Topic(String),
    Before(Moment),
    After(Moment),
}

impl Expression {
    /// Calls `each` with all texts that are asked for; those within a `Not` are left out.
    pub fn each_text<'e>(&'e self, each: &mut impl FnMut(&'e TextAsked)) {
        match self {
            Expression::Every(parts) | Expression::Either(parts) => parts.iter().for_each(|part| part.each_text(each)),
            Expression::Text(text) => each(text),
            Expression::Not(_) | Expression::Filter(_) => {}
        }
    }

    /// Both.
    pub fn and(self, filter: Filter) -> Expression {
        let filter = Expression::Filter(filter);
        match self {
            Expression::Every(mut parts) => {
                parts.push(filter);
                Expression::Every(parts)
            }
            other => Expression::Every(vec![other, filter]),
        }
    }
}
