//! Images, scripts and style sheets that pages use: a crawl that fetches them tells their changes as changes of the page, once.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod small_web;

use small_web::{ROOT, START, SmallWeb, page, said, url};
use vernal_crawler::{Act, Crawler, Requisites, Settings};
use vernal_model::{Event, EventKind, Kind, Kinds, Scope, Seed, Span, Url};
use vernal_repository::{Cursor, Reader, Repository};
use vernal_simulator::trial::Trial;
use vernal_simulator::web::{Web, WebSettings};

const HEAD: &str = "<link rel=\"stylesheet\" href=\"/s.css\"><script src=\"/s.js\"></script>";

fn settings(requisites: Requisites) -> Settings {
    Settings { budget: "400%/day".parse().unwrap(), requisites, ..Settings::default() }
}

/// A page with a style sheet, a script, and an image that it only shows.
fn web(requisites: Requisites) -> SmallWeb {
    let mut web = SmallWeb::with(settings(requisites));
    web.put("/robots.txt", "text/plain", "User-agent: *\nDisallow: /shut/\n");
    web.put("/", "text/html", with_image(&said(0)));
    web.put("/a.png", "image/png", "\u{89}PNG first");
    web.put("/s.css", "text/css", "p { color: red }");
    web.put("/s.js", "text/javascript", "go();");
    web.put("/shut/b.png", "image/png", "\u{89}PNG shut");
    web
}

fn with_image(words: &str) -> String {
    let images = "<img src=\"/a.png\" alt=\"a bus\"><img src=\"/shut/b.png\"><img src=\"http://other.example/c.png\">";
    page(HEAD, words).replace("</body>", &format!("{images}</body>"))
}

fn events(reader: &Reader) -> Vec<Event> {
    let all = reader.events(Cursor::START, usize::MAX).unwrap();
    all.into_iter().map(|(_, _, event)| event).collect()
}

fn told(web: &SmallWeb) -> Vec<Event> {
    events(&web.crawler.reader())
}

#[test]
fn without_the_setting_no_requisite_is_asked_for() {
    let mut web = web(Requisites::None);
    web.run_for(Span::from_days(4));
    assert!(web.asked.iter().all(|(_, path)| path == "/" || path == "/robots.txt"), "{:?}", web.asked);
}

#[test]
fn a_changed_requisite_is_told_once_as_a_change_of_the_page_in_its_kind_and_in_words() {
    let mut web = web(Requisites::Site);
    web.run_for(Span::from_days(3));
    for path in ["/a.png", "/s.css", "/s.js"] {
        assert!(web.asked_for(path, START) > 0, "{path}");
    }
    assert_eq!(web.asked_for("/shut/b.png", START), 0, "robots.txt forbids it");
    assert!(web.asked.iter().all(|(_, path)| !path.ends_with("c.png")), "it lies on another site");
    assert_eq!(told(&web).len(), 1, "the page is new, and nothing else is told");
    for (path, content_type, body, kind, what) in [
        ("/a.png", "image/png", "\u{89}PNG second one", Kind::Content, "image bytes"),
        ("/s.css", "text/css", "p { color: blue }", Kind::Presentation, "style sheet bytes"),
        ("/s.js", "text/javascript", "stop();", Kind::Behaviour, "script bytes"),
    ] {
        let before = told(&web).len();
        web.put(path, content_type, body);
        web.run_for(Span::from_days(20));
        let all = told(&web);
        let [event] = &all[before..] else { panic!("{path}: {:#?}", &all[before..]) };
        assert_eq!((event.kind, event.url.as_str()), (EventKind::Changed, ROOT));
        assert_eq!((event.change.left, event.change.kinds), (Kinds::of(&[kind]), Kinds::of(&[kind])));
        let note = &event.change.notes[0];
        assert_eq!(&*note.what, what);
        assert!(note.after.as_deref().unwrap().starts_with(url(path).as_str()), "{note:?}");
        assert_eq!((event.version, event.previous), (Some(1), Some(1)), "the page itself is as it was");
    }
    web.put("/", "text/html", with_image(&said(1)));
    web.run_for(Span::from_days(10));
    let last = told(&web).pop().unwrap();
    assert_eq!((last.version, last.change.left), (Some(2), Kinds::of(&[Kind::Content])));
    assert!(last.change.notes.iter().all(|note| !note.what.ends_with("bytes")), "they were told before: {last:#?}");
}

