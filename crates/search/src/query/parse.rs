//! Reads a query.

use vernal_model::{Kind, Moment};

use super::expression::{Expression, Filter, Form, Scope, TextAsked};
use super::fault::QueryFault;
use super::tokens::{Read, Token, What, tokens};
use crate::analysis::words::{is_unspaced, words};

/// A longer query is no question of a person.
pub const QUERY_BYTES_MAX: usize = 4 << 10;
/// Each word costs a walk over its list.
pub const WORDS_MAX: usize = 64;
/// Brackets and NOTs within each other.
pub const DEPTH_MAX: usize = 16;
/// A shorter prefix would stand for a large part of all words.
pub const PREFIX_LETTERS_MIN: usize = 2;

const FIELDS: [&str; 10] = ["site", "title", "anchor", "lang", "url", "before", "after", "tag", "topic", "kind"];

/// Reads a query; an empty one asks for everything. `now` is what ages such as `7d` are counted from.
pub fn parse(text: &str, now: Moment) -> Read<Expression> {
    if text.len() > QUERY_BYTES_MAX {
        return Err(QueryFault::new(1, format!("the query is longer than {QUERY_BYTES_MAX} bytes")));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, end: text.chars().count() + 1, words: 0, now };
    if tokens.is_empty() {
        return Ok(Expression::Every(Vec::new()));
    }
    let expression = parser.either(0)?;
    match parser.tokens.get(parser.at) {
        Some(token) => Err(QueryFault::new(token.column, "this bracket closes nothing")),
        None => Ok(expression),
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    /// The column after the last character.
    end: usize,
    words: usize,
    now: Moment,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t What> {
        self.tokens.get(self.at).map(|token| &token.what)
    }

    fn column(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |token| token.column)
    }

    fn is_operator(&self, name: &str) -> bool {
        matches!(self.peek(), Some(What::Word(word)) if word == name)
    }

    fn either(&mut self, depth: usize) -> Read<Expression> {
        let mut parts = vec![self.every(depth)?];
        while self.is_operator("OR") {
            self.at += 1;
            parts.push(self.every(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Either(parts) })
    }

    fn every(&mut self, depth: usize) -> Read<Expression> {
        let mut parts = vec![self.one(depth)?];
        loop {
            match self.peek() {
                None | Some(What::Close) => break,
                Some(What::Word(word)) if word == "OR" => break,
                Some(What::Word(word)) if word == "AND" => self.at += 1,
                Some(_) => {}
            }
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Every(parts) })
    }

    fn one(&mut self, depth: usize) -> Read<Expression> {
        let column = self.column();
        if depth > DEPTH_MAX {
            return Err(QueryFault::new(column, format!("more than {DEPTH_MAX} brackets within each other")));
        }
        let Some(what) = self.peek() else {
            return Err(QueryFault::new(column, "something to look for is missing here"));
        };
        self.at += 1;
        match what {
            What::Minus => Ok(Expression::Not(Box::new(self.one(depth + 1)?))),
            What::Word(word) if word == "NOT" => Ok(Expression::Not(Box::new(self.one(depth + 1)?))),
            What::Word(word) if word == "AND" || word == "OR" => {
                Err(QueryFault::new(column, format!("`{word}` stands between two things to look for")))
            }
            What::Open => {
                let inside = self.either(depth + 1)?;
                match self.peek() {
                    Some(What::Close) => {
                        self.at += 1;
                        Ok(inside)
                    }
                    _ => Err(QueryFault::new(column, "this bracket is never closed")),
                }
            }
            What::Close => Err(QueryFault::new(column, "something to look for is missing before this bracket")),
            What::Field(name) => self.of_field(name, column),
            What::Word(word) => self.text(word, Scope::Anywhere, false, column),
            What::Quoted(inside) => self.text(inside, Scope::Anywhere, true, column),
        }
    }

    fn of_field(&mut self, name: &str, column: usize) -> Read<Expression> {
        if !FIELDS.contains(&name) {
            let fields = FIELDS.join(", ");
            return Err(QueryFault::new(column, format!("there is no field `{name}`; there are {fields}")));
        }
        let place = self.column();
        let (value, quoted) = match self.peek() {
            Some(What::Word(word)) => (word.as_str(), false),
            Some(What::Quoted(inside)) => (inside.as_str(), true),
            // A value may begin with a name and a colon itself, such as a site with its port.
            Some(What::Field(name)) => return self.value_with_colon(name, place, column),
            _ => return Err(QueryFault::new(place, format!("`{name}:` needs a value right behind it"))),
        };
        self.at += 1;
        match name {
            "title" => self.text(value, Scope::Title, quoted, place),
            "url" => self.text(value, Scope::Url, quoted, place),
            "anchor" => self.text(value, Scope::Anchor, quoted, place),
            _ => filter(name, value, place, self.now).map(Expression::Filter),
        }
    }

    fn value_with_colon(&mut self, name: &str, place: usize, column: usize) -> Read<Expression> {
        let Some(What::Word(rest)) = self.tokens.get(self.at + 1).map(|token| &token.what) else {
            return Err(QueryFault::new(place, format!("`{name}:` needs a value right behind it")));
        };
        let Some(What::Field(field)) = self.tokens.get(self.at - 1).map(|token| &token.what) else {
            return Err(QueryFault::new(column, "a field is missing here"));
        };
        self.at += 2;
        match field.as_str() {
            "site" => Ok(Expression::Filter(Filter::Site(format!("{name}:{rest}")))),
            "tag" => Ok(Expression::Filter(Filter::Tag(format!("{name}:{rest}")))),
            _ => Err(QueryFault::new(place, "put a value with a colon into quotes")),
        }
    }

    fn text(&mut self, text: &str, scope: Scope, quoted: bool, column: usize) -> Read<Expression> {
        let (text, is_prefix) = match text.strip_suffix('*').filter(|_| !quoted) {
            Some(start) => (start, true),
            None => (text, false),
        };
        let mut words: Vec<String> = words(text).into_iter().map(|(word, _)| word).collect();
        drop_last_half(&mut words);
        if words.is_empty() {
            return Err(QueryFault::new(column, format!("there is no word in `{}`", shortened(text))));
        }
        self.words += words.len();
        if self.words > WORDS_MAX {
            return Err(QueryFault::new(column, format!("more than {WORDS_MAX} words")));
        }
        let is_single_pairless = words.len() == 1 && is_unspaced(&words[0]) && words[0].chars().count() == 1;
        let form = match (is_prefix || is_single_pairless, words.len()) {
            (true, 1) if words[0].chars().count() < PREFIX_LETTERS_MIN && !is_unspaced(&words[0]) => {
                let what = format!("a prefix needs at least {PREFIX_LETTERS_MIN} letters before its star");
                return Err(QueryFault::new(column, what));
            }
            (true, 1) => Form::Prefix,
            (true, _) => return Err(QueryFault::new(column, "a star stands behind one word alone")),
            (false, 1) if !quoted => Form::Stem,
            (false, _) => Form::Exact,
        };
        Ok(Expression::Text(TextAsked { column, scope, words, form }))
    }
}

