//! One word of a shape: fixed, or a wildcard and what it covers.

use std::fmt::Write;

use super::times::is_time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShapeWord {
    Word(Box<str>),
    /// A run of words, by count and digest.
    Fixed(usize, u64),
    /// A word with numbers, by the text around them.
    Numbered(Box<str>),
    Time,
    Token,
    Any,
    Run,
}

impl ShapeWord {
    /// The narrowest wildcard for two words.
    pub fn of_both(one: &str, other: &str) -> ShapeWord {
        let frame = frame(one);
        let tokens = (is_token(one) || is_token(other)) && may_be_token(one) && may_be_token(other);
        match () {
            () if tokens => ShapeWord::Token,
            () if frame.contains('#') && frame == self::frame(other) => ShapeWord::Numbered(frame.into()),
            () if is_time(one) && is_time(other) => ShapeWord::Time,
            () => ShapeWord::Any,
        }
    }

    pub fn covers(&self, word: &str) -> bool {
        match self {
            ShapeWord::Word(fixed) => **fixed == *word,
            ShapeWord::Numbered(around) => frame(word) == **around,
            ShapeWord::Time => is_time(word),
            ShapeWord::Token => may_be_token(word),
            ShapeWord::Any => true,
            ShapeWord::Fixed(..) | ShapeWord::Run => false,
        }
    }

    pub fn freedom(&self) -> usize {
        match self {
            ShapeWord::Any => 1,
            ShapeWord::Run => 2,
            _ => 0,
        }
    }

    pub fn parse(word: &str) -> ShapeWord {
        match word {
            "@" => return ShapeWord::Time,
            "~" => return ShapeWord::Token,
            "*" => return ShapeWord::Any,
            "**" => return ShapeWord::Run,
            _ => {}
        }
        let fixed = word.strip_prefix('=').and_then(|rest| rest.split_once(':'));
        if let Some((Ok(count), Ok(digest))) =
            fixed.map(|(count, digest)| (count.parse::<u16>(), u64::from_str_radix(digest, 16)))
            && count > 0
        {
            return ShapeWord::Fixed(usize::from(count), digest);
        }
        let (mut plain, mut numbered, mut letters) = (String::new(), false, word.chars());
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => plain.extend(letters.next()),
                '#' => {
                    numbered = true;
                    plain.push('#');
                }
                letter => plain.push(letter),
            }
        }
        if numbered { ShapeWord::Numbered(plain.into()) } else { ShapeWord::Word(plain.into()) }
    }

    pub fn write(&self, text: &mut String) {
        let escape = |text: &mut String, word: &str, special: &[char]| {
            for letter in word.chars() {
                if special.contains(&letter) {
                    text.push('\\');
                }
                text.push(letter);
            }
        };
        match self {
            ShapeWord::Word(word) => escape(text, word, &['#', '@', '~', '*', '=', '\\']),
            ShapeWord::Numbered(frame) => escape(text, frame, &['\\', '=']),
            ShapeWord::Fixed(count, digest) => {
                let _ = write!(text, "={count}:{digest:016x}");
            }
            ShapeWord::Time => text.push('@'),
            ShapeWord::Token => text.push('~'),
            ShapeWord::Any => text.push('*'),
            ShapeWord::Run => text.push_str("**"),
        }
    }
}

/// The word with `#` for each number in it; a thousands mark, a decimal point and a colon belong to a number.
fn frame(word: &str) -> String {
    let mut frame = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_numeric() {
            frame.push(letter);
            continue;
        }
        while letters.next_if(|next| next.is_numeric() || matches!(next, '.' | ',' | ':' | '\'')).is_some() {}
        frame.push('#');
    }
    frame
}

/// Whether letters and digits are mixed as in no ordinary word.
fn is_token(word: &str) -> bool {
    const LETTERS_MIN: usize = 8;
    let core = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let digits = core.chars().filter(char::is_ascii_digit).count();
    let letters = core.chars().filter(char::is_ascii_alphabetic).count();
    let separate = core.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mixed = separate.filter(|part| {
        part.bytes().any(|byte| byte.is_ascii_digit()) && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    digits + letters >= LETTERS_MIN && digits >= 2 && letters >= 2 && mixed.count() > 0
}

/// Whether this is a token, including one that has few letters by chance.
fn may_be_token(word: &str) -> bool {
    const LETTERS_MIN: usize = 12;
    let core = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    is_token(word) || (core.len() >= LETTERS_MIN && core.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether this is a number or a word of dates.
pub(super) fn is_number(word: &str) -> bool {
    (word.chars().any(char::is_numeric) && !is_token(word)) || is_time(word)
}
