//! Recordings become worlds as they are written, and a slip in them is named by line and column.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::io::Write;

use vernal_model::{Moment, Span};
use vernal_simulator::lab::World;
use vernal_simulator::lab::trace::{Selection, Summary, load_good_rows, read, recrawl};
use vernal_simulator::lab::world::ChangeKind;

const HEAD: &str = "site,page,change_time_unix,bytes,kind\n";
const DAY: i64 = 86_400;

fn rows(rows: &[(&str, &str, i64, &str)]) -> String {
    let row = |&(site, page, day, kind): &(&str, &str, i64, &str)| {
        format!("{site},{page},{},{},{kind}\n", day * DAY, if kind == "delete" { 0 } else { 1_000 })
    };
    HEAD.to_owned() + &rows.iter().map(row).collect::<String>()
}

fn loaded(text: String, selection: &Selection) -> (World, Summary) {
    read(text.as_bytes(), "trace.csv", selection).unwrap()
}

fn window(from: i64, days: f64) -> Selection {
    Selection { from: Some(day(from)), days: Some(days), ..Selection::default() }
}

fn day(day: i64) -> Moment {
    Moment::from_secs(day * DAY)
}

#[test]
fn a_page_lives_from_its_creation_to_its_last_delete_and_a_gap_counts_as_two_changes() {
    let text = rows(&[
        ("a.example", "back.html", 1, "create"),
        ("a.example", "back.html", 12, "delete"),
        ("a.example", "back.html", 14, "create"),
        ("a.example", "back.html", 16, "content"),
        ("a.example", "back.html", 18, "delete"),
        ("a.example", "before.html", 1, "create"),
        ("a.example", "before.html", 5, "delete"),
        ("a.example", "late.html", 13, "create"),
        ("a.example", "late.html", 40, "content"),
        ("a.example", "quiet.html", 2, "create"),
    ]);
    let (world, summary) = loaded(text, &window(10, 10.0));
    let names: Vec<&str> = world.pages.iter().map(|page| &*page.name).collect();
    assert_eq!(names, ["back.html", "late.html", "quiet.html"]);
    let changes: Vec<Moment> = world.changes(0).iter().map(|change| change.moment).collect();
    assert_eq!(changes, [day(12), day(14), day(16)]);
    assert_eq!(world.life(0), (day(10), day(18)));
    assert_eq!(world.life(1), (day(13), day(20)));
    assert!(world.changes(1).is_empty() && world.changes(2).is_empty());
    assert!((world.pages[0].rate - 3.0 / 8.0).abs() < 1e-12, "in hindsight");
    assert_eq!((summary.rows, summary.pages, summary.sites, summary.changes), (10, 3, 1, 3));
}

#[test]
fn days_without_a_beginning_are_the_first_of_what_is_selected() {
    let text = rows(&[
        ("a.example", "early.html", 1, "create"),
        ("a.example", "early.html", 3, "content"),
        ("a.example", "early.html", 30, "content"),
        ("b.example", "late.html", 20, "create"),
        ("b.example", "late.html", 25, "content"),
        ("b.example", "late.html", 60, "content"),
    ]);
    let first = |only: &[&str]| {
        let only = only.iter().map(|&site| site.to_owned()).collect();
        loaded(text.clone(), &Selection { days: Some(10.0), only, ..Selection::default() })
    };
    let (world, summary) = first(&[]);
    assert_eq!((world.sites.len(), world.pages.len(), summary.changes), (1, 1, 1), "who is born later is not there");
    assert_eq!(world.length(), Span::from_days(10));
    let (world, summary) = first(&["b.example"]);
    assert_eq!((world.pages[0].born, summary.changes), (day(20), 1));
}

