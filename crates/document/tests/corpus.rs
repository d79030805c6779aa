//! The kept cases: pairs of versions with their verdicts, and pages with or without a wall. Adding a case is adding a
//! folder or a file.

use std::path::{Path, PathBuf};

use vernal_document::{Input, Parsed, compare, diff, read, wall};
use vernal_model::{Change, DecidedBy, Digest, Operation, Url, Wall};

fn corpus(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the corpus is there").map(|entry| entry.expect("a case").path()).collect();
    paths.sort();
    paths
}

fn parsed(bytes: &[u8]) -> Parsed {
    let url = Url::parse("https://www.example.org/shop/offers.html").expect("a plain URL");
    // Not SHA-1, but as good at telling two bodies of this corpus apart.
    let mut payload = [0u8; 20];
    for (place, byte) in bytes.iter().enumerate() {
        payload[place % 20] = payload[place % 20].wrapping_mul(31).wrapping_add(*byte);
    }
    read(&Input {
        url: &url,
        bytes,
        content_type: Some("text/html"),
        content_language: None,
        robots_tags: &[],
        payload: Digest(payload),
    })
}

fn told(change: &Change) -> String {
    let decided = match change.decided_by {
        DecidedBy::Validators => "validators",
        DecidedBy::Digest => "digest",
        DecidedBy::Structure => "structure",
        DecidedBy::Content => "content",
        DecidedBy::Presentation => "presentation",
        DecidedBy::Behaviour => "behaviour",
        DecidedBy::Nothing => "nothing",
    };
    let mut told = String::from("kinds:");
    for kind in change.kinds.iter() {
        told += &format!(" {}", kind.name());
    }
    told += &format!("\ndecided: {decided}\n");
    for paragraph in &change.paragraphs {
        let (before, after) = (paragraph.before.as_deref().unwrap_or(""), paragraph.after.as_deref().unwrap_or(""));
        told += &match paragraph.operation {
            Operation::Added => format!("paragraph: added \"{after}\"\n"),
            Operation::Removed => format!("paragraph: removed \"{before}\"\n"),
            Operation::Edited => format!("paragraph: edited \"{before}\" -> \"{after}\"\n"),
            Operation::Moved => format!("paragraph: moved \"{before}\" -> \"{after}\"\n"),
            other => format!("paragraph: {other:?}\n"),
        };
    }
    told
}

#[test]
fn every_pair_gets_its_verdict() {
    let cases: Vec<PathBuf> = corpus("").into_iter().filter(|case| case.join("expected").exists()).collect();
    assert!(cases.len() >= 12);
    for case in cases {
        let old = parsed(&std::fs::read(case.join("old.html")).unwrap());
        let new = parsed(&std::fs::read(case.join("new.html")).unwrap());
        let mut change = compare(&old.signature, &new.signature);
        diff::explain(&old.document, &new.document, &mut change);
        let expected = std::fs::read_to_string(case.join("expected")).unwrap();
        assert_eq!(told(&change), expected, "{}", case.display());
        assert_eq!(change.magnitude > 0.0, !change.paragraphs.is_empty(), "{}", case.display());
        let back = compare(&new.signature, &old.signature);
        assert_eq!((back.kinds, back.decided_by), (change.kinds, change.decided_by), "{} backwards", case.display());
    }
}

#[test]
fn walls_are_told_and_pages_are_left_alone() {
    let cases = corpus("walls");
    assert!(cases.len() >= 25);
    for case in cases {
        let bytes = std::fs::read(&case).unwrap();
        let head = String::from_utf8_lossy(&bytes);
        let mut words = head.split_whitespace().skip(2);
        let status: u16 = words.next().unwrap().parse().unwrap();
        let expected = words.nth(1).unwrap();
        let found = wall(status, &|_| None, Some(&parsed(&bytes)));
        let name = match &found {
            None => "none",
            Some((Wall::Bot, _)) => "bot",
            Some((Wall::Login, _)) => "login",
            Some((Wall::Parking, _)) => "parking",
            Some((Wall::SoftMissing, _)) => "missing",
            Some((Wall::Forbidden, _)) => "forbidden",
        };
        assert_eq!(name, expected, "{}: {found:?}", case.display());
        assert!(found.is_none_or(|(_, evidence)| !evidence.is_empty()));
    }
}

#[test]
fn headers_alone_can_tell_a_wall() {
    let mitigated = |name: &str| (name == "cf-mitigated").then(|| "challenge".to_owned());
    assert_eq!(wall(403, &mitigated, None), Some((Wall::Bot, "header cf-mitigated: challenge".into())));
    let basic = |name: &str| (name == "www-authenticate").then(|| "Basic realm=\"x\"".to_owned());
    assert!(matches!(wall(401, &basic, None), Some((Wall::Login, _))));
    assert_eq!(wall(403, &|_| None, None), None);
    assert_eq!(wall(200, &basic, None), None);
}
