//! What a request to the archive names: `/20260501120000/http://a.example/`.

use vernal_model::{Moment, Url};

use crate::memento;

/// A form of the bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Links lead into the archive.
    Page,
    /// The bytes as they came.
    Identity,
    /// The source as plain text.
    Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub moment: Moment,
    pub form: Form,
    pub url: Url,
    /// The URL without what turns scripts on, if that stood at its end.
    pub with_scripts: Option<Url>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("give a moment of 4 to 14 digits and a URL: /20260501120000/http://host/path")]
    Shape,
    #[error("{0}")]
    NotAUrl(memento::NotATarget),
}

/// What turns scripts on, at the end of a URL.
const SCRIPTS: [&str; 2] = ["?scripts=1", "&scripts=1"];

impl Form {
    /// What stands behind the digits.
    pub fn suffix(self) -> &'static str {
        match self {
            Form::Page => "",
            Form::Identity => "id_",
            Form::Source => "raw_",
        }
    }
}

impl Target {
    /// Reads path and query of a request, as they came.
    pub fn read(path_and_query: &str) -> Result<Target, TargetError> {
        let (stamp, rest) = path_and_query.trim_start_matches('/').split_once('/').ok_or(TargetError::Shape)?;
        let (digits, form) = match stamp.strip_suffix(Form::Identity.suffix()) {
            Some(digits) => (digits, Form::Identity),
            None => match stamp.strip_suffix(Form::Source.suffix()) {
                Some(digits) => (digits, Form::Source),
                None => (stamp, Form::Page),
            },
        };
        let moment = memento::of_digits(digits).ok_or(TargetError::Shape)?;
        let url = memento::url_at_end(rest).map_err(TargetError::NotAUrl)?;
        let bare = SCRIPTS.iter().find_map(|end| rest.strip_suffix(end));
        let with_scripts = bare.and_then(|bare| memento::url_at_end(bare).ok());
        Ok(Target { moment, form, url, with_scripts })
    }

    /// The address of a URL at a moment, below the archive's origin.
    pub fn path(moment: Moment, form: Form, url: &str) -> String {
        format!("/{}{}/{url}", moment.fourteen_digits(), form.suffix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_moment_a_form_and_a_url() {
        let read = |text: &str| {
            let target = Target::read(text).unwrap();
            (target.moment.fourteen_digits(), target.form, target.url.to_string())
        };
        let url = "http://a.example/x?y=1&z=http://b.example/";
        let moment = "20260501120000".to_owned();
        for (suffix, form) in [("", Form::Page), ("id_", Form::Identity), ("raw_", Form::Source)] {
            assert_eq!(read(&format!("/20260501120000{suffix}/{url}")), (moment.clone(), form, url.to_owned()));
            let made = Target::path(Moment::parse("20260501120000", Moment::EPOCH).unwrap(), form, url);
            assert_eq!(read(&made), (moment.clone(), form, url.to_owned()));
        }
        for text in ["/", "/favicon.ico", "/20260501", "/x/http://a.example/", "/20269901000000/http://a.example/"] {
            assert_eq!(Target::read(text), Err(TargetError::Shape), "{text}");
        }
        assert!(matches!(Target::read("/2026/file:///etc/passwd"), Err(TargetError::NotAUrl(_))));
    }

    #[test]
    fn scripts_are_asked_for_at_the_end() {
        let bare = |text: &str| Target::read(text).unwrap().with_scripts.map(|url| url.to_string());
        assert_eq!(bare("/2026/http://a.example/?scripts=1").as_deref(), Some("http://a.example/"));
        assert_eq!(bare("/2026/http://a.example/?x=1&scripts=1").as_deref(), Some("http://a.example/?x=1"));
        assert_eq!(bare("/2026/http://a.example/?scripts=10"), None);
    }
}