#[test]
fn kinds_can_be_ignored_and_script_is_behaviour() {
    let kinds = ["content", "structure", "presentation", "script", "none", "unsampled", "other"];
    let mut text = rows(&[("a.example", "p", 1, "create")]);
    for (number, kind) in kinds.iter().enumerate() {
        text += &format!("a.example,p,{},9,{kind}\n", (number as i64 + 3) * DAY);
    }
    text += &format!("a.example,q,{},9,create\n", 30 * DAY);
    let ignored = Selection::kinds("none, presentation").unwrap();
    let (world, summary) = loaded(text, &Selection { ignored, ..window(2, 20.0) });
    let left: Vec<ChangeKind> = world.changes(0).iter().map(|change| change.kind).collect();
    let expected =
        [ChangeKind::Content, ChangeKind::Structure, ChangeKind::Behaviour, ChangeKind::Unsampled, ChangeKind::Other];
    assert_eq!(left, expected);
    assert_eq!(summary.changes_ignored, 2);
    assert!(Selection::kinds("none,nonsense").unwrap_err().to_string().contains("nonsense"));
}

#[test]
fn caps_take_a_fair_sample_that_does_not_depend_on_other_sites() {
    let mut text = HEAD.to_owned();
    for site in ["a.example", "b.example"] {
        for page in 0..50 {
            text += &format!("{site},dir{}/{page:02},{},5,create\n", page % 3, DAY);
        }
        text = text.clone();
    }
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    let text = HEAD.to_owned() + &lines.join("\n") + "\na.example,zz,864000,1,create\nb.example,zz,864000,1,create\n";
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    let text = HEAD.to_owned() + &lines.join("\n") + "\n";
    let capped = Selection { site_cap: Some(7), ..window(2, 3.0) };
    let (both, summary) = loaded(text.clone(), &capped);
    assert_eq!((both.pages.len(), summary.pages_before_caps), (14, 100));
    let (alone, _) = loaded(text.clone(), &Selection { only: vec!["b.".into()], ..capped.clone() });
    let names = |world: &World, site: u32| -> Vec<Box<str>> {
        world.pages.iter().filter(|page| page.site == site).map(|page| page.name.clone()).collect()
    };
    assert_eq!(names(&alone, 0), names(&both, 1));
    assert_eq!(alone.sites[0].name, "b.example");
    let (without, _) = loaded(text.clone(), &Selection { without: vec!["b.".into()], ..capped.clone() });
    assert_eq!(without.sites.len(), 1);
    let (few, _) = loaded(text, &Selection { pages_max: Some(5), ..capped });
    assert_eq!(few.pages.len(), 5);
    assert!(both.pages.iter().any(|page| page.path > 0));
}

#[test]
fn quotes_are_read_after_the_rfc_zipped_or_not() {
    let text = format!(
        "{HEAD}a.example,\"say \"\"hi\"\", again\",{},5,create\r\na.example,\"two\nlines\",{},5,create\n",
        DAY,
        2 * DAY
    );
    let plain = loaded(text.clone(), &Selection::default()).0;
    assert_eq!(&*plain.pages[0].name, "say \"hi\", again");
    assert_eq!(&*plain.pages[1].name, "two\nlines");
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zipped.write_all(text.as_bytes()).unwrap();
    let zipped = zipped.finish().unwrap();
    assert!(read(&zipped, "trace.csv.gz", &Selection::default()).unwrap().0 == plain);
}

#[test]
fn blank_lines_end_nothing_and_count_as_lines() {
    let text = rows(&[("a", "p", 1, "create"), ("a", "p", 3, "content"), ("a", "q", 9, "create")]);
    let whole = loaded(text.clone(), &Selection::default()).0;
    assert!(loaded(text.replace('\n', "\n\r\n\n"), &Selection::default()).0 == whole);
    let wrong = read(format!("{HEAD}\n\na,p,x,1,create\n").as_bytes(), "web.csv", &Selection::default());
    assert!(wrong.unwrap_err().to_string().contains("line 4"));
}

#[test]
fn a_trace_of_one_instant_is_told_that_its_window_has_no_length() {
    let told = read(rows(&[("a", "p", 1, "create")]).as_bytes(), "web.csv", &Selection::default()).unwrap_err();
    assert!(told.to_string().contains("no length"), "{told}");
}

