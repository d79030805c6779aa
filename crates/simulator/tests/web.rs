//! Laws of the invented web: what it says of itself is what it serves.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may fail as tests do")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;

use vernal_model::{Moment, Span, Url};
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::web::{
    Answer, Behaviour, Class, Expected, PageNumber, Request, Target, TruthPage, Web, WebSettings,
};

fn web(settings: WebSettings) -> Web {
    Web::new(settings).unwrap()
}

fn ask(web: &Web, site: usize, path_and_query: &str, now: Moment) -> Answer {
    web.answer(&Request { site, path_and_query, ..Request::default() }, now)
}

fn later(web: &Web, days: u64) -> Moment {
    web.settings().origin + Span::from_days(days)
}

fn quiet(settings: WebSettings) -> WebSettings {
    WebSettings { noise: false, ..settings }
}

/// Every link of an HTML body, as written. Only for pages that we wrote ourselves.
fn hrefs(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(body);
    text.split("<a href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|link| link.replace("&amp;", "&"))
        .collect()
}

/// The site and path behind a link found on a page.
fn follow(web: &Web, base: &Url, link: &str) -> Option<(usize, String)> {
    let url = base.join(link).unwrap();
    let site = web.site_of_host(url.site_text())?;
    Some((site, url.path_and_query().to_owned()))
}

#[test]
fn the_same_chance_number_gives_the_same_bytes() {
    let settings = WebSettings::realistic(3, 60);
    let (one, two) = (web(settings.clone()), web(settings.clone()));
    let other = web(WebSettings { chance: 2, ..settings });
    let now = later(&one, 40);
    assert_eq!(one.truth(), two.truth());
    assert_ne!(one.truth(), other.truth());
    for page in one.truth() {
        assert_eq!(ask(&one, page.site, &page.path, now), ask(&two, page.site, &page.path, now), "{}", page.url);
    }
}

#[test]
fn a_crawl_from_the_first_page_reaches_exactly_what_the_truth_says() {
    for settings in [WebSettings::plain(2, 150), WebSettings::realistic(12, 120)] {
        let web = web(settings);
        let now = later(&web, 1);
        let truth = web.truth();
        for site in 0..web.sites() {
            let met = crawl(&web, site, now);
            let of_site = truth.iter().filter(|page| page.site == site);
            let reachable: BTreeSet<PageNumber> =
                of_site.filter(|page| page.reachable || page.path == "/").map(|page| page.page).collect();
            let failing = truth.iter().all(|page| page.site != site || !page.reachable);
            assert!(
                failing || met == reachable,
                "site {site}: {:?}",
                met.symmetric_difference(&reachable).collect::<Vec<_>>()
            );
        }
    }
}

/// The listed pages of a site that links lead to, following only pages that may be read and followed.
fn crawl(web: &Web, site: usize, now: Moment) -> BTreeSet<PageNumber> {
    let mut met = BTreeSet::new();
    let mut waiting = VecDeque::from(["/".to_owned()]);
    while let Some(path) = waiting.pop_front() {
        let Target::Page { page, mirrors: 0 } = web.target(site, &path) else { continue };
        let truth = web.truth_of(page);
        if !met.insert(page) || !truth.allowed || truth.is_trap || truth.class == Class::NoFollow {
            continue;
        }
        if matches!(truth.class, Class::Bomb | Class::Silent) {
            continue;
        }
        let answer = ask(web, site, &path, now);
        let base = Url::parse(&web.url(page)).unwrap();
        let moved = answer.header("Location").map(str::to_owned);
        let links = hrefs(&answer.body).into_iter().chain(moved);
        waiting.extend(links.filter_map(|link| follow(web, &base, &link)).filter(|to| to.0 == site).map(|to| to.1));
    }
    met
}

#[test]
fn robots_rules_exclude_exactly_the_pages_the_truth_calls_forbidden() {
    let web = web(WebSettings::realistic(12, 200));
    let now = later(&web, 1);
    let mut forbidden = 0;
    for page in web.truth() {
        let rules = rules_of(&web, page.site, now);
        let allowed = match &rules {
            Ok(rules) => allows(rules, &page.path),
            Err(404) => true,
            Err(_) => false,
        };
        assert_eq!(allowed, page.allowed, "{} by {:?}", page.url, rules);
        forbidden += u32::from(!page.allowed);
    }
    assert!(forbidden > 50);
}

/// The rules for everybody, read in the plainest way; or the status.
fn rules_of(web: &Web, site: usize, now: Moment) -> Result<Vec<(bool, String)>, u16> {
    let mut answer = ask(web, site, "/robots.txt", now);
    if answer.status == 301 {
        let to = answer.header("Location").unwrap().to_owned();
        answer = ask(web, site, &to, now);
    }
    if answer.status != 200 {
        return Err(answer.status);
    }
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    let (mut rules, mut for_us, mut naming) = (Vec::new(), false, false);
    for line in text.lines() {
        let line = line.split('#').next().unwrap().trim();
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim().to_owned();
        match key.to_ascii_lowercase().as_str() {
            "user-agent" => {
                for_us = value == "*" || (naming && for_us);
                naming = true;
                continue;
            }
            "allow" if for_us => rules.push((true, value)),
            "disallow" if for_us && !value.is_empty() => rules.push((false, value)),
            _ => {}
        }
        naming = false;
    }
    Ok(rules)
}

/// The longest rule wins, and Allow wins a tie.
fn allows(rules: &[(bool, String)], path: &str) -> bool {
    let matching = rules.iter().filter(|(_, pattern)| matches(pattern, path));
    matching.max_by_key(|(allow, pattern)| (pattern.len(), *allow)).is_none_or(|(allow, _)| *allow)
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern.strip_suffix('$').map_or(path.starts_with(pattern), |whole| path == whole),
        Some((before, after)) => path.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches(after, &rest[at..]))
        }),
    }
}

