//! A token for a cookie: who gives a token gets a random name for it, which is all that the browser keeps.
//!
//! Cookies do not know ports, so another program of the same machine may be shown the cookie: it must not be the token.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use tokio::time::Instant;

/// Sessions that are kept; beyond this the one that was used longest ago ends.
const SESSIONS_MAX: usize = 256;
/// A session that nobody used for so long ends.
const IDLE_MAX: Duration = Duration::from_secs(12 * 3_600);
pub const COOKIE_NAME: &str = "vernal-session";

struct Session {
    name: String,
    token: String,
    used: Instant,
}

/// The sessions of this process. They end with it.
#[derive(Default)]
pub struct Sessions {
    /// The one that was used last stands last.
    rows: Mutex<VecDeque<Session>>,
}

impl Sessions {
    pub fn begin(&self, name: String, token: String) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.len() >= SESSIONS_MAX {
            rows.pop_front();
        }
        rows.push_back(Session { name, token, used: Instant::now() });
    }

    pub fn end(&self, name: &str) {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).retain(|session| session.name != name);
    }

    /// The token of a session that goes on.
    pub fn token(&self, name: &str) -> Option<String> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.retain(|session| session.used.elapsed() < IDLE_MAX);
        let place = rows.iter().position(|session| session.name == name)?;
        let session = rows.remove(place)?;
        let token = session.token.clone();
        rows.push_back(Session { used: Instant::now(), ..session });
        Some(token)
    }
}

/// The value of a cookie.
pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(own, _)| *own == name).map(|(_, value)| value)
}

/// A cookie that lasts so many seconds, or as long as the browser is open.
pub fn set(name: &str, value: &str, for_s: Option<u32>, is_secure: bool) -> String {
    let lasts = for_s.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{lasts}{secure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_when_it_is_told_to_or_nobody_uses_it() {
        let sessions = Sessions::default();
        sessions.begin("a".into(), "token of a".into());
        sessions.begin("b".into(), "token of b".into());
        tokio::time::advance(IDLE_MAX / 2).await;
        assert_eq!(sessions.token("a").as_deref(), Some("token of a"));
        tokio::time::advance(IDLE_MAX / 2).await;
        assert_eq!((sessions.token("b"), sessions.token("x")), (None, None));
        assert_eq!(sessions.token("a").as_deref(), Some("token of a"), "it was used meanwhile");
        sessions.end("a");
        assert_eq!(sessions.token("a"), None);
    }

    #[test]
    fn only_so_many_sessions_are_kept() {
        let sessions = Sessions::default();
        for number in 0..=SESSIONS_MAX {
            sessions.begin(number.to_string(), "token".into());
        }
        assert_eq!(sessions.token("0"), None);
        assert!(sessions.token("1").is_some());
    }

    #[test]
    fn cookies_are_read_by_name() {
        let headers = HeaderMap::from_iter([(COOKIE, "theme=dark; vernal-session=abc".parse().unwrap())]);
        assert_eq!((cookie(&headers, "theme"), cookie(&headers, COOKIE_NAME)), (Some("dark"), Some("abc")));
        assert_eq!(cookie(&headers, "session"), None);
    }
}
