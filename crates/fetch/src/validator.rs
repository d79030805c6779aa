//! ETag and Last-Modified: with them an unchanged page costs little.

use vernal_model::Validators;

use crate::http::head;

/// Longer validators are dropped. The next visit then reads the whole page.
const VALIDATOR_BYTES_MAX: usize = 512;

/// The validators of an answer, as received, for the next visit.
pub fn of_answer(response_head: &[u8]) -> Validators {
    let field = |name| head::field(response_head, name).and_then(usable);
    Validators { etag: field("etag"), last_modified: field("last-modified") }
}

/// The validators after a 304: those that it has replace ours, and the others stay.
pub fn renewed(old: &Validators, new: Validators) -> Validators {
    Validators {
        etag: new.etag.or_else(|| old.etag.clone()),
        last_modified: new.last_modified.or_else(|| old.last_modified.clone()),
    }
}

/// The header lines of a conditional request, as name and value.
pub fn conditions(validators: &Validators) -> impl Iterator<Item = (&'static str, &str)> {
    let lines = [("If-None-Match", &validators.etag), ("If-Modified-Since", &validators.last_modified)];
    lines.into_iter().filter_map(|(name, value)| {
        let value = value.as_deref()?;
        is_usable(value.as_bytes()).then_some((name, value))
    })
}

fn usable(value: &[u8]) -> Option<Box<str>> {
    if !is_usable(value) {
        return None;
    }
    std::str::from_utf8(value).ok().map(Box::from)
}

/// A validator with a character that could end a header line early is never sent back.
fn is_usable(value: &[u8]) -> bool {
    let sendable = |byte: &u8| *byte == b' ' || *byte == b'\t' || (*byte > b' ' && *byte != 0x7f);
    !value.is_empty() && value.len() <= VALIDATOR_BYTES_MAX && value.iter().all(sendable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validators_are_kept_as_received_and_limited() {
        let answer = b"HTTP/1.1 200 OK\r\nETag: W/\"a b\"\r\nLast-Modified: some day\r\n\r\n";
        let kept = of_answer(answer);
        assert_eq!((kept.etag.as_deref(), kept.last_modified.as_deref()), (Some("W/\"a b\""), Some("some day")));
        let long = format!("HTTP/1.1 200 OK\r\nETag: \"{}\"\r\n\r\n", "x".repeat(VALIDATOR_BYTES_MAX));
        assert!(of_answer(long.as_bytes()).is_empty());
    }

    #[test]
    fn no_validator_can_split_a_request() {
        let stored = Validators { etag: Some("\"a\"\r\nX: y".into()), last_modified: Some("ok".into()) };
        assert_eq!(conditions(&stored).collect::<Vec<_>>(), [("If-Modified-Since", "ok")]);
    }

    #[test]
    fn what_a_304_leaves_out_stays() {
        let old = Validators { etag: Some("a".into()), last_modified: Some("b".into()) };
        let new = Validators { etag: Some("c".into()), last_modified: None };
        assert_eq!(renewed(&old, new), Validators { etag: Some("c".into()), last_modified: Some("b".into()) });
    }
}