#[test]
fn bodies_and_validators_change_exactly_when_the_version_does() {
    let settings = quiet(WebSettings::realistic(4, 60));
    let web =
        web(WebSettings { drift: DriftSettings { changes_per_day_median: 0.3, ..settings.drift.clone() }, ..settings });
    let held = |page: &TruthPage| page.class.expected() == Expected::Held && page.class != Class::Busy;
    for page in web.truth().into_iter().filter(held) {
        let mut bodies: BTreeMap<u32, Answer> = BTreeMap::new();
        let mut seen: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        for day in 0..30 {
            let now = later(&web, day * 3);
            let version = web.version_at(page.page, now);
            let answer = ask(&web, page.site, &page.path, now);
            assert_eq!(answer.status, 200, "{}", page.url);
            assert_eq!(*seen.entry(answer.body.to_vec()).or_insert(version), version, "{} day {day}", page.url);
            let first = bodies.entry(version).or_insert_with(|| answer.clone());
            assert_eq!(first.body, answer.body, "{} version {version}", page.url);
            assert_eq!(first.header("Last-Modified"), answer.header("Last-Modified"));
        }
        let modified: BTreeSet<&str> = bodies.values().filter_map(|answer| answer.header("Last-Modified")).collect();
        assert!(modified.is_empty() || modified.len() == bodies.len(), "{}", page.url);
        let tags: BTreeSet<&str> = bodies.values().filter_map(|answer| answer.header("ETag")).collect();
        assert!(tags.is_empty() || tags.len() == bodies.len(), "{}", page.url);
    }
}

#[test]
fn an_etag_stays_while_the_version_stays_unless_it_lies() {
    let web = web(WebSettings::realistic(4, 100).still());
    let (mut liars, mut honest) = (0, 0);
    for page in web.truth().into_iter().filter(|page| page.class == Class::Article) {
        let tag = |days| ask(&web, page.site, &page.path, later(&web, days)).header("ETag").map(str::to_owned);
        match (tag(1), tag(2)) {
            (Some(one), Some(two)) if one != two => liars += 1,
            (Some(_), Some(_)) => honest += 1,
            none => assert_eq!(none, (None, None)),
        }
    }
    assert!(liars > 3 && honest > 10 * liars, "{liars} of {honest}");
}

