//! The tokens of the folder at work: looked up for each request, made and revoked meanwhile.
//!
//! The process that holds the folder's lock is the only one that writes the file. What was made or revoked counts for the very
//! next request.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use vernal_model::{Moment, Span};
use vernal_repository::{AccessToken, Error, Role, TOKEN_NAME_BYTES_MAX, TOKENS_MAX, is_token_name};

use super::secret::{digest, is_same, new_token};

/// The last use is kept to the hour: it tells which tokens nobody needs, and costs a write an hour at most.
const LAST_USE_STEP: Span = Span::from_hours(1);
/// Longer texts are no tokens of ours.
const TOKEN_BYTES_MAX: usize = 256;

/// The tokens of one data folder.
pub struct AccessTokens {
    dir: PathBuf,
    wall: fn() -> Moment,
    /// `None` until they were read. A file that cannot be read is tried again by the next who asks.
    known: Mutex<Option<Vec<AccessToken>>>,
    /// Held while the file is written, so that no change overtakes another.
    writing: Mutex<()>,
}

/// Whose token this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    pub name: String,
    pub role: Role,
}

/// A token that was just made. Only its owner will ever have its text.
#[derive(Debug)]
pub struct NewToken {
    pub kept: AccessToken,
    pub text: String,
}

/// Why tokens cannot be told, made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "`{0}` is no name of a token: give up to {TOKEN_NAME_BYTES_MAX} letters, digits, dots, hyphens and underscores"
    )]
    Name(String),
    #[error("there is a token {0} already; revoke it first, or give another name")]
    Exists(String),
    #[error("there are {TOKENS_MAX} tokens, which is the most there may be; revoke one first")]
    TooMany,
    #[error("the token would have expired already at {0}")]
    Expired(Moment),
    #[error("read random numbers: {0}")]
    Random(std::io::Error),
    #[error(transparent)]
    File(#[from] Error),
    #[error("{0}; the token opens nothing in this process, but it stays in the file until this is mended")]
    NotForGood(Error),
}

type Result<T> = std::result::Result<T, TokenError>;

impl AccessTokens {
    pub fn of_folder(dir: PathBuf, wall: fn() -> Moment) -> AccessTokens {
        AccessTokens { dir, wall, known: Mutex::default(), writing: Mutex::default() }
    }

    /// All tokens, by name.
    pub fn list(&self) -> Result<Vec<AccessToken>> {
        self.with(|tokens| tokens.clone())
    }

    /// Whether any token would open something now.
    pub fn any_at_work(&self) -> Result<bool> {
        let now = (self.wall)();
        self.with(|tokens| tokens.iter().any(|token| !token.has_expired(now)))
    }

    pub fn now(&self) -> Moment {
        (self.wall)()
    }

    /// Whose token this is; `None` for a text that is none, was revoked or has expired.
    pub fn bearer(&self, text: &str) -> Result<Option<Bearer>> {
        if text.is_empty() || text.len() > TOKEN_BYTES_MAX {
            return Ok(None);
        }
        let (digest, now) = (digest(text), (self.wall)());
        let (bearer, is_new_hour) = self.with(|tokens| {
            // All are compared, so that the time tells nothing of which one it was.
            let mut found = None;
            for token in tokens.iter_mut() {
                if is_same(&digest, &token.digest) && !token.has_expired(now) {
                    found = Some(token);
                }
            }
            let Some(token) = found else { return (None, false) };
            let hour = coarse(now);
            let is_new_hour = token.last_used != Some(hour);
            token.last_used = Some(hour);
            (Some(Bearer { name: token.name.clone(), role: token.role }), is_new_hour)
        })?;
        if is_new_hour {
            self.keep_last_use();
        }
        Ok(bearer)
    }

