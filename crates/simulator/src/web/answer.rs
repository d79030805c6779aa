//! One request, one Moment, one answer. Nothing is remembered between requests.

use std::sync::OnceLock;

use bytes::Bytes;
use vernal_model::Moment;

use super::charset::Declared;
use super::class::{Class, Trap};
use super::plan::{PageNumber, Target, ValidatorManner, Web};
use super::robots::{self, RobotsManner};
use super::{files, traps};

/// A slow page keeps its reader waiting so long, in real milliseconds.
const SLOW_MS: u64 = 300;
/// A dripping page sends so many bytes, one at a time, before it falls silent.
const DRIP_BYTES: usize = 64;
/// A huge page has so many bytes.
const HUGE_BYTES: u64 = 64 << 20;

#[derive(Copy, Clone, Debug, Default)]
pub struct Request<'a> {
    pub site: usize,
    /// As it stands in the request line.
    pub path_and_query: &'a str,
    pub if_none_match: Option<&'a str>,
    pub if_modified_since: Option<&'a str>,
    pub accepts_gzip: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Content-Length and Transfer-Encoding are left to whoever sends it.
    pub headers: Vec<(&'static str, String)>,
    /// Content-encoded. For endless and huge answers, the piece that is repeated.
    pub body: Bytes,
    pub behaviour: Behaviour,
}

/// How the body travels.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    Normal,
    /// In chunks, without a Content-Length.
    Chunked,
    /// Ordinary, after a wait.
    Slow {
        wait_ms: u64,
    },
    /// A byte per write, then nothing more, with the connection left open.
    Drip {
        bytes: usize,
    },
    /// The body again and again for ever.
    Endless,
    /// The body again and again up to so many bytes.
    Huge {
        bytes: u64,
    },
    /// The connection ends after so many bytes of the body.
    CutOff {
        after: usize,
    },
    /// A Content-Length that is not the body's.
    LyingLength {
        declared: u64,
    },
    /// Not a single byte.
    Silent,
}

/// The key of an answer that is the same for every request while its version lasts.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    pub page: PageNumber,
    pub version: u32,
    pub gzip: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn new(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("Content-Type", content_type.to_owned())];
        Answer { status, headers, body: body.into(), behaviour: Behaviour::Normal }
    }

    fn short(status: u16, title: &str) -> Self {
        let body = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><title>{title}</title></head>\n<body><h1>{title}</h1>\n<p><a href=\"/\">Home</a></p></body></html>\n"
        );
        Self::new(status, "text/html; charset=utf-8", body)
    }

    fn moved(status: u16, to: String) -> Self {
        let mut answer = Self::short(status, "Moved");
        answer.headers.push(("Location", to));
        answer
    }

    fn with(mut self, behaviour: Behaviour) -> Self {
        self.behaviour = behaviour;
        self
    }

    fn packed(mut self) -> Self {
        self.body = files::gzip(&self.body).into();
        self.headers.push(("Content-Encoding", "gzip".to_owned()));
        self
    }
}

impl Web {
    pub fn answer(&self, request: &Request<'_>, now: Moment) -> Answer {
        let site = &self.plan.sites[request.site];
        match self.target(request.site, request.path_and_query) {
            Target::Page { page, mirrors } => self.page_answer(request, page, mirrors, now),
            Target::Trap(trap) => {
                let html = traps::html(trap, request.path_and_query, &site.chance);
                Answer::new(200, "text/html; charset=utf-8", html)
            }
            Target::Robots => self.robots_answer(request),
            Target::Sitemap => Answer::new(200, "application/xml", self.sitemap(request.site, now)),
            Target::Asset => {
                let (content_type, body) = files::asset(self.settings(), request.path_and_query, now);
                Answer::new(200, content_type, body)
            }
            Target::Nothing => Answer::short(404, "Not found"),
        }
    }

    /// The key under which the answer to this request may be cached, if it is a whole body that does not depend on the
    /// time. `None` also where a 304 is due.
    pub fn cache_key(&self, request: &Request<'_>, now: Moment) -> Option<CacheKey> {
        let Target::Page { page, mirrors: 0 } = self.target(request.site, request.path_and_query) else { return None };
        let plan = &self.plan.pages[page.index()];
        let lasts = plan.class.drifts() && plan.class != Class::Busy && plan.validators != ValidatorManner::Lying;
        if !lasts || (self.plan.settings.noise && !is_file(plan.class)) {
            return None;
        }
        let version = self.version_at(page, now);
        if self.not_modified(request, page, version, now) {
            return None;
        }
        Some(CacheKey { page, version, gzip: request.accepts_gzip })
    }

