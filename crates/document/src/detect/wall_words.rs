//! Words that identify walls, in lower case. Each was seen on real walls. A word that ordinary pages use in their titles does
//! not belong here.

/// Titles and headings of challenge and refusal pages.
pub const CHALLENGE_TITLES: [&str; 23] = [
    "just a moment",
    "attention required!",
    "access to this page has been denied",
    "pardon our interruption",
    "are you a robot",
    "are you human",
    "verify you are human",
    "verify that you are human",
    "verifying you are human",
    "human verification",
    "robot check",
    "bot verification",
    "security check",
    "security verification",
    "checking your browser",
    "ddos protection by",
    "ddos-guard",
    "you have been blocked",
    "you are being rate limited",
    "request unsuccessful. incapsula",
    "request blocked",
    "client challenge",
    "making sure you're not a bot",
];

/// A title of refusals of every kind. It tells a wall against robots only beside a mark of a service that makes such walls.
pub const REFUSAL_TITLE: &str = "access denied";

/// What services against robots put on their refusals, so that a person can complain.
pub const SERVICE_MARKS: [&str; 7] =
    ["reference #", "ray id", "incident id", "incident number", "support id", "event id", "error 1020"];

/// Sentences of challenge pages.
pub const CHALLENGE_SENTENCES: [&str; 18] = [
    "verify you are human",
    "verify that you are human",
    "verifying you are human",
    "verify you are not a robot",
    "verify that you are not a robot",
    "confirm you are human",
    "confirm you're not a robot",
    "prove you are not a robot",
    "complete the captcha",
    "solve the captcha",
    "complete the security check",
    "checking if the site connection is secure",
    "checking your browser before accessing",
    "enable javascript and cookies to continue",
    "unusual traffic from your computer network",
    "access to this page has been denied because we believe you are using automation tools",
    "needs to review the security of your connection",
    "sie kein roboter sind",
];

/// Addresses of frames that replace a page.
pub const CHALLENGE_FRAMES: [&str; 2] = ["/_Incapsula_Resource", "captcha-delivery.com"];

/// Words of pages that ask for a name and a password.
pub const LOGIN_WORDS: [&str; 20] = [
    "log in",
    "log-in",
    "login",
    "sign in",
    "sign-in",
    "signin",
    "anmelden",
    "anmeldung",
    "einloggen",
    "connexion",
    "se connecter",
    "iniciar sesión",
    "acceder",
    "accedi",
    "entrar",
    "inloggen",
    "zaloguj",
    "войти",
    "ログイン",
    "登录",
];

/// Sentences of parked domains.
pub const PARKING_SENTENCES: [&str; 22] = [
    "this domain is for sale",
    "this domain may be for sale",
    "the domain is for sale",
    "domain name is for sale",
    "domain is available for purchase",
    "buy this domain",
    "this domain is parked",
    "this domain name is parked",
    "domain parked",
    "parked free, courtesy of",
    "is parked free",
    "this web page is parked",
    "this domain has recently been registered",
    "this domain has expired",
    "this domain name has expired",
    "domain has been registered and is parked",
    "the owner of this domain has not yet uploaded",
    "future home of something quite cool",
    "diese domain steht zum verkauf",
    "diese domain kaufen",
    "ce domaine est à vendre",
    "este dominio está en venta",
];

/// Targets of the links and frames of parked domains.
pub const PARKING_HOSTS: [&str; 8] = [
    "sedoparking.com",
    "parkingcrew.net",
    "bodis.com",
    "above.com",
    "hugedomains.com",
    "afternic.com",
    "dan.com",
    "parklogic.com",
];

/// Beginnings of titles and headings of missing pages.
pub const MISSING_TITLES: [&str; 36] = [
    "page not found",
    "page cannot be found",
    "page can't be found",
    "page could not be found",
    "page doesn't exist",
    "page does not exist",
    "page no longer exists",
    "page isn't available",
    "this page could not be found",
    "this page doesn't exist",
    "this page does not exist",
    "this page can't be found",
    "the page you requested",
    "the page you were looking for",
    "the page you are looking for",
    "the requested url was not found",
    "sorry, page not found",
    "sorry, this page isn't available",
    "sorry, we couldn't find",
    "sorry, we can't find",
    "oops! page not found",
    "oops! that page can",
    "we couldn't find that page",
    "file not found",
    "not found",
    "nothing found",
    "seite nicht gefunden",
    "diese seite wurde nicht gefunden",
    "page introuvable",
    "página no encontrada",
    "página não encontrada",
    "pagina non trovata",
    "pagina niet gevonden",
    "nie znaleziono strony",
    "страница не найдена",
    "ページが見つかりません",
];

/// What may follow a `404` at the beginning of the title of a missing page.
pub const AFTER_404: [&str; 16] = [
    "not found",
    "error",
    "page",
    "file",
    "oops",
    "sorry",
    "seite",
    "nicht gefunden",
    "introuvable",
    "página",
    "no encontrad",
    "non trovat",
    "niet gevonden",
    "nie znaleziono",
    "не найден",
    "見つかりません",
];
