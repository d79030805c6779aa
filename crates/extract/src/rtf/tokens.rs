//! The letters, words and groups of an RTF file.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'b> {
    Open,
    Close,
    /// A control word with its number.
    Word(&'b str, Option<i32>),
    /// A control symbol other than a letter.
    Symbol(u8),
    /// A byte written as two digits.
    Byte(u8),
    /// Text of the file as it stands there.
    Text(&'b [u8]),
}

/// Longer control words are nonsense.
const WORD_BYTES_MAX: usize = 40;

pub struct Tokens<'b> {
    bytes: &'b [u8],
    place: usize,
}

impl<'b> Tokens<'b> {
    pub fn of(bytes: &'b [u8]) -> Self {
        Tokens { bytes, place: 0 }
    }

    fn word(&mut self) -> Option<Token<'b>> {
        let start = self.place;
        let letters =
            self.bytes[start..].iter().take(WORD_BYTES_MAX).take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters == 0 {
            let symbol = *self.bytes.get(start)?;
            self.place += 1;
            if symbol != b'\'' {
                return Some(Token::Symbol(symbol));
            }
            let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
            let (high, low) = (digit(self.bytes.get(start + 1)), digit(self.bytes.get(start + 2)));
            let (Some(high), Some(low)) = (high, low) else { return Some(Token::Symbol(b'*')) };
            self.place += 2;
            return Some(Token::Byte((high * 16 + low) as u8));
        }
        let name = std::str::from_utf8(&self.bytes[start..start + letters]).unwrap_or_default();
        self.place += letters;
        let is_negative = self.bytes.get(self.place) == Some(&b'-');
        let first = self.place + usize::from(is_negative);
        let digits =
            self.bytes[first.min(self.bytes.len())..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let mut number = None;
        if digits > 0 {
            let text = std::str::from_utf8(&self.bytes[first..first + digits]).unwrap_or_default();
            let value = text.parse::<i64>().unwrap_or_default().min(i64::from(i32::MAX)) as i32;
            number = Some(if is_negative { -value } else { value });
            self.place = first + digits;
        }
        if self.bytes.get(self.place) == Some(&b' ') {
            self.place += 1;
        }
        Some(Token::Word(name, number))
    }

    /// Passes over bytes that are no text, such as those of a picture.
    pub fn pass_over(&mut self, count: usize) {
        self.place = self.place.saturating_add(count).min(self.bytes.len());
    }
}

impl<'b> Iterator for Tokens<'b> {
    type Item = Token<'b>;

    fn next(&mut self) -> Option<Token<'b>> {
        loop {
            let byte = *self.bytes.get(self.place)?;
            match byte {
                b'{' => {
                    self.place += 1;
                    return Some(Token::Open);
                }
                b'}' => {
                    self.place += 1;
                    return Some(Token::Close);
                }
                b'\\' => {
                    self.place += 1;
                    return self.word();
                }
                b'\r' | b'\n' | 0 => self.place += 1,
                _ => {
                    let start = self.place;
                    let ends = |byte: &u8| matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0);
                    let length = self.bytes[start..].iter().position(ends).unwrap_or(self.bytes.len() - start);
                    self.place += length;
                    return Some(Token::Text(&self.bytes[start..self.place]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_bytes_and_text_are_told_apart() {
        let tokens: Vec<Token<'_>> = Tokens::of(b"{\\rtf1\\li-20 a b\\'e4\\~\\par}").collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                Token::Word("rtf", Some(1)),
                Token::Word("li", Some(-20)),
                Token::Text(b"a b"),
                Token::Byte(0xe4),
                Token::Symbol(b'~'),
                Token::Word("par", None),
                Token::Close
            ]
        );
        assert_eq!(Tokens::of(b"\\").count(), 0);
        assert_eq!(Tokens::of(b"\\'z").collect::<Vec<_>>(), [Token::Symbol(b'*'), Token::Text(b"z")]);
    }
}