#[test]
fn a_slip_is_named_by_line_and_column() {
    let wrong = |text: &str| read(text.as_bytes(), "web.csv", &Selection::default()).unwrap_err().to_string();
    let row = |row: &str| wrong(&format!("{HEAD}a,p,1,1,create\n{row}\n"));
    for (told, words) in [
        (row("a,p,tomorrow,1,content"), "line 3, column change_time_unix: `tomorrow`"),
        (row("a,p,2,big,content"), "line 3, column bytes: `big`"),
        (row("a,p,2,1,better"), "line 3, column kind: `better`"),
        (row("a,p,2,1"), "line 3, column row: 4 columns"),
        (row("a,p,0,1,content"), "line 3, column change_time_unix"),
        (row("a,o,2,1,content"), "line 3, column page"),
        (row("b,p,2,1,create\na,q,2,1,create"), "line 4, column site"),
        (row("a,\"p,2,1,content"), "within quotes"),
        (row(&"x".repeat(70_000)), "longer than"),
        (wrong("time,page\n1,2\n"), "line 1"),
        (wrong(HEAD), "holds no page"),
    ] {
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn named_selections_are_two_years_of_the_shared_recording() {
    for name in Selection::NAMES {
        let selection = Selection::by_name(name).unwrap();
        assert_eq!(
            (selection.name.as_str(), selection.days, selection.warm_up),
            (name, Some(730.0), Span::from_days(60))
        );
    }
    assert!(Selection::by_name("all").is_err());
}

#[test]
fn the_recrawl_release_is_read_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("url_urlid_hostid.txt", "http://a/1\t1\t10\nhttp://a/2\t2\t10\nhttp://b/\t5\t11\nhttp://c/\t6\t12\n");
    put("host_hostid_isconstrained.txt", "a\t10\t1\nb\t11\t0\nc\t12\t0\n");
    put("urlid_imp.txt", "1\t30\n2\t10\n5\t20\n6\t1\n");
    put("urlid_chrate_compl_obs_hist.txt", "5\t0.25\n");
    put(
        "urlid_offset_history.txt",
        "1\t0.5\t[[1.0, 0], [1.0, 1], [7.5, 1]]\n2\t0\t[[10.0, 0]]\n5\t5.5143\t[[1.1, 0], [1.5, 1]]\n",
    );
    let world = recrawl::load(folder.path(), &Selection::default(), Some(0.5)).unwrap();
    assert!(world.censored);
    assert_eq!(world.pages.len(), 3, "what was never visited is no page");
    assert_eq!(world.length(), Span::from_days(10));
    assert_eq!(world.sites[0].visits_per_day_max, Some(1.0));
    assert_eq!(world.sites[1].visits_per_day_max, None);
    assert!((world.pages[0].weight - 1.5).abs() < 1e-6 && (world.pages[1].weight - 0.5).abs() < 1e-6);
    assert!((world.pages[2].rate - 0.25).abs() < 1e-12);
    let within = |page: usize, change: usize, from: f64, until: f64| {
        let days = world.changes(page)[change].moment.since(world.origin).days_f64();
        assert!((from..=until).contains(&days), "{days}");
    };
    assert_eq!(world.changes(0).len(), 2);
    within(0, 0, 1.5, 2.5);
    within(0, 1, 2.5, 10.0);
    within(2, 0, 6.6143, 8.1143);
    let all = |folder: &std::path::Path| recrawl::load(folder, &Selection::default(), Some(0.5)).unwrap();
    put("urlid_imp.txt", "\n1\t30\n\r\n2\t10\n \n5\t20\n6\t1\n\n");
    assert!(all(folder.path()) == world, "blank lines end no table");
    put("urlid_imp.txt", "1\t30\n2\tmuch\n");
    let error = recrawl::load(folder.path(), &Selection::default(), None).unwrap_err().to_string();
    assert!(error.contains("line 2, column Importance_score: `much`"), "{error}");
}

#[test]
fn a_trace_without_a_good_row_names_the_first_bad_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.csv");
    for (rows, count) in [("a.example,/,tomorrow,10,content\n", 1), ("a.example,/\na.example,/,x,1,content\n", 2)] {
        std::fs::write(&path, HEAD.to_owned() + rows).unwrap();
        for selection in [Selection::default(), Selection { days: Some(10.0), ..Selection::default() }] {
            let error = load_good_rows(&path, &selection).unwrap_err().to_string();
            assert!(error.contains(&format!("bad: {count}, ")) && error.contains("bad.csv, line 2"), "{error}");
        }
    }
}
