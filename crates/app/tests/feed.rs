//! The feed for whoever keeps copies of pages, and its listing for people: the real binary on small webs that are edited.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::edited::{Edited, shared_pairs, visit};
use common::replica::Replica;
use common::{Running, json_lines, refused, run, told, vernal};
use serde_json::Value;
use vernal_model::Chance;

fn events(data: &Path, extra: &[&str]) -> Vec<Value> {
    json_lines(&told(vernal(data).args(["changes", "--json"]).args(extra)))
}

/// A page of a site with a menu, a sidebar and a footer.
#[derive(Clone)]
struct Template {
    posts: u32,
    year: u32,
    style: &'static str,
    menu: [&'static str; 3],
    edition: u32,
}

impl Template {
    const FIRST: Template =
        Template { posts: 286, year: 2025, style: "a", menu: ["Home page", "All posts", "About us"], edition: 1 };

    fn page(&self, number: usize, main: &str) -> String {
        let Template { posts, year, style, menu, edition } = self;
        let menu: String = menu.iter().map(|item| format!("<li>{item}</li>")).collect();
        format!(
            "<html><head><title>Page {number} - edition {edition}</title><link rel=stylesheet href=\"/{style}.css\"></head><body>\
             <nav><ul>{menu}</ul></nav><main><h1>Page {number}</h1>{main}</main>\
             <aside><p>Page {number} of {posts} posts</p></aside><footer>© {year} The author</footer></body></html>"
        )
    }
}

fn path(number: usize) -> String {
    format!("/page-{number}")
}

/// A front page that links to all pages.
fn front(pages: usize) -> String {
    let links: String = (0..pages).map(|number| format!("<a href=\"{}\">{number}</a> ", path(number))).collect();
    format!("<html><body><p>All pages: {links}</p></body></html>")
}

fn write(web: &Edited, template: &Template, mains: &[String]) {
    for (number, main) in mains.iter().enumerate() {
        web.edit(&path(number), template.page(number, main));
    }
}

fn prose(chance: &mut Chance) -> String {
    const WORDS: [&str; 12] = [
        "river", "stone", "lantern", "quiet", "market", "winter", "garden", "letter", "harbour", "copper", "meadow",
        "candle",
    ];
    let sentences = (0..2 + chance.below(3)).map(|_| {
        let words: Vec<&str> = (0..4 + chance.below(5)).map(|_| WORDS[chance.below(12) as usize]).collect();
        format!("The {}.", words.join(" "))
    });
    sentences.collect::<Vec<String>>().join(" ")
}

/// One edit of a list of paragraphs, as people make them.
fn edit(page: &mut Vec<String>, chance: &mut Chance) {
    let (at, to) = (chance.below(page.len() as u64) as usize, chance.below(page.len() as u64) as usize);
    match chance.below(7) {
        0 => page[at] = page[at].replacen("The ", "The old ", 1),
        1 => page.insert(at, prose(chance)),
        2 if page.len() > 2 => _ = page.remove(at),
        3 => {
            let moved = page.remove(at);
            page.insert(to.min(page.len()), moved);
        }
        4 => {
            if let Some((one, two)) = page[at].clone().split_once(". ") {
                page[at] = format!("{one}.");
                page.insert(at + 1, two.to_owned());
            }
        }
        5 if at + 1 < page.len() => {
            let next = page.remove(at + 1);
            page[at] = format!("{} {next}", page[at]);
        }
        _ => *page = vec![prose(chance), prose(chance)],
    }
}

fn mains(pages: &[Vec<String>]) -> Vec<String> {
    pages.iter().map(|page| page.iter().map(|words| format!("<p>{words}</p>")).collect()).collect()
}

#[test]
fn a_copy_kept_by_the_feed_alone_is_what_blame_shows_at_every_step() {
    const PAGES: usize = 12;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut chance = Chance::new(11);
    let mut pages: Vec<Vec<String>> = (0..PAGES).map(|_| (0..4).map(|_| prose(&mut chance)).collect()).collect();
    let web = Edited::serve(&[("/", front(PAGES))]);
    let mut template = Template::FIRST;
    let mut replica = Replica::default();
    for step in 0..7 {
        match step {
            2 => template.posts += 1,
            3 => template.year += 1,
            4 => template.menu.swap(1, 2),
            5 => template.style = "b",
            _ => {}
        }
        write(&web, &template, &mains(&pages));
        visit(&data, &web.url("/"));
        replica.follow(&data);
        assert_eq!(replica.assert_is_that_of(&data), PAGES + 1, "step {step}");
        for _ in 0..8 {
            let page = chance.below(PAGES as u64) as usize;
            edit(&mut pages[page], &mut chance);
        }
    }
    // Whoever begins today gets there too, from a stopped crawl and from one that runs.
    let mut late = Replica::default();
    late.follow(&data);
    assert_eq!(late.assert_is_that_of(&data), PAGES + 1);
    let stopped = events(&data, &["--pages"]);
    let running = Running::start(run(&data).args(["--budget", "1/week"]), &data);
    assert_eq!(events(&data, &["--pages"]), stopped);
    assert_eq!(running.stop(), Some(0));
    let split: Vec<&Value> = stopped
        .iter()
        .flat_map(|event| event["paragraphs"].as_array().unwrap())
        .filter(|one| one["op"] == "split" || one["op"] == "merged")
        .collect();
    assert!(split.len() > 2, "{}", split.len());
    for one in split {
        let parts = one["parts"].as_array().unwrap();
        assert!(
            parts.len() > 1 && parts.iter().all(|part| part["id"].is_string() && part["text"].is_string()),
            "{one}"
        );
    }
}

#[test]
fn real_pages_are_followed_through_all_versions_that_we_have_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let Some(labels) = shared_pairs(dir.path()) else { return };
    let mut chains: BTreeMap<(String, String), Vec<(i64, String)>> = BTreeMap::new();
    for label in json_lines(&labels) {
        let text = |name: &str| label[name].as_str().unwrap_or_default().to_owned();
        chains.entry((text("repo"), text("path"))).or_default().push((label["time"].as_i64().unwrap_or(0), text("id")));
    }
    let read = |id: &str, side: &str| {
        let bytes = std::fs::read(dir.path().join(format!("html/{id}.{side}.html"))).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let versions: Vec<Vec<String>> = chains
        .into_values()
        .map(|mut chain| {
            chain.sort();
            chain.iter().flat_map(|(_, id)| [read(id, "before"), read(id, "after")]).collect()
        })
        .collect();
    // Most pages have two versions, so that the few with more are visited in a crawl of their own.
    let (long, short): (Vec<_>, Vec<_>) = versions.into_iter().partition(|versions| versions.len() > 2);
    let compared = followed(&dir.path().join("short"), &short) + followed(&dir.path().join("long"), &long);
    assert!(compared > 400, "{compared}");
}

/// Serves one version of each page after the other, follows the feed, and gives the number of pages that are held as
/// `blame` shows them.
fn followed(data: &Path, pages: &[Vec<String>]) -> usize {
    let web = Edited::serve(&[]);
    let seeds: Vec<String> = (0..pages.len()).map(|number| web.url(&path(number))).collect();
    let mut replica = Replica::default();
    for round in 0..pages.iter().map(Vec::len).max().unwrap_or(0) {
        for (number, versions) in pages.iter().enumerate() {
            if let Some(body) = versions.get(round) {
                web.edit(&path(number), body.clone());
            }
        }
        let mut command = run(data);
        command.args(["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s", "--scope", "page"]);
        told(command.args(&seeds));
        replica.follow(data);
    }
    let compared = replica.assert_is_that_of(data);
    assert!(replica.events as f64 > 1.8 * compared as f64, "{} events of {compared} pages", replica.events);
    compared
}

#[test]
fn what_many_pages_share_is_one_row_of_the_site_and_an_edit_of_a_page_its_own() {
    const PAGES: usize = 50;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let web = Edited::serve(&[("/", front(PAGES))]);
    let main = |number: usize| format!("<p>These are the words of page {number}, which stay.</p>");
    let mut mains: Vec<String> = (0..PAGES).map(main).collect();
    let mut template = Template::FIRST;
    write(&web, &template, &mains);
    visit(&data, &web.url("/"));
    let mut since = events(&data, &["--latest", "1"])[0]["cursor"].as_str().unwrap().to_owned();
    let changes: [fn(&mut Template); 4] = [
        |template| template.posts = 287,
        |template| template.year = 2026,
        |template| template.style = "b",
        |template| template.menu.swap(1, 2),
    ];
    for (step, change) in changes.iter().enumerate() {
        change(&mut template);
        mains[step] = format!("{}<p>What page {step} alone says is news, and of no other page.</p>", mains[step]);
        write(&web, &template, &mains);
        visit(&data, &web.url("/"));
        let listed = events(&data, &["--since", &since]);
        let of_site: Vec<&Value> = listed.iter().filter(|event| event["event"] == "template").collect();
        assert_eq!((listed.len(), of_site.len()), (2, 1), "step {step}: {listed:#?}");
        assert_eq!(of_site[0]["pages"], 50, "{}", of_site[0]);
        let own = listed.iter().find(|event| event["event"] == "changed").unwrap();
        assert_eq!(own["url"], web.url(&path(step)));
        assert_eq!(own["part_of"], serde_json::json!([of_site[0]["fold"]]));
        let operations: Vec<(&str, &str)> = own["paragraphs"].as_array().unwrap().iter().map(operation).collect();
        assert_eq!(operations, [("added", "main")], "{own}");
        assert_eq!(own["notes"], serde_json::json!([]), "{own}");
        let sample = of_site[0]["sample"].as_array().unwrap();
        assert_eq!(sample.len(), 5);
        let replaced = sample.iter().filter(|page| page["replaced"] == true && page["cursor"].is_string()).count();
        assert!(replaced >= 4, "{sample:?}");
        check_views(&data, &since, own);
        since = events(&data, &["--pages", "--since", &since]).last().unwrap()["cursor"].as_str().unwrap().to_owned();
    }
    // Each page has a title of its own, and the name of the site in it.
    template.edition = 2;
    write(&web, &template, &mains);
    visit(&data, &web.url("/"));
    let listed = events(&data, &["--since", &since]);
    let told: Vec<(&Value, &Value)> = listed.iter().map(|event| (&event["event"], &event["pages"])).collect();
    assert_eq!(told, [(&"template".into(), &50.into())], "{listed:#?}");
    assert_eq!(operation(&listed[0]["paragraphs"][0]), ("edited", "title"));
}

fn operation(paragraph: &Value) -> (&str, &str) {
    (paragraph["op"].as_str().unwrap(), paragraph["role"].as_str().unwrap())
}

/// The other views of one step: every page has its event, main text is alone, and the table reads well.
fn check_views(data: &Path, since: &str, own: &Value) {
    let every = events(data, &["--pages", "--since", since]);
    let of_pages: BTreeSet<&str> = every
        .iter()
        .filter(|event| event["event"] == "changed" && !event["part_of"].as_array().unwrap().is_empty())
        .filter_map(|event| event["url"].as_str())
        .collect();
    assert_eq!(of_pages.len(), 50);
    let of_main = events(data, &["--role", "main", "--since", since]);
    assert_eq!(of_main.len(), 1, "{of_main:#?}");
    assert_eq!((&of_main[0]["id"], &of_main[0]["left"]), (&own["id"], &serde_json::json!(["content"])));
    let of_site = events(data, &["--event", "template,gone", "--since", since]);
    assert_eq!((of_site.len(), &of_site[0]["event"]), (1, &"template".into()));
    let table = told(vernal(data).args(["changes", "--since", since]));
    assert!(table.contains("on 50 pages: ") && table.contains("added: What page"), "{table}");
    assert!(!table.contains("mark ") && !table.contains("- →") && !table.contains("→ -"), "{table}");
}

#[test]
fn the_first_screen_is_not_a_thousand_new_pages_and_the_newest_come_when_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mains: Vec<String> = (0..12).map(|number| format!("<p>These are the words of page {number}.</p>")).collect();
    let web = Edited::serve(&[("/", front(12))]);
    write(&web, &Template::FIRST, &mains);
    visit(&data, &web.url("/"));
    let site = web.address.to_string();
    let table = told(vernal(&data).arg("changes"));
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.contains(&format!("13 new pages of {site} (--event new lists them)")), "{table}");
    assert_eq!(told(vernal(&data).args(["changes", "--event", "new"])).lines().count(), 14);
    let all = events(&data, &[]);
    assert_eq!(all.len(), 13);
    assert_eq!(events(&data, &["--latest", "4"]), all[9..]);
    assert_eq!(events(&data, &["--latest", "4", "--limit", "2"]), all[9..11]);
    let cursor = all[10]["cursor"].as_str().unwrap();
    assert_eq!(events(&data, &["--latest", "4", "--since", cursor]), all[11..]);
    assert_eq!(events(&data, &["--event", "gone,changed"]), [Value::Null; 0]);
    for (arguments, words) in [
        (vec!["changes", "--event", "newer"], "is no kind of event"),
        (vec!["changes", "--role", "side"], "side"),
        (vec!["changes", "--pages", "--kind", "content"], "--pages"),
        (vec!["changes", "--follow", "--latest", "3"], "--latest"),
    ] {
        let (code, complaint) = refused(vernal(&data).args(&arguments));
        assert_eq!(code, 2, "{arguments:?}: {complaint}");
        assert!(complaint.contains(words), "{arguments:?}: {complaint}");
    }
}