    fn robots_answer(&self, request: &Request<'_>) -> Answer {
        let site = &self.plan.sites[request.site];
        let is_first_place = request.path_and_query.starts_with("/robots.txt");
        match site.robots {
            RobotsManner::Absent => Answer::short(404, "Not found"),
            RobotsManner::Failing => Answer::short(503, "Service unavailable"),
            RobotsManner::Moved if is_first_place => Answer::moved(301, "/rules/robots.txt".to_owned()),
            _ if !is_first_place && site.robots != RobotsManner::Moved => Answer::short(404, "Not found"),
            _ => Answer::new(200, "text/plain; charset=utf-8", robots::text(site, self.root(request.site))),
        }
    }

    fn page_answer(&self, request: &Request<'_>, page: PageNumber, mirrors: u16, now: Moment) -> Answer {
        let plan = &self.plan.pages[page.index()];
        match plan.class {
            Class::Redirect | Class::RedirectLoop | Class::RedirectAway => self.redirect_answer(page),
            Class::Missing => Answer::short(404, "Not found"),
            Class::Gone => Answer::short(410, "Gone"),
            Class::ServerError => Answer::short(500, "Internal server error"),
            Class::Busy => match self.busy_secs_left(page, now) {
                Some(secs) => {
                    let mut answer = Answer::short(503, "Service unavailable");
                    answer.headers.push(("Retry-After", secs.to_string()));
                    answer
                }
                None => self.content(request, page, mirrors, now),
            },
            Class::SoftMissing => soft_missing(),
            Class::Login => login(),
            Class::Slow => self.content(request, page, mirrors, now).with(Behaviour::Slow { wait_ms: SLOW_MS }),
            Class::Trap(Trap::Mirror) => self.page_answer(request, self.home(request.site), 1 + mirrors, now),
            Class::Trap(trap) => {
                let html = traps::html(trap, request.path_and_query, &self.plan.sites[request.site].chance);
                Answer::new(200, "text/html; charset=utf-8", html)
            }
            Class::Huge | Class::Drip | Class::Endless | Class::CutOff | Class::LyingLength | Class::Silent => {
                self.misbehaving(page, now)
            }
            Class::Bomb => {
                static BOMB: OnceLock<Bytes> = OnceLock::new();
                let body = BOMB.get_or_init(|| files::bomb().into()).clone();
                let mut answer = Answer::new(200, "text/html; charset=utf-8", body);
                answer.headers.push(("Content-Encoding", "gzip".to_owned()));
                answer
            }
            _ => self.content(request, page, mirrors, now),
        }
    }

    fn home(&self, site: usize) -> PageNumber {
        PageNumber(self.plan.sites[site].first)
    }

    fn redirect_answer(&self, page: PageNumber) -> Answer {
        let plan = &self.plan.pages[page.index()];
        let target = PageNumber(plan.target);
        let is_away = self.plan.pages[target.index()].site != plan.site;
        let to = if is_away { self.url(target) } else { self.path(target).to_owned() };
        Answer::moved(if plan.chance.stream("moved").happens(0.6) { 301 } else { 302 }, to)
    }

    /// How long the page stays busy, if it is. It is busy first, counted from the origin, and then free by turns.
    fn busy_secs_left(&self, page: PageNumber, now: Moment) -> Option<u64> {
        let turn = self.plan.settings.busy_secs;
        let since = now.since(self.plan.settings.origin).micros() / 1_000_000 + 97 * u64::from(page.0) * 2 * turn;
        (since / turn).is_multiple_of(2).then_some(turn - since % turn)
    }

    fn misbehaving(&self, page: PageNumber, now: Moment) -> Answer {
        let answer = Answer::new(200, "text/html; charset=utf-8", self.html(page, 0, now, 0));
        let length = answer.body.len();
        let behaviour = match self.plan.pages[page.index()].class {
            Class::Huge => Behaviour::Huge { bytes: HUGE_BYTES },
            Class::Drip => Behaviour::Drip { bytes: DRIP_BYTES },
            Class::Endless => Behaviour::Endless,
            Class::CutOff => Behaviour::CutOff { after: length / 2 },
            Class::LyingLength => Behaviour::LyingLength { declared: length as u64 * 3 },
            _ => Behaviour::Silent,
        };
        answer.with(behaviour)
    }