#[test]
fn a_matching_validator_gets_a_304_and_a_stale_one_the_body() {
    let web = web(WebSettings { drift: DriftSettings::independent(0.2), ..WebSettings::realistic(3, 80) });
    let (first, second) = (later(&web, 5), later(&web, 50));
    let mut unchanged = 0;
    for page in web.truth().into_iter().filter(|page| page.class == Class::Article && page.allowed) {
        let (site, path) = (page.site, page.path.as_str());
        let answer = ask(&web, site, path, first);
        let (etag, modified) = (answer.header("ETag"), answer.header("Last-Modified"));
        for (if_none_match, if_modified_since) in [(etag, None), (None, modified), (etag, modified)] {
            if if_none_match.is_none() && if_modified_since.is_none() {
                continue;
            }
            let request = Request { site, path_and_query: path, if_none_match, if_modified_since, accepts_gzip: true };
            let again = web.answer(&request, first);
            assert_eq!(again.status, 304, "{}", page.url);
            assert!(again.body.is_empty());
            let changed = web.changes_between(page.page, first, second) > 0;
            let is_liar = etag.is_some() && etag != ask(&web, site, path, first + Span::from_micros(1)).header("ETag");
            let expected = if changed || (is_liar && if_none_match.is_some()) { 200 } else { 304 };
            assert_eq!(web.answer(&request, second).status, expected, "{}", page.url);
            unchanged += u32::from(!changed);
        }
    }
    assert!(unchanged < 20);
}

#[test]
fn noise_blurs_the_bytes_and_not_the_version() {
    let noisy = web(WebSettings { noise: true, ..WebSettings::plain(1, 20) }.still());
    for page in noisy.truth() {
        let (now, then) = (later(&noisy, 1), later(&noisy, 1) + Span::from_secs(61));
        assert_ne!(ask(&noisy, 0, &page.path, now).body, ask(&noisy, 0, &page.path, then).body);
        assert_eq!(noisy.changes_between(page.page, now, then), 0);
        assert!(noisy.cache_key(&Request { path_and_query: &page.path, ..Request::default() }, now).is_none());
    }
}

#[test]
fn redirects_end_within_three_hops_and_loops_never_do() {
    let web = web(WebSettings::realistic(6, 200));
    let (mut longest, mut loops) = (0, 0);
    for page in web.truth().into_iter().filter(|page| page.class.expected() == Expected::Moved) {
        let (mut path, mut hops) = (page.path.clone(), 0);
        while hops < 10 {
            let answer = ask(&web, page.site, &path, later(&web, 1));
            let Some(to) = answer.header("Location") else { break };
            assert!(matches!(answer.status, 301 | 302));
            hops += 1;
            if to.starts_with("http") {
                assert_eq!(page.class, Class::RedirectAway);
                break;
            }
            path = to.to_owned();
        }
        assert_eq!(page.class == Class::RedirectLoop, hops == 10, "{}", page.url);
        longest = longest.max(if hops == 10 { 0 } else { hops });
        loops += u32::from(hops == 10);
    }
    assert!(loops > 0);
    assert_eq!(longest, 3);
}

#[test]
fn a_busy_page_is_free_when_it_said_it_would_be() {
    let web = web(WebSettings::realistic(4, 200));
    let busy: Vec<TruthPage> = web.truth().into_iter().filter(|page| page.class == Class::Busy).collect();
    assert!(!busy.is_empty());
    for page in busy {
        let now = later(&web, 0);
        let answer = ask(&web, page.site, &page.path, now);
        assert_eq!(answer.status, 503);
        let wait = answer.header("Retry-After").unwrap().parse().unwrap();
        assert_eq!(ask(&web, page.site, &page.path, now + Span::from_secs(wait)).status, 200);
    }
}

#[test]
fn traps_go_on_for_ever() {
    let web = web(WebSettings::realistic(12, 40));
    let traps: Vec<TruthPage> = web.truth().into_iter().filter(|page| page.is_trap).collect();
    assert!(traps.len() >= 10);
    for trap in traps {
        let mut seen = BTreeSet::from([trap.path.clone()]);
        let mut waiting = vec![trap.path.clone()];
        while seen.len() < 200 {
            let path = waiting.pop().unwrap_or_else(|| panic!("{} has only {} pages", trap.url, seen.len()));
            let answer = ask(&web, trap.site, &path, later(&web, 1));
            assert_eq!(answer.status, 200, "{path}");
            let base = Url::parse(&format!("{}{path}", web.root(trap.site))).unwrap();
            for link in hrefs(&answer.body) {
                let Some((_, link)) = follow(&web, &base, &link) else { continue };
                if is_within(&web, trap.site, &link) && is_article(&web, trap.site, &link) && seen.insert(link.clone())
                {
                    waiting.push(link);
                }
            }
        }
    }
}