#[test]
fn a_body_that_was_not_kept_is_said_to_be_missing_and_the_next_one_brings_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let web = Edited::serve(&[]);
    let url = web.url("/");
    let said = |head: &str, words: &str| {
        format!(
            "<html><head><title>Words</title>{head}</head><body><p>Some words that stay here.</p><p>{words}</p></body></html>"
        )
    };
    let secret = "<meta name=robots content=noarchive>";
    for (head, words) in [("", "The first."), (secret, "The second is secret."), ("", "The third can be read again.")] {
        web.edit("/", said(head, words));
        visit(&data, &url);
    }
    let told_of = events(&data, &["--pages"]);
    let steps: Vec<(&Value, &Value, bool)> = told_of
        .iter()
        .map(|event| (&event["version"], &event["replica"]["whole"], event["replica"]["missing"].is_string()))
        .collect();
    let (yes, no) = (&Value::Bool(true), &Value::Bool(false));
    assert_eq!(steps, [(&1.into(), yes, false), (&2.into(), no, true), (&3.into(), yes, false)], "{told_of:#?}");
    let missing = told_of[1]["replica"]["missing"].as_str().unwrap();
    assert!(missing.contains("version 2") && missing.contains("asked not to be archived"), "{missing}");
    let mut replica = Replica::default();
    replica.follow(&data);
    assert_eq!(replica.assert_is_that_of(&data), 1);
    // What a compaction gives up is missing to whoever comes later, who gets the whole from the newest version.
    web.edit("/", said("", "The fourth is the last."));
    visit(&data, &url);
    told(vernal(&data).args(["compact", "--keep-versions", "1"]));
    let told_of = events(&data, &["--pages"]);
    assert!(told_of[0]["replica"]["missing"].as_str().unwrap().contains("compact"), "{told_of:#?}");
    assert_eq!(told_of[3]["replica"]["whole"], true);
    let mut late = Replica::default();
    late.follow(&data);
    assert_eq!(late.assert_is_that_of(&data), 1);
    replica.follow(&data);
    assert_eq!(replica.assert_is_that_of(&data), 1);
}
