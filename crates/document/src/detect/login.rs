//! Tells a redirect to a login form by its target. Such a redirect is a wall in front of the page: the page has not moved.

use vernal_model::Url;

/// Last path segments that say "log in" whatever else the URL says, without hyphens, underscores and file extension.
const LOGIN_SEGMENTS: [&str; 15] = [
    "login",
    "signin",
    "logon",
    "signon",
    "wplogin",
    "userlogin",
    "loginform",
    "loginpage",
    "anmelden",
    "anmeldung",
    "einloggen",
    "connexion",
    "iniciarsesion",
    "inloggen",
    "logowanie",
];

/// Path segments and first labels of hosts that belong to a login only if the URL also says where to return to.
const AUTHORITY_WORDS: [&str; 20] = [
    "auth",
    "authenticate",
    "authentication",
    "authorize",
    "authorise",
    "oauth",
    "oauth2",
    "oidc",
    "openid",
    "openidconnect",
    "sso",
    "saml",
    "saml2",
    "idp",
    "adfs",
    "cas",
    "passport",
    "identity",
    "account",
    "accounts",
];

/// Parameters that say where to return to, in lower case without hyphens and underscores.
const RETURN_PARAMETERS: [&str; 31] = [
    "next",
    "return",
    "returnto",
    "returnurl",
    "returnuri",
    "returnpath",
    "redirect",
    "redirectto",
    "redirecturl",
    "redirecturi",
    "redir",
    "rd",
    "rurl",
    "continue",
    "continueurl",
    "dest",
    "destination",
    "target",
    "targeturl",
    "goto",
    "back",
    "backurl",
    "backto",
    "service",
    "from",
    "origin",
    "relaystate",
    "samlrequest",
    "requesturi",
    "callbackurl",
    "successurl",
];

/// Whether a redirect from one URL to another leads to a login form. A login page that moves is no wall, and a lasting redirect
/// without a way back may just as well be a page that moved.
pub(crate) fn leads_to_login(from: &Url, to: &Url, permanent: bool) -> bool {
    if ends_in_login(from) {
        return false;
    }
    let returns = says_where_to_return(to);
    let path = to.path();
    let is_login = |segment: &str| LOGIN_SEGMENTS.contains(&bare(segment).as_str());
    let is_authority = |word: &str| AUTHORITY_WORDS.contains(&bare(word).as_str()) || is_login(word);
    let label = to.host().split('.').next().unwrap_or_default();
    match returns {
        true => path.split('/').any(is_authority) || (to.host() != from.host() && is_authority(label)),
        false => !permanent && ends_in_login(to),
    }
}

fn ends_in_login(url: &Url) -> bool {
    let last = url.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    LOGIN_SEGMENTS.contains(&bare(last).as_str())
}

fn says_where_to_return(url: &Url) -> bool {
    let pairs = url.query().into_iter().flat_map(|query| query.split('&')).filter_map(|pair| pair.split_once('='));
    pairs.filter(|(_, value)| !value.is_empty()).any(|(name, _)| RETURN_PARAMETERS.contains(&joined(name).as_str()))
}

/// A segment without its extension (`login.php`), hyphens and underscores.
fn bare(segment: &str) -> String {
    joined(segment.split(['.', ';']).next().unwrap_or_default())
}

fn joined(word: &str) -> String {
    word.chars().filter(|letter| !matches!(letter, '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(from: &str, to: &str, permanent: bool) -> bool {
        leads_to_login(&Url::parse(from).unwrap(), &Url::parse(to).unwrap(), permanent)
    }

    #[test]
    fn a_target_that_asks_to_log_in_is_told_by_its_path_or_by_where_it_returns_to() {
        let from = "https://a.example/docs/plan";
        for to in [
            "https://a.example/login",
            "https://a.example/user/login.php",
            "https://a.example/users/sign_in",
            "https://a.example/wp-login.php?redirect_to=https%3A%2F%2Fa.example%2Fdocs%2Fplan&reauth=1",
            "https://a.example/signin/?next=/docs/plan",
            "https://a.example/auth/realms/x?redirect_uri=https%3A%2F%2Fa.example%2F",
            "https://sso.b.example/start?service=https%3A%2F%2Fa.example%2F",
            "https://accounts.b.example/v3/choose?continue=https%3A%2F%2Fa.example%2F",
            "https://a.example/oauth2/authorize?client_id=1&redirect_uri=x",
            "https://a.example/Account/LogOn?ReturnUrl=%2Fdocs%2Fplan",
        ] {
            assert!(judged(from, to, false), "{to}");
        }
    }

    #[test]
    fn a_page_that_moves_is_no_wall() {
        let from = "https://a.example/docs/plan";
        for to in [
            "https://a.example/docs/plan/",
            "https://www.a.example/docs/plan",
            "https://a.example/docs/auth",
            "https://a.example/docs/auth?lang=de",
            "https://a.example/login-troubles.html",
            "https://a.example/blog/sign-in-with-keys?from=",
            "https://a.example/search?from=2&q=x",
            "https://accounts.b.example/",
            "https://a.example/docs/login/intro",
        ] {
            assert!(!judged(from, to, false), "{to}");
        }
        assert!(!judged(from, "https://a.example/login", true), "a lasting redirect without a way back");
        assert!(judged(from, "https://a.example/login?next=/docs/plan", true));
        assert!(
            !judged("https://a.example/login.php", "https://a.example/sign-in?next=/", false),
            "a login that moved"
        );
    }
}
