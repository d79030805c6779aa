//! Tokens with roles: who may ask beyond loopback, and what.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Span};
use vernal_repository::{AccessToken, Role};

use super::access::tokens::{NewToken, TokenError};
use super::answer::{self, ApiError, ApiResult, Many, One};
use super::nouns::Nouns;
use super::parameters::{Fields, Parameters};
use super::shared::{Shared, time};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTokenQuery {
    /// Letters, digits, dots, hyphens and underscores
    name: String,
    /// read, operate or admin; each may do what those before it may
    role: String,
    /// A span such as 90d, a date or RFC 3339 (default: never)
    expires: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfName {
    /// Its name
    name: String,
}

/// One token, without its text.
#[derive(Serialize, JsonSchema)]
pub struct TokenJson {
    name: String,
    #[schemars(with = "String")]
    role: Role,
    created: Option<String>,
    /// To the hour; null for one that was never used.
    last_used: Option<String>,
    expires: Option<String>,
    expired: bool,
}

/// The only answer that ever has the text of a token.
#[derive(Serialize, JsonSchema)]
pub struct NewTokenAnswer {
    #[serde(flatten)]
    kept: TokenJson,
    token: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Revoked {
    revoked: String,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .get("/api/v1/tokens", "Tokens with roles, without their texts", list)
        .post("/api/v1/tokens", "Makes a token; only this answer ever has its text", add)
        .delete("/api/v1/tokens/{name}", "Revokes a token, at once", revoke)
}

pub async fn list(State(shared): State<Arc<Shared>>) -> ApiResult<Many<TokenJson>> {
    let (tokens, now) = (shared.tokens.list()?, shared.tokens.now());
    Ok(answer::lines(move |lines| {
        for token in tokens {
            lines.line(&row(token, now))?;
        }
        Ok(())
    }))
}

pub async fn add(
    State(shared): State<Arc<Shared>>,
    Fields(asked): Fields<NewTokenQuery>,
) -> ApiResult<One<NewTokenAnswer>> {
    let role = asked.role.parse().map_err(ApiError::bad_request)?;
    let now = shared.tokens.now();
    let expires = asked.expires.as_deref().map(|text| expiry(text, now)).transpose()?;
    answer::on_blocking_thread(move || {
        let NewToken { kept, text } = shared.tokens.add(&asked.name, role, expires)?;
        tracing::info!("the token {} was made, with the role {role}", kept.name);
        Ok(answer::value(&NewTokenAnswer { kept: row(kept, now), token: text }))
    })
    .await
}

pub async fn revoke(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfName>,
) -> ApiResult<One<Revoked>> {
    answer::on_blocking_thread(move || match shared.tokens.revoke(&asked.name)? {
        true => {
            tracing::info!("the token {} was revoked", asked.name);
            Ok(answer::value(&Revoked { revoked: asked.name }))
        }
        false => Err(ApiError::not_found(format!("there is no token {}", asked.name))),
    })
    .await
}

/// A span from now on, or a point in time.
fn expiry(text: &str, now: Moment) -> Result<Moment, ApiError> {
    if let Ok(span) = Span::parse(text) {
        return Ok(now + span);
    }
    Moment::parse(text, now).map_err(|_| {
        ApiError::bad_request(format!("`{text}` is no expiry: give a span such as 90d, a date or RFC 3339"))
    })
}

fn row(token: AccessToken, now: Moment) -> TokenJson {
    TokenJson {
        expired: token.has_expired(now),
        name: token.name,
        role: token.role,
        created: time(token.created),
        last_used: token.last_used.and_then(time),
        expires: token.expires.and_then(time),
    }
}

impl From<TokenError> for ApiError {
    fn from(error: TokenError) -> ApiError {
        let status = match error {
            TokenError::Name(_) | TokenError::Expired(_) => StatusCode::BAD_REQUEST,
            TokenError::Exists(_) | TokenError::TooMany => StatusCode::CONFLICT,
            TokenError::Random(_) | TokenError::File(_) | TokenError::NotForGood(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        ApiError::new(status, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_a_span_from_now_on_or_a_time() {
        let now = Moment::from_secs(1_800_000_000);
        assert_eq!(expiry("90d", now).unwrap(), now + Span::from_days(90));
        assert_eq!(expiry("2027-06-01", now).unwrap().rfc3339(), "2027-06-01T00:00:00.000Z");
        for text in ["", "soon", "90", "-1d"] {
            assert_eq!(expiry(text, now).unwrap_err().status, StatusCode::BAD_REQUEST, "{text}");
        }
    }
}
