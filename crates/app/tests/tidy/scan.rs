//! Reads Rust source just far enough to measure it: tokens without comments, and from them functions, types and which lines are tests.
//!
//! This is no parser. It knows strings, raw strings, characters, lifetimes and nested comments, matches brackets, and recognises items
//! by their keywords. What a macro makes is not seen.

use crate::tokens::{Token, tokens};

/// A function with its body; functions without a body are not measured.
pub struct Function {
    pub name: String,
    /// The type whose `impl` block holds it.
    pub owner: Option<String>,
    pub line: usize,
    pub lines: usize,
}

/// A struct, enum, union, trait or alias; `fields` are those of a struct, by name where they have one.
pub struct Type {
    pub name: String,
    pub line: usize,
    pub fields: Vec<String>,
    /// Whether it is only ever written out (derives `Serialize` and not `Deserialize`): then its fields are those of a format.
    pub is_answer: bool,
}

/// What one file holds outside its tests.
pub struct Source {
    pub functions: Vec<Function>,
    pub types: Vec<Type>,
    /// Constants and statics with their lines.
    pub constants: Vec<(String, usize)>,
    /// Modules that are declared here for tests alone and have a file of their own.
    pub test_modules: Vec<String>,
    /// For each line of the file, whether it belongs to a test.
    pub is_test_line: Vec<bool>,
    pub tokens: Vec<Token>,
}

/// Reads one file.
pub fn scan(text: &str) -> Source {
    let tokens = tokens(text);
    let mut source = Source {
        functions: Vec::new(),
        types: Vec::new(),
        constants: Vec::new(),
        test_modules: Vec::new(),
        is_test_line: vec![false; text.lines().count()],
        tokens: Vec::new(),
    };
    let mut walk = Walk { tokens: &tokens, source: &mut source, blocks: Vec::new() };
    let mut at = 0;
    while at < tokens.len() {
        at = walk.step(at);
    }
    source.tokens = tokens;
    source
}

/// What an open brace belongs to.
enum Block {
    Impl(Option<String>),
    Other,
}

struct Walk<'a> {
    tokens: &'a [Token],
    source: &'a mut Source,
    blocks: Vec<Block>,
}

