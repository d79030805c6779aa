//! The parts of a query: brackets, quotes, names of fields and words.

use super::fault::QueryFault;

pub type Read<T> = Result<T, QueryFault>;

/// One part of a query.
pub struct Token {
    /// Where it begins.
    pub column: usize,
    pub what: What,
}

#[derive(PartialEq)]
pub enum What {
    Open,
    Close,
    /// A hyphen before something.
    Minus,
    /// `name:` right before something.
    Field(String),
    Word(String),
    Quoted(String),
}

/// Cuts a query into its parts.
pub fn tokens(text: &str) -> Read<Vec<Token>> {
    let letters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        let (letter, column) = (letters[at], at + 1);
        let what = match letter {
            _ if letter.is_whitespace() => {
                at += 1;
                continue;
            }
            '(' => What::Open,
            ')' => What::Close,
            '-' if letters.get(at + 1).is_some_and(|next| !next.is_whitespace()) => What::Minus,
            '"' => {
                let length = letters[at + 1..].iter().position(|letter| *letter == '"');
                let length = length.ok_or_else(|| QueryFault::new(column, "this quote is never closed"))?;
                let inside = letters[at + 1..at + 1 + length].iter().collect();
                at += length + 1;
                What::Quoted(inside)
            }
            _ => word(&letters, &mut at),
        };
        at += 1;
        tokens.push(Token { column, what });
    }
    Ok(tokens)
}

/// A word, or the name of a field with its colon. Leaves `at` on its last letter.
fn word(letters: &[char], at: &mut usize) -> What {
    let from = *at;
    let ends = |letter: &char| letter.is_whitespace() || matches!(letter, '(' | ')' | '"');
    let to = letters[from..].iter().position(ends).map_or(letters.len(), |length| from + length);
    let colon = letters[from..to].iter().position(|letter| *letter == ':').map(|length| from + length);
    if let Some(colon) = colon.filter(|&colon| colon > from) {
        let name: String = letters[from..colon].iter().collect();
        // What follows a colon within a word, such as `http://`, is no field.
        let is_name = name.chars().all(|letter| letter.is_ascii_alphabetic());
        let is_url = letters[colon + 1..to].starts_with(&['/', '/']);
        if is_name && !is_url {
            *at = colon;
            return What::Field(name.to_ascii_lowercase());
        }
    }
    *at = to - 1;
    What::Word(letters[from..to].iter().collect())
}