/// The last character of a run without spaces stands once more for itself in the index. At the end of a question it would ask for
/// the end of a run, which nobody means.
fn drop_last_half(words: &mut Vec<String>) {
    let [.., before, last] = words.as_slice() else { return };
    let is_half = is_unspaced(last) && last.chars().count() == 1;
    if is_half && before.ends_with(last.as_str()) && before.chars().count() == 2 {
        words.pop();
    }
}

fn filter(name: &str, value: &str, column: usize, now: Moment) -> Read<Filter> {
    let moment = || {
        Moment::parse(value, now).map_err(|_| {
            QueryFault::new(
                column,
                format!("`{}` is no time: give RFC 3339, a date, 14 digits, or an age such as 7d", shortened(value)),
            )
        })
    };
    Ok(match name {
        "site" => Filter::Site(value.to_lowercase()),
        "lang" => Filter::Language(language(value)),
        "tag" => Filter::Tag(value.to_owned()),
        "topic" => Filter::Topic(topic(value)),
        "before" => Filter::Before(moment()?),
        "after" => Filter::After(moment()?),
        _ => Filter::Kind(kind(value, column)?),
    })
}

/// The first part of the tag of a language.
pub fn language(value: &str) -> String {
    value.split(['-', '_']).next().unwrap_or_default().to_lowercase()
}

/// Topics are words in lower case.
pub fn topic(value: &str) -> String {
    value.trim().to_lowercase()
}

/// The kinds of change, and `new` for first versions.
pub fn kind(value: &str, column: usize) -> Read<String> {
    let value = value.to_lowercase();
    if value == "new" || Kind::ALL.iter().any(|kind| kind.name() == value) {
        return Ok(value);
    }
    let names = Kind::ALL.map(Kind::name).join(", ");
    Err(QueryFault::new(column, format!("`{}` is no kind of change; there are {names} and new", shortened(&value))))
}