    /// Makes a token. It counts once the file has it.
    pub fn add(&self, name: &str, role: Role, expires: Option<Moment>) -> Result<NewToken> {
        let created = (self.wall)();
        if !is_token_name(name) {
            return Err(TokenError::Name(name.to_owned()));
        }
        if let Some(expires) = expires.filter(|expires| *expires <= created) {
            return Err(TokenError::Expired(expires));
        }
        let text = new_token().map_err(TokenError::Random)?;
        let kept =
            AccessToken { name: name.to_owned(), role, digest: digest(&text), created, expires, last_used: None };
        let _one_at_a_time = self.writing();
        let mut tokens = self.list()?;
        if tokens.iter().any(|token| token.name == name) {
            return Err(TokenError::Exists(name.to_owned()));
        }
        if tokens.len() >= TOKENS_MAX {
            return Err(TokenError::TooMany);
        }
        tokens.push(kept.clone());
        tokens.sort_by(|a, b| a.name.cmp(&b.name));
        vernal_repository::write_tokens(&self.dir, &tokens)?;
        self.with(|known| *known = tokens)?;
        Ok(NewToken { kept, text })
    }

    /// Revokes a token; false where there is none of this name. It opens nothing from now on, even where the file cannot be
    /// written.
    pub fn revoke(&self, name: &str) -> Result<bool> {
        let _one_at_a_time = self.writing();
        let (was_there, left) = self.with(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != name);
            (tokens.len() < before, tokens.clone())
        })?;
        if was_there {
            vernal_repository::write_tokens(&self.dir, &left).map_err(TokenError::NotForGood)?;
        }
        Ok(was_there)
    }

    /// Writes the last uses where nothing else is being written. One that is lost costs an hour of what is known.
    fn keep_last_use(&self) {
        let Ok(_one_at_a_time) = self.writing.try_lock() else { return };
        let written = self.list().map(|tokens| vernal_repository::write_tokens(&self.dir, &tokens));
        if let Ok(Err(error)) = written {
            tracing::warn!("keep when tokens were used: {error}");
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Vec<AccessToken>) -> T) -> Result<T> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let tokens = match &mut *known {
            Some(tokens) => tokens,
            None => known.insert(vernal_repository::read_tokens(&self.dir)?),
        };
        Ok(act(tokens))
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hour in which a Moment lies.
fn coarse(moment: Moment) -> Moment {
    let step = LAST_USE_STEP.micros() as i64;
    Moment::from_micros(moment.micros().div_euclid(step) * step)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// The time of one test, which each test sets on its own thread.
    fn hour() -> Moment {
        NOW.with(|now| Moment::from_micros(now.load(Ordering::Relaxed)))
    }

    thread_local! {
        static NOW: AtomicI64 = const { AtomicI64::new(1_800_000_000_000_000) };
    }

    fn pass(span: Span) {
        NOW.with(|now| now.fetch_add(span.micros() as i64, Ordering::Relaxed));
    }

    fn of(dir: &tempfile::TempDir) -> AccessTokens {
        AccessTokens::of_folder(dir.path().to_owned(), hour)
    }

    fn role_of(tokens: &AccessTokens, text: &str) -> Option<Role> {
        tokens.bearer(text).unwrap().map(|bearer| bearer.role)
    }

    #[test]
    fn a_token_opens_from_its_making_to_its_revoking_and_across_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let tokens = of(&dir);
        assert!(!tokens.any_at_work().unwrap());
        let one = tokens.add("one", Role::Read, None).unwrap();
        let two = tokens.add("two", Role::Operate, None).unwrap();
        assert_eq!(role_of(&tokens, &one.text), Some(Role::Read));
        let later = of(&dir);
        assert_eq!(role_of(&later, &two.text), Some(Role::Operate));
        assert!(later.any_at_work().unwrap());
        assert!(later.revoke("two").unwrap() && !later.revoke("two").unwrap());
        assert_eq!(role_of(&later, &two.text), None);
        assert_eq!(role_of(&of(&dir), &two.text), None);
        assert_eq!(role_of(&of(&dir), &one.text), Some(Role::Read));
        for wrong in ["", "one", &one.text[..one.text.len() - 1], &format!("{} ", one.text), &"x".repeat(5_000)] {
            assert_eq!(role_of(&tokens, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_file_has_nobodys_token() {
        let dir = tempfile::tempdir().unwrap();
        let made = of(&dir).add("one", Role::Admin, None).unwrap();
        let bytes = std::fs::read(dir.path().join("tokens")).unwrap();
        let digits = made.text.trim_start_matches("vernal_").as_bytes();
        assert!(!bytes.windows(16).any(|part| digits.windows(16).any(|own| own == part)));
    }

    #[test]
    fn an_expired_token_opens_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let tokens = of(&dir);
        let made = tokens.add("short", Role::Read, Some(hour() + Span::from_secs(60))).unwrap();
        pass(Span::from_secs(59));
        assert_eq!(role_of(&tokens, &made.text), Some(Role::Read));
        pass(Span::from_secs(1));
        assert_eq!(role_of(&tokens, &made.text), None);
        assert!(!tokens.any_at_work().unwrap());
        assert!(matches!(tokens.add("past", Role::Read, Some(hour())), Err(TokenError::Expired(_))));
    }

    #[test]
    fn the_last_use_is_kept_to_the_hour_and_survives() {
        let dir = tempfile::tempdir().unwrap();
        let tokens = of(&dir);
        let made = tokens.add("one", Role::Read, None).unwrap();
        let used = |tokens: &AccessTokens| tokens.list().unwrap()[0].last_used;
        assert_eq!(used(&tokens), None);
        role_of(&tokens, &made.text);
        let first = used(&of(&dir));
        assert_eq!(first, Some(coarse(hour())));
        pass(Span::from_hours(3));
        role_of(&tokens, &made.text);
        assert_eq!(used(&of(&dir)), first.map(|first| first + Span::from_hours(3)));
        assert_eq!(coarse(Moment::from_secs(7_199)), Moment::from_secs(3_600));
    }

    #[test]
    fn names_are_plain_and_taken_once_and_there_are_only_so_many() {
        let dir = tempfile::tempdir().unwrap();
        let tokens = of(&dir);
        assert!(matches!(tokens.add("a b", Role::Read, None), Err(TokenError::Name(_))));
        for number in 0..TOKENS_MAX {
            tokens.add(&format!("t{number}"), Role::Read, None).unwrap();
        }
        assert!(matches!(tokens.add("t0", Role::Read, None), Err(TokenError::Exists(_))));
        assert!(matches!(tokens.add("more", Role::Read, None), Err(TokenError::TooMany)));
        assert_eq!(of(&dir).list().unwrap().len(), TOKENS_MAX);
    }

    #[test]
    fn a_damaged_file_locks_out_and_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let made = of(&dir).add("one", Role::Admin, None).unwrap();
        let path = dir.path().join("tokens");
        let good = std::fs::read(&path).unwrap();
        let mut bad = good.clone();
        bad[20] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        let tokens = of(&dir);
        assert!(tokens.bearer(&made.text).is_err() && tokens.any_at_work().is_err() && tokens.list().is_err());
        assert!(tokens.add("two", Role::Admin, None).is_err() && tokens.revoke("one").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), bad);
        std::fs::write(&path, &good).unwrap();
        assert_eq!(role_of(&tokens, &made.text), Some(Role::Admin), "a file that was restored counts at once");
    }

    #[test]
    fn a_revoked_token_opens_nothing_even_where_the_file_cannot_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let tokens = of(&dir);
        let made = tokens.add("one", Role::Admin, None).unwrap();
        // A folder in the place of the file that is to be written.
        std::fs::create_dir(dir.path().join("tokens.new")).unwrap();
        assert!(matches!(tokens.revoke("one"), Err(TokenError::NotForGood(_))));
        assert_eq!(role_of(&tokens, &made.text), None);
    }
}