impl Walk<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    /// Looks at one token and says which is next.
    fn step(&mut self, at: usize) -> usize {
        match self.text(at) {
            "#" if self.is_test_attribute(at) => self.skip_test(at),
            "{" => {
                self.blocks.push(Block::Other);
                at + 1
            }
            "}" => {
                self.blocks.pop();
                at + 1
            }
            "impl" if self.begins_item(at) => self.open_impl(at),
            "fn" if is_word(self.text(at + 1)) => self.open_function(at),
            "struct" if is_word(self.text(at + 1)) => self.read_struct(at),
            "const" | "static" if is_word(self.text(at + 1)) && self.text(at + 2) == ":" => {
                self.source.constants.push((self.text(at + 1).to_owned(), self.tokens[at].line));
                at + 2
            }
            "enum" | "union" | "trait" | "type" if self.begins_item(at) && is_word(self.text(at + 1)) => {
                if !matches!(self.blocks.last(), Some(Block::Impl(_))) {
                    self.note_type(at, Vec::new());
                }
                at + 2
            }
            _ => at + 1,
        }
    }

    /// Whether a keyword stands where an item begins, and not within a type or an expression.
    fn begins_item(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        matches!(self.text(before), "}" | ";" | "{" | "]" | ")" | "pub" | "unsafe" | "auto")
    }

    fn is_test_attribute(&self, at: usize) -> bool {
        let is = |offset: usize, text: &str| self.text(at + offset) == text;
        is(1, "[") && is(2, "cfg") && is(3, "(") && (is(4, "test") || is(4, "all") && is(5, "(") && is(6, "test"))
    }

    /// Marks the item behind `#[cfg(test)]` as a test and goes on after it.
    fn skip_test(&mut self, at: usize) -> usize {
        let mut end = at;
        while self.text(end) == "#" {
            end = self.closing(end + 1) + 1;
        }
        let module = (end..end + 6).find(|&place| self.text(place) == "mod" && self.text(place + 2) == ";");
        if let Some(place) = module {
            self.source.test_modules.push(self.text(place + 1).to_owned());
        }
        while !matches!(self.text(end), "{" | ";" | "") {
            end = if matches!(self.text(end), "(" | "[") { self.closing(end) + 1 } else { end + 1 };
        }
        if self.text(end) == "{" {
            end = self.closing(end);
        }
        let last = self.tokens.get(end).or(self.tokens.last()).map_or(1, |token| token.line);
        for line in self.tokens[at].line..=last {
            self.source.is_test_line[line - 1] = true;
        }
        end + 1
    }

    fn open_impl(&mut self, at: usize) -> usize {
        let mut place = if self.text(at + 1) == "<" { self.closing_angle(at + 1) + 1 } else { at + 1 };
        let mut owner = None;
        let mut is_named = true;
        while !matches!(self.text(place), "{" | "") {
            match self.text(place) {
                "<" => place = self.closing_angle(place),
                "(" | "[" => place = self.closing(place),
                "for" if self.text(place + 1) != "<" => (owner, is_named) = (None, true),
                "where" => is_named = false,
                word if is_named && is_word(word) && word != "dyn" && word != "mut" => owner = Some(word.to_owned()),
                _ => {}
            }
            place += 1;
        }
        self.blocks.push(Block::Impl(owner));
        place + 1
    }

    fn open_function(&mut self, at: usize) -> usize {
        let mut place = at + 2;
        while !matches!(self.text(place), "{" | ";" | "}" | "") {
            place = if matches!(self.text(place), "(" | "[") { self.closing(place) + 1 } else { place + 1 };
        }
        if self.text(place) != "{" {
            return place;
        }
        let (line, last) = (self.tokens[at].line, self.tokens[self.closing(place)].line);
        let owner = match self.blocks.last() {
            Some(Block::Impl(owner)) => owner.clone(),
            _ => None,
        };
        let name = self.text(at + 1).to_owned();
        self.source.functions.push(Function { name, owner, line, lines: last + 1 - line });
        place
    }

    fn read_struct(&mut self, at: usize) -> usize {
        let mut place = at + 2;
        while !matches!(self.text(place), "{" | "(" | ";" | "") {
            place = if self.text(place) == "<" { self.closing_angle(place) + 1 } else { place + 1 };
        }
        let fields = if matches!(self.text(place), "{" | "(") { self.fields(place) } else { Vec::new() };
        self.note_type(at, fields);
        if self.text(place) == "{" || self.text(place) == "(" { self.closing(place) + 1 } else { place }
    }

    fn fields(&self, open: usize) -> Vec<String> {
        let close = self.closing(open);
        let has_names = self.text(open) == "{";
        let mut fields = Vec::new();
        let mut begin = open + 1;
        let mut place = begin;
        while place <= close {
            match self.text(place) {
                "<" => place = self.closing_angle(place),
                "(" | "[" | "{" => place = self.closing(place),
                "," | "}" | ")" => {
                    let named = (begin..place).find(|&name| self.text(name + 1) == ":" && self.text(name + 2) != ":");
                    match named.filter(|_| has_names) {
                        Some(name) => fields.push(self.text(name).to_owned()),
                        None if begin < place && !has_names => fields.push(String::new()),
                        None => {}
                    }
                    begin = place + 1;
                }
                _ => {}
            }
            place += 1;
        }
        fields
    }

    fn note_type(&mut self, at: usize, fields: Vec<String>) {
        let (name, line) = (self.text(at + 1).to_owned(), self.tokens[at].line);
        let is_answer = self.derives(at, "Serialize") && !self.derives(at, "Deserialize");
        self.source.types.push(Type { name, line, fields, is_answer });
    }

    /// Whether an attribute before the item at `at` has a word.
    fn derives(&self, at: usize, word: &str) -> bool {
        let attributes = (0..at).rev().take_while(|&place| !matches!(self.text(place), "}" | ";" | "{"));
        attributes.into_iter().any(|place| self.text(place) == word)
    }

    /// The bracket that closes the one at `open`, or the last token of a file that does not balance.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for place in open..self.tokens.len() {
            match self.text(place) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return place;
            }
        }
        self.tokens.len() - 1
    }

    /// The same for generics, where `->` closes nothing.
    fn closing_angle(&self, open: usize) -> usize {
        let mut depth = 0;
        let mut place = open;
        while place < self.tokens.len() {
            match self.text(place) {
                "<" => depth += 1,
                ">" if self.text(place - 1) != "-" => depth -= 1,
                "(" | "[" | "{" => place = self.closing(place),
                _ => {}
            }
            if depth == 0 {
                return place;
            }
            place += 1;
        }
        self.tokens.len() - 1
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

#[test]
fn the_scanner_knows_strings_comments_lifetimes_and_raw_identifiers() {
    let text = "fn a<'x>(c: char) { let s = \"}{\"; let r = r#\"}\"{\"#; /* { /* } */ */ let c = '{'; let d = '\\''; }\n// }\nfn r#do() {}";
    let source = scan(text);
    let names: Vec<_> =
        source.functions.iter().map(|function| (&*function.name, function.line, function.lines)).collect();
    assert_eq!(names, [("a", 1, 1), ("do", 3, 1)]);
}

#[test]
fn the_scanner_counts_fields_and_finds_the_owner_of_a_method() {
    let text = "pub struct A<T: Fn(u8) -> u8> { a: Vec<(u8, T)>, #[x(y, z)] pub(crate) b: [u8; 3] }\nstruct B(u8, u16);\n\
        impl<T: Fn(u8) -> u8> Iterator for A<T> where T: Copy { type Item = u8; fn next(&mut self) -> impl Sized { fn inner() {} } }";
    let source = scan(text);
    let fields: Vec<_> = source.types.iter().map(|kind| (&*kind.name, kind.fields.len())).collect();
    assert_eq!(fields, [("A", 2), ("B", 2)]);
    let owners: Vec<_> = source.functions.iter().map(|function| (&*function.name, function.owner.as_deref())).collect();
    assert_eq!(owners, [("next", Some("A")), ("inner", None)]);
}

#[test]
fn the_scanner_leaves_tests_out() {
    let source = scan("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[cfg(test)]\nmod laws;\nfn c() {}\n");
    assert_eq!(source.is_test_line, [false, true, true, true, true, true, true, false]);
    assert_eq!(source.test_modules, ["laws"]);
    assert_eq!(source.functions.len(), 2);
}
