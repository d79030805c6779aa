//! Rust source as tokens without comments.

/// One token: an identifier, a number, a lifetime, a single punctuation character, or `"` for any string and character.
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// Cuts a text into tokens; comments go.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { letters: text.chars().collect(), at: 0, line: 1, tokens: Vec::new() };
    while let Some(letter) = reader.letter(0) {
        reader.read(letter);
    }
    reader.tokens
}

struct Reader {
    letters: Vec<char>,
    at: usize,
    line: usize,
    tokens: Vec<Token>,
}

impl Reader {
    fn letter(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn go_on(&mut self, letters: usize) {
        for _ in 0..letters {
            self.line += usize::from(self.letter(0) == Some('\n'));
            self.at += 1;
        }
    }

    fn read(&mut self, letter: char) {
        let line = self.line;
        let text = match (letter, self.letter(1)) {
            (letter, _) if letter.is_whitespace() => return self.go_on(1),
            ('/', Some('/')) => return self.skip_until_line_end(),
            ('/', Some('*')) => return self.skip_comment(),
            ('"', _) => self.string(),
            ('\'', _) => self.quote(),
            (letter, _) if letter.is_alphanumeric() || letter == '_' => self.word(),
            (letter, _) => {
                self.go_on(1);
                letter.to_string()
            }
        };
        self.tokens.push(Token { text, line });
    }

    fn skip_until_line_end(&mut self) {
        while self.letter(0).is_some_and(|letter| letter != '\n') {
            self.go_on(1);
        }
    }

    fn skip_comment(&mut self) {
        let mut depth = 0;
        while self.letter(0).is_some() {
            match (self.letter(0), self.letter(1)) {
                (Some('/'), Some('*')) => (depth, _) = (depth + 1, self.go_on(2)),
                (Some('*'), Some('/')) => (depth, _) = (depth - 1, self.go_on(2)),
                _ => self.go_on(1),
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) -> String {
        self.go_on(1);
        while let Some(letter) = self.letter(0) {
            self.go_on(if letter == '\\' { 2 } else { 1 });
            if letter == '"' {
                break;
            }
        }
        "\"".to_owned()
    }

    /// A character, or a lifetime.
    fn quote(&mut self) -> String {
        if self.letter(1) == Some('\\') {
            self.go_on(3);
            while self.letter(0).is_some_and(|letter| letter != '\'') {
                self.go_on(1);
            }
            self.go_on(1);
            return "\"".to_owned();
        }
        if self.letter(2) == Some('\'') {
            self.go_on(3);
            return "\"".to_owned();
        }
        self.go_on(1);
        format!("'{}", self.word())
    }

    /// An identifier or a number; `r"`, `br#"` and their like begin a raw string.
    fn word(&mut self) -> String {
        let begin = self.at;
        while self.letter(0).is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            self.go_on(1);
        }
        let word: String = self.letters[begin..self.at].iter().collect();
        if !matches!(&*word, "r" | "br" | "cr") {
            return word;
        }
        let hashes = (0..).take_while(|&ahead| self.letter(ahead) == Some('#')).count();
        if self.letter(hashes) == Some('"') {
            return self.raw_string(hashes);
        }
        if hashes == 1 {
            self.go_on(1);
            return self.word();
        }
        word
    }

    fn raw_string(&mut self, hashes: usize) -> String {
        self.go_on(hashes + 1);
        while self.letter(0).is_some() {
            let ends = self.letter(0) == Some('"') && (1..=hashes).all(|ahead| self.letter(ahead) == Some('#'));
            self.go_on(if ends { hashes + 1 } else { 1 });
            if ends {
                break;
            }
        }
        "\"".to_owned()
    }
}