/// Enough of a text for a message.
fn shortened(text: &str) -> String {
    const LETTERS_MAX: usize = 40;
    text.chars().filter(|letter| !letter.is_control()).take(LETTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(word: &str) -> Expression {
        let words = words(word).into_iter().map(|(word, _)| word).collect();
        Expression::Text(TextAsked { column: 1, scope: Scope::Anywhere, words, form: Form::Stem })
    }

    /// Without columns, so that expressions can be compared.
    fn plain(expression: Expression) -> Expression {
        match expression {
            Expression::Every(parts) => Expression::Every(parts.into_iter().map(plain).collect()),
            Expression::Either(parts) => Expression::Either(parts.into_iter().map(plain).collect()),
            Expression::Not(part) => Expression::Not(Box::new(plain(*part))),
            Expression::Text(text) => Expression::Text(TextAsked { column: 1, ..text }),
            filter => filter,
        }
    }

    fn read(query: &str) -> Expression {
        plain(parse(query, Moment::from_secs(1_800_000_000)).unwrap())
    }

    fn fault(query: &str) -> (usize, String) {
        let fault = parse(query, Moment::from_secs(1_800_000_000)).unwrap_err();
        (fault.column, fault.what)
    }

    #[test]
    fn words_are_joined_by_and_and_or_binds_less() {
        let (a, b, c) = (text("aa"), text("bb"), text("cc"));
        let both = Expression::Every(vec![a.clone(), b.clone()]);
        assert_eq!(read("aa bb"), both);
        assert_eq!(read("aa AND bb"), both);
        assert_eq!(read("aa bb OR cc"), Expression::Either(vec![both, c.clone()]));
        let either = Expression::Either(vec![b, c.clone()]);
        assert_eq!(read("aa (bb OR cc)"), Expression::Every(vec![a.clone(), either]));
        let without = Expression::Every(vec![a, Expression::Not(Box::new(c))]);
        assert_eq!(read("aa -cc"), without);
        assert_eq!(read("aa NOT cc"), without);
        assert_eq!(read(""), Expression::Every(Vec::new()));
    }

    #[test]
    fn quotes_ask_for_exact_words_and_a_star_for_what_begins_so() {
        let asked = |query: &str| match read(query) {
            Expression::Text(asked) => (asked.words.join(" "), asked.form, asked.scope),
            other => panic!("{other:?}"),
        };
        assert_eq!(asked("\"Terms of Use\""), ("terms of use".into(), Form::Exact, Scope::Anywhere));
        assert_eq!(asked("title:Café"), ("cafe".into(), Form::Stem, Scope::Title));
        assert_eq!(asked("url:docs/kafka"), ("docs kafka".into(), Form::Exact, Scope::Url));
        assert_eq!(asked("anchor:\"read more\""), ("read more".into(), Form::Exact, Scope::Anchor));
        assert_eq!(asked("conn*"), ("conn".into(), Form::Prefix, Scope::Anywhere));
        assert_eq!(asked("日本語"), ("日本 本語".into(), Form::Exact, Scope::Anywhere));
        assert_eq!(asked("語"), ("語".into(), Form::Prefix, Scope::Anywhere));
        assert_eq!(asked("http://a.example/"), ("http a example".into(), Form::Exact, Scope::Anywhere));
    }

    #[test]
    fn filters_take_their_values() {
        assert_eq!(read("site:A.example:8080"), Expression::Filter(Filter::Site("a.example:8080".into())));
        assert_eq!(read("lang:de-AT"), Expression::Filter(Filter::Language("de".into())));
        assert_eq!(read("tag:\"two words\""), Expression::Filter(Filter::Tag("two words".into())));
        assert_eq!(read("topic:Sport"), Expression::Filter(Filter::Topic("sport".into())));
        let day = Moment::parse("2026-05-01", Moment::EPOCH).unwrap();
        assert_eq!(read("before:2026-05-01"), Expression::Filter(Filter::Before(day)));
        assert_eq!(read("kind:content"), Expression::Filter(Filter::Kind("content".into())));
    }

    #[test]
    fn a_fault_names_its_place() {
        assert_eq!(fault("aa \"bb").0, 4);
        assert_eq!(fault("aa (bb").0, 4);
        assert_eq!(fault("aa) bb").0, 3);
        assert_eq!(
            fault("äö tytle:x"),
            (
                4,
                "there is no field `tytle`; there are site, title, anchor, lang, url, before, after, tag, topic, kind"
                    .into()
            )
        );
        assert_eq!(fault("aa OR").0, 6);
        assert_eq!(fault("OR aa").0, 1);
        assert_eq!(fault("before:yesterday").0, 8);
        assert_eq!(fault("kind:colour").0, 6);
        assert_eq!(fault("title:").0, 7);
        assert_eq!(fault("aa anchor:").0, 11);
        assert_eq!(fault("anchor:!!").0, 8);
        assert_eq!(fault("topic:").0, 7);
        assert_eq!(fault("topic:a:b").0, 7);
        assert_eq!(fault("aa !!").0, 4);
        assert_eq!(fault("a*").0, 1);
        assert_eq!(fault("()").0, 2);
        assert_eq!(fault(&"(".repeat(100)).0, DEPTH_MAX + 2);
        assert_eq!(fault(&"a".repeat(QUERY_BYTES_MAX + 1)).0, 1);
        assert!(fault(&"ab ".repeat(WORDS_MAX + 1)).1.contains("words"));
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_read_or_refused_at_a_place_within(
            query in "\\PC{0,40}|[ab()\"*: \\-日]{0,40}|((site|title|tag|anchor|topic|OR|AND|NOT|before)[: ]?[a\"(*) -]?){0,12}",
        ) {
            if let Err(fault) = parse(&query, Moment::from_secs(1_800_000_000)) {
                prop_assert!((1..=query.chars().count() + 1).contains(&fault.column), "{fault}");
            }
        }
    }
}
