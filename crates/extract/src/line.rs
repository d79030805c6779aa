//! A line of words, with links inside.

/// What a table, a list or a paragraph is made of: words with an optional link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    pub text: String,
    pub link: Option<String>,
}

/// A line of words, with links inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub runs: Vec<Run>,
}

impl Line {
    pub fn of(text: impl Into<String>) -> Line {
        Line { runs: vec![Run { text: text.into(), link: None }] }
    }

    pub fn push(&mut self, text: &str, link: Option<&str>) {
        match self.runs.last_mut() {
            Some(last) if last.link.as_deref() == link => last.text.push_str(text),
            _ => self.runs.push(Run { text: text.to_owned(), link: link.map(str::to_owned) }),
        }
    }

    pub fn append(&mut self, other: Line) {
        for run in other.runs {
            self.push(&run.text, run.link.as_deref());
        }
    }

    pub fn is_blank(&self) -> bool {
        self.runs.iter().all(|run| run.text.trim().is_empty())
    }

    pub fn text(&self) -> String {
        self.runs.iter().map(|run| run.text.as_str()).collect()
    }
}