/// Mirrored files, errors and redirects lead no further.
fn is_article(web: &Web, site: usize, path: &str) -> bool {
    !matches!(web.target(site, path), Target::Page { page, mirrors: 1.. } if web.class(page) != Class::Article)
}

fn is_within(web: &Web, site: usize, path: &str) -> bool {
    match web.target(site, path) {
        Target::Trap(_) => true,
        Target::Page { page, mirrors } => mirrors > 0 || web.truth_of(page).is_trap,
        _ => false,
    }
}

#[test]
fn the_bench_page_has_the_size_and_the_links_that_its_figures_are_given_for() {
    let web = web(WebSettings::bench());
    assert_eq!(web.pages(), 4_711);
    let (mut bytes, mut packed) = (0, 0);
    let sample: Vec<PageNumber> = web.pages_of(0).step_by(47).collect();
    for &page in &sample {
        let request = Request { path_and_query: web.path(page), accepts_gzip: true, ..Request::default() };
        let answer = web.answer(&request, later(&web, 0));
        let mut body = Vec::new();
        flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut body).unwrap();
        let base = Url::parse(&web.url(page)).unwrap();
        let links: BTreeSet<Url> = hrefs(&body).iter().map(|link| base.join(link).unwrap()).collect();
        assert_eq!(links.len(), 42, "{}", web.url(page));
        bytes += body.len();
        packed += answer.body.len();
    }
    let (bytes, packed) = (bytes / sample.len(), packed / sample.len());
    assert!((17_000..18_000).contains(&bytes), "{bytes} {packed}");
    assert!((6_300..7_700).contains(&packed), "{packed}");
}

#[test]
fn a_hostile_web_has_every_misbehaviour() {
    let web = web(WebSettings::hostile(4, 200));
    let truth = web.truth();
    for class in [Class::Drip, Class::Endless, Class::CutOff, Class::LyingLength, Class::Silent, Class::Bomb] {
        let page = truth.iter().find(|page| page.class == class).unwrap_or_else(|| panic!("no {class:?}"));
        let answer = ask(&web, page.site, &page.path, later(&web, 1));
        assert_eq!(answer.behaviour == Behaviour::Normal, class == Class::Bomb);
        assert_eq!(class.expected(), Expected::Failed);
    }
}

#[test]
fn old_charsets_are_what_they_are_declared_to_be() {
    let web = web(quiet(WebSettings::realistic(40, 12)));
    let mut met = BTreeSet::new();
    for page in web.truth().into_iter().filter(|page| page.class == Class::Article) {
        let answer = ask(&web, page.site, &page.path, later(&web, 1));
        let text = answer.header("Content-Type").unwrap().to_owned() + &String::from_utf8_lossy(&answer.body[..200]);
        let Some(name) = text.split("charset=").nth(1) else { continue };
        let name = name.trim_start_matches('"').split(['"', '<', '\n', ' ']).next().unwrap();
        let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
        assert!(!encoding.decode_without_bom_handling(&answer.body).1, "{}", page.url);
        met.insert(encoding.name());
    }
    assert_eq!(met.into_iter().collect::<Vec<_>>(), ["Shift_JIS", "UTF-8", "windows-1251", "windows-1252"]);
}

#[test]
fn a_sitemap_lists_the_pages_to_be_held_and_no_forbidden_one() {
    let web = web(WebSettings::realistic(3, 80));
    let text = String::from_utf8(ask(&web, 0, "/sitemap.xml", later(&web, 9)).body.to_vec()).unwrap();
    let listed: BTreeSet<&str> = text.split("<loc>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    let truth = web.truth();
    let held: BTreeSet<&str> =
        truth.iter().filter(|page| page.site == 0 && page.must_be_held()).map(|page| page.url.as_str()).collect();
    assert_eq!(listed, held);
}