    /// The body of a page that has one, or a 304.
    fn content(&self, request: &Request<'_>, page: PageNumber, mirrors: u16, now: Moment) -> Answer {
        let version = self.version_at(page, now);
        if self.not_modified(request, page, version, now) {
            let headers = self.validators(page, version, now);
            return Answer { status: 304, headers, body: Bytes::new(), behaviour: Behaviour::Normal };
        }
        let plan = &self.plan.pages[page.index()];
        let site = &self.plan.sites[plan.site as usize];
        let mut answer = if is_file(plan.class) {
            let (content_type, body) = self.file(page, version);
            Answer::new(200, content_type, body)
        } else {
            let html = self.html(self.original(page), version, now, mirrors);
            let content_type = match plan.declared(site.charset) {
                Declared::InHeader => format!("text/html; charset={}", site.charset.name()),
                Declared::InMeta | Declared::Nowhere => "text/html".to_owned(),
            };
            let mut answer = Answer::new(200, &content_type, site.charset.encode(html));
            answer.headers.push(("Content-Language", site.language.tag().to_owned()));
            answer
        };
        answer.headers.extend(self.validators(page, version, now));
        if plan.class == Class::Duplicate {
            let canonical = self.url(self.original(page));
            answer.headers.push(("Link", format!("<{canonical}>; rel=\"canonical\"")));
        }
        if plan.chance.stream("chunked").happens(self.plan.settings.share.chunked) {
            answer.behaviour = Behaviour::Chunked;
        }
        let packs = request.accepts_gzip && site.compresses && !matches!(plan.class, Class::Pdf | Class::Image);
        if packs { answer.packed() } else { answer }
    }

    fn validators(&self, page: PageNumber, version: u32, now: Moment) -> Vec<(&'static str, String)> {
        let mut headers = Vec::with_capacity(2);
        if let Some(etag) = self.etag(page, version, now) {
            headers.push(("ETag", etag));
        }
        let manner = self.plan.pages[page.index()].validators;
        if matches!(manner, ValidatorManner::Both | ValidatorManner::ModifiedOnly) {
            headers.push(("Last-Modified", self.modified(page, now).http_date()));
        }
        headers
    }

    fn etag(&self, page: PageNumber, version: u32, now: Moment) -> Option<String> {
        let chance = self.plan.pages[page.index()].chance.stream("etag");
        let of = |number: u64| chance.numbered(number).bits();
        match self.plan.pages[page.index()].validators {
            ValidatorManner::None | ValidatorManner::ModifiedOnly => None,
            ValidatorManner::Lying => Some(format!("\"{:016x}\"", of(now.micros() as u64))),
            ValidatorManner::Weak => Some(format!("W/\"{:016x}\"", of(u64::from(version)))),
            ValidatorManner::EtagOnly | ValidatorManner::Both => Some(format!("\"{:016x}\"", of(u64::from(version)))),
        }
    }

    /// RFC 9110, 13.2.2: If-None-Match alone decides where it is given, compared weakly.
    fn not_modified(&self, request: &Request<'_>, page: PageNumber, version: u32, now: Moment) -> bool {
        if let Some(given) = request.if_none_match {
            let Some(etag) = self.etag(page, version, now) else { return false };
            let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
            return given.trim() == "*" || given.split(',').any(|tag| bare(tag) == bare(&etag));
        }
        let manner = self.plan.pages[page.index()].validators;
        let tells = matches!(manner, ValidatorManner::Both | ValidatorManner::ModifiedOnly);
        let given = request.if_modified_since.filter(|_| tells).and_then(Moment::parse_http_date);
        given.is_some_and(|given| self.modified(page, now).secs() <= given.secs())
    }
}

/// Bodies that noise does not reach.
pub(super) fn is_file(class: Class) -> bool {
    matches!(class, Class::Pdf | Class::Image | Class::Feed | Class::Json)
}

fn soft_missing() -> Answer {
    let body = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>404 - Page not found</title></head>\n<body><h1>Page not found</h1>\n\
        <p>Sorry, the page you are looking for does not exist or has been removed.</p>\n<p><a href=\"/\">Home</a></p></body></html>\n";
    Answer::new(200, "text/html; charset=utf-8", body)
}

fn login() -> Answer {
    let body = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Log in</title></head>\n<body><h1>Please log in to continue</h1>\n\
        <form action=\"/login\" method=\"post\"><label>User name <input name=\"username\" type=\"text\"></label>\n\
        <label>Password <input name=\"password\" type=\"password\"></label><button>Log in</button></form></body></html>\n";
    Answer::new(200, "text/html; charset=utf-8", body)
}