#[test]
fn an_image_that_is_linked_or_seeded_is_a_page_in_its_own_right() {
    let mut web = web(Requisites::Site);
    web.put("/", "text/html", with_image(&said(0)).replace("</body>", "<a href=\"/a.png\">a bus</a></body>"));
    web.crawler.act(Act::AddSeeds(vec![Seed::new(url("/s.js"), START)]), START).unwrap();
    web.run_for(Span::from_days(2));
    let new: Vec<String> = told(&web).iter().map(|event| event.url.path().to_owned()).collect();
    assert_eq!(new.len(), 3, "{new:?}");
    assert!(new.contains(&"/a.png".to_owned()) && new.contains(&"/s.js".to_owned()), "{new:?}");
}

#[test]
fn requisites_belong_to_a_page_that_is_the_whole_scope() {
    let mut web = SmallWeb::with(Settings { scope: Scope::Page, depth: Some(0), ..settings(Requisites::Site) });
    let seed = Seed { scope: Scope::Page, ..Seed::new(Url::parse(ROOT).unwrap(), START) };
    web.crawler.act(Act::AddSeeds(vec![seed]), START).unwrap();
    let body = with_image(&said(0)).replace("</body>", "<a href=\"/elsewhere\">on</a></body>");
    web.put("/", "text/html", body);
    web.put("/a.png", "image/png", "\u{89}PNG first");
    web.run_for(Span::from_days(2));
    assert!(web.asked_for("/a.png", START) > 0);
    assert_eq!(web.asked_for("/elsewhere", START), 0);
    let now = web.now;
    let mut in_scope = |path| web.crawler.check(&url(path), now).unwrap().in_scope;
    assert_eq!((in_scope("/a.png"), in_scope("/elsewhere")), (true, false));
}

#[test]
fn the_end_of_a_requisite_and_its_return_are_told_by_the_page() {
    let mut web = web(Requisites::Site);
    web.run_for(Span::from_days(2));
    web.take("/a.png");
    web.run_for(Span::from_days(30));
    let words = |event: &Event| event.change.notes[0].after.clone().unwrap();
    let last = told(&web).pop().unwrap();
    assert!(last.url.as_str() == ROOT && words(&last).ends_with("a.png, gone"), "{last:#?}");
}

/// The sites of the invented web name a style sheet and a script on every page. Each build of them is told by the page on which
/// they were found, as soon as it was fetched, and no page tells anything else, because no page changes.
#[test]
fn on_the_invented_web_each_build_that_was_fetched_is_told_by_one_page_of_its_site() {
    let web = Web::new(WebSettings { assets_hours: 48, ..WebSettings::plain(3, 12).still() }).unwrap();
    let (folder, start) = (tempfile::tempdir().unwrap(), web.settings().origin);
    let (repository, _) = Repository::open(folder.path(), vernal_repository::Settings::default(), start).unwrap();
    let settings = Settings { delay: Span::from_millis(100), ..settings(Requisites::Site) };
    let mut crawler = Crawler::open(repository, settings, start).unwrap();
    let root = |site| Seed::new(Url::parse(&format!("{}/", web.root(site))).unwrap(), start);
    crawler.act(Act::AddSeeds((0..web.sites()).map(root).collect()), start).unwrap();
    let mut trial = Trial::new(&web, crawler, start, 5).committing_every(Span::from_hours(1));
    trial.run_until(start + Span::from_days(10)).unwrap();
    let now = trial.now();
    trial.crawler().commit(now).unwrap();
    let reader = trial.crawler().reader();
    let (mut builds, mut changed) = (0, 0);
    for page in reader.pages(None, usize::MAX).unwrap() {
        let versions = reader.versions(page.key).unwrap().len();
        match page.url.path() {
            "/style.css" | "/app.js" => builds += versions - 1,
            path => assert_eq!(versions, 1, "{path}"),
        }
    }
    for event in events(&reader) {
        assert!(!matches!(event.url.path(), "/style.css" | "/app.js"), "{event:#?}");
        if event.kind == EventKind::Changed {
            assert!(event.is_of_requisite() && event.change.notes.len() == 1, "{event:#?}");
            changed += 1;
        }
    }
    assert_eq!(changed, builds);
    assert!(builds >= 3 * 2 * 3, "{builds}");
}
