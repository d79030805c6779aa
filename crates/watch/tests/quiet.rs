//! Quiet hours, and pages that change back and forth: what is held back is told later, whatever happens meanwhile.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use support::*;
use vernal_model::Span;
use vernal_watch::Route;

/// The clock of the tests begins at eight in the morning, UTC, which lies in these hours.
const MORNING: &str = "22:00-09:30";

fn quiet(receiver: &Receiver) -> Route {
    Route { quiet: Some(MORNING.parse().unwrap()), ..receiver.route("press") }
}

fn change(feed: &Written, page: usize, price: usize) {
    let (before, after) = (format!("It costs € {}.", price - 1), format!("It costs € {price}."));
    feed.push("changed", &format!("http://a.example/{page}"), Some(&before), Some(&after));
}

/// The ids of all events that were told, in the order of their arrival.
fn told(receiver: &Receiver) -> Vec<String> {
    let bodies = receiver.bodies();
    let events = bodies.iter().flat_map(|body| body["events"].as_array().unwrap());
    events.map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn in_quiet_hours_nothing_is_sent_and_after_them_all_of_it_as_one_digest() {
    for of_route in [true, false] {
        on_one_thread(async move {
            let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
            let receiver = Receiver::start(|_| 200).await;
            let route = if of_route { quiet(&receiver) } else { receiver.route("press") };
            let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![route]);
            let hours = (!of_route).then_some(MORNING);
            room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "press" }], "quiet": hours }));
            for page in 0..3 {
                change(&feed, page, 5);
                room.run_after(Span::from_secs(60)).await;
            }
            room.run_after(Span::from_secs(80 * 60)).await;
            assert!(receiver.ids().is_empty(), "{:?}", receiver.ids());
            // The process ends in between, and somewhat later the quiet does.
            drop(room);
            let mut room = Room::open(dir.path(), Arc::clone(&feed), Vec::new());
            change(&feed, 0, 6);
            room.run_after(Span::from_secs(10 * 60)).await;
            assert_eq!(told(&receiver), ["e1-1", "e1-2", "e1-3", "e1-4"], "what came before is told before");
            assert_eq!(receiver.ids(), ["w1/digest-e1-1/press", "w1/e1-4/press"]);
        });
    }
}

#[test]
fn what_was_under_way_before_the_quiet_hours_waits_for_their_end_too() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 500).await;
        let route = Route { quiet: Some("08:10-09:00".parse().unwrap()), ..receiver.route("press") };
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![route]);
        room.watch(json!({ "over": { "url": "http://a.example/1" }, "to": [{ "route": "press" }] }));
        change(&feed, 1, 5);
        room.run().await;
        assert_eq!(receiver.ids().len(), 1);
        room.clock.pass(Span::from_secs(11 * 60));
        // Also what is told at once on every route.
        feed.push("gone", "http://a.example/1", Some("It costs € 5."), None);
        for _ in 0..4 {
            room.run_after(Span::from_secs(600)).await;
        }
        assert_eq!(receiver.ids().len(), 1, "a route that rests is not asked");
        room.run_after(Span::from_secs(600)).await;
        assert_eq!(receiver.ids(), ["w1/e1-1/press"; 2], "and is asked again after, in the order of the page");
    });
}

#[test]
fn a_digest_that_falls_into_quiet_hours_comes_after_them() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![quiet(&receiver)]);
        room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "press", "how": "hourly" }] }));
        change(&feed, 1, 5);
        room.run().await;
        change(&feed, 2, 5);
        room.run_after(Span::from_secs(80 * 60)).await;
        assert!(receiver.ids().is_empty());
        room.run_after(Span::from_secs(10 * 60)).await;
        assert_eq!((receiver.ids().len(), told(&receiver)), (1, vec!["e1-1".to_owned(), "e1-2".to_owned()]));
    });
}

/// Whatever part of the log reached the disk, what was held back is told once the quiet is over.
#[test]
fn after_a_crash_in_quiet_hours_nothing_that_was_held_back_is_missed() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        {
            let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![quiet(&receiver)]);
            room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "press" }] }));
            for page in 0..6 {
                change(&feed, page, 5);
                room.run().await;
            }
        }
        let wanted: BTreeSet<String> = (1..=6).map(|number| format!("e1-{number}")).collect();
        let whole = std::fs::read(dir.path().join("watch/log")).unwrap();
        let wishes = frames(&whole)[1];
        let morning = feed.clock.now();
        for cut in (wishes..=whole.len()).step_by(11).chain([whole.len()]) {
            let copy = tempfile::tempdir().unwrap();
            write_log(copy.path(), &whole[..cut]);
            receiver.got.lock().unwrap().clear();
            feed.clock.set(morning);
            let mut room = Room::open(copy.path(), Arc::clone(&feed), Vec::new());
            room.run().await;
            assert!(receiver.ids().is_empty(), "cut at {cut}");
            drop(room);
            let mut room = Room::open(copy.path(), Arc::clone(&feed), Vec::new());
            room.run_after(Span::from_hours(2)).await;
            let found = told(&receiver);
            assert_eq!((found.len(), found.into_iter().collect::<BTreeSet<_>>()), (6, wanted.clone()), "cut at {cut}");
        }
    });
}

fn write_log(folder: &Path, bytes: &[u8]) {
    std::fs::create_dir(folder.join("watch")).unwrap();
    std::fs::write(folder.join("watch/log"), bytes).unwrap();
}

#[test]
fn a_page_that_changes_back_and_forth_is_told_once_and_then_as_one_line() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("press")]);
        room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "press", "then": "hourly" }] }));
        for number in 0..15 {
            let (before, after) = (format!("It is {}.", number % 2), format!("It is {}.", (number + 1) % 2));
            feed.push_with("changed", "http://a.example/", Some(&before), Some(&after), |event| {
                event["flapping"] = json!(true);
            });
            change(&feed, number, 5);
            room.run().await;
        }
        assert_eq!(receiver.ids().len(), 1 + 15, "the other pages are told at once");
        room.run_after(Span::from_hours(1)).await;
        let digest = receiver.bodies().pop().unwrap();
        assert_eq!(digest["events"].as_array().unwrap().len(), 1);
        assert!(digest["line"].as_str().unwrap().starts_with("changes back and forth, 14 times"), "{}", digest["line"]);
    });
}
