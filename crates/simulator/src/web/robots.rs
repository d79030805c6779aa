//! The robots.txt of a site, and the folders that its rules are about.

use super::plan::SitePlan;

/// How a site answers for its robots.txt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum RobotsManner {
    Rules,
    /// The rules, and a crawl delay.
    Delay,
    /// 404: everything is allowed.
    Absent,
    /// 503: nothing is.
    Failing,
    /// The rules lie elsewhere.
    Moved,
}

impl RobotsManner {
    /// The first site is ordinary; the odd ones follow, so that a small web has them all.
    pub fn of_site(number: usize) -> Self {
        match number % 10 {
            1 => RobotsManner::Delay,
            2 => RobotsManner::Absent,
            3 => RobotsManner::Moved,
            4 => RobotsManner::Failing,
            _ => RobotsManner::Rules,
        }
    }
}

/// A folder, and perhaps an ending, that pages are put into to be forbidden.
pub(super) struct Shape {
    pub folder: &'static str,
    pub ending: &'static str,
}

/// Where forbidden pages lie. Each is about one way in which a rule may be misread.
pub(super) const FORBIDDEN: [Shape; 5] = [
    Shape { folder: "/private/", ending: ".html" },
    // Allowed by a short rule, forbidden by a longer one within it.
    Shape { folder: "/archive/open/drafts/", ending: ".html" },
    Shape { folder: "/archive/", ending: ".html" },
    // A wildcard and an end mark.
    Shape { folder: "/scripts/", ending: ".cgi" },
    // A rule for a prefix that is no folder.
    Shape { folder: "/tmp", ending: ".html" },
];

/// Where open pages lie. The last two lie within forbidden ground and are opened by a longer rule.
pub(super) const OPEN: [&str; 6] = ["/news/", "/guides/", "/products/2026/", "/", "/archive/open/", "/private/press-"];

const RULES: &str = "\
# Rules of this site.\r
User-agent: badbot\r
User-agent: worsebot\r
Disallow: /\r
\r
User-agent: *\r
Disallow: /private/\r
Allow: /private/press-\r
Disallow: /archive/\r
Allow: /archive/open/\r
Disallow: /archive/open/drafts/ # not yet\r
\r
Sitemap: ROOT/sitemap.xml\r
\r
# A second group for everybody counts as one with the first (RFC 9309, 2.2.1).\r
user-agent: *\r
DELAYdisallow: /*.cgi$\r
disallow: /tmp\r
disallow:\r
";

/// Seconds that a site with a crawl delay asks for.
pub(super) const CRAWL_DELAY_SECS: u32 = 2;

pub(super) fn text(site: &SitePlan, root: &str) -> String {
    let delay = match site.robots {
        RobotsManner::Delay => format!("Crawl-delay: {CRAWL_DELAY_SECS}\r\n"),
        _ => String::new(),
    };
    RULES.replace("ROOT", root).replace("DELAY", &delay)
}
