//! What the outbox promises: everything that matched is delivered, with one id, in the order of its page, and no route holds
//! up another.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::json;
use support::*;
use vernal_model::Span;
use vernal_watch::{DeliveryQuery, DeliveryState, Secret, WatchChange};

fn changes(feed: &Written, count: usize) {
    for number in 0..count {
        let url = format!("http://a.example/{}", number % 3);
        feed.push("changed", &url, Some("It costs € 9."), Some(&format!("It costs € {number}.")));
    }
}

fn over_site(route: &str) -> serde_json::Value {
    json!({ "name": "Prices", "over": { "site": "a.example" }, "to": [{ "route": route }] })
}

#[test]
fn every_match_is_posted_once_in_the_order_of_its_page_with_a_signature() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 204).await;
        let mut route = receiver.route("press");
        let secret = Secret::of_bytes(&[3; 32]);
        let vernal_watch::RouteKind::Webhook(hook) = &mut route.to else { unreachable!() };
        hook.secrets.push(secret.clone());
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![route]);
        room.watch(over_site("press"));
        changes(&feed, 30);
        feed.push("changed", "http://b.example/", Some("x"), Some("y"));
        room.run().await;
        let ids: Vec<String> = (1..=30).map(|number| format!("w1/e1-{number}/press")).collect();
        let mut got = receiver.ids();
        for page in 0..3 {
            let of_page = |got: &Got| got.json()["events"][0]["url"] == format!("http://a.example/{page}");
            let numbers: Vec<u64> = receiver
                .got
                .lock()
                .unwrap()
                .iter()
                .filter(|got| of_page(got))
                .map(|got| got.id().split(['-', '/']).nth(2).unwrap().parse().unwrap())
                .collect();
            assert!(numbers.is_sorted() && numbers.len() == 10, "{numbers:?}");
        }
        got.sort();
        let mut wanted = ids.clone();
        wanted.sort();
        assert_eq!(got, wanted);
        for one in receiver.got.lock().unwrap().iter() {
            let seconds = one.header("webhook-timestamp").unwrap().parse().unwrap();
            let signed = vernal_watch::send::signature(&secret.key().unwrap(), &one.id(), seconds, one.body.as_bytes());
            assert_eq!(one.header("webhook-signature").unwrap(), signed);
            assert!(one.json()["line"].as_str().unwrap().contains("€"));
        }
        room.run().await;
        assert_eq!(receiver.ids().len(), 30, "nothing is sent twice");
    });
}

#[test]
fn what_failed_is_tried_again_later_with_the_same_id_and_holds_up_its_page_alone() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let is_up = Rc::new(Cell::new(false));
        let up = Rc::clone(&is_up);
        let receiver =
            Receiver::start(move |got| if got.id() == "w1/e1-1/press" && !up.get() { 500 } else { 200 }).await;
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("press")]);
        room.watch(over_site("press"));
        changes(&feed, 6);
        room.run().await;
        // Pages 1 and 2 go on; the second change of page 0 waits behind the first.
        assert_eq!(receiver.ids().iter().filter(|id| **id == "w1/e1-1/press").count(), 1);
        assert!(
            !receiver.ids().contains(&"w1/e1-4/press".to_owned()) && receiver.ids().len() == 5,
            "{:?}",
            receiver.ids()
        );
        room.run_after(Span::from_secs(9)).await;
        assert_eq!(receiver.ids().len(), 5, "not before ten seconds");
        is_up.set(true);
        room.run_after(Span::from_secs(1)).await;
        assert_eq!(receiver.ids()[5..], ["w1/e1-1/press".to_owned(), "w1/e1-4/press".to_owned()]);
        let sent = room.alerts.lock().unwrap().deliveries(&DeliveryQuery { limit: 99, ..DeliveryQuery::default() });
        let first = sent.iter().find(|(_, one)| one.id == "w1/e1-1/press").unwrap();
        assert_eq!(
            (first.1.tries, first.1.latest[0].status, first.1.latest[0].answer.as_str()),
            (2, Some(500), "said 500")
        );
    });
}

#[test]
fn a_route_that_is_down_holds_up_no_other_and_is_asked_rarely() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let is_up = Rc::new(Cell::new(false));
        let up = Rc::clone(&is_up);
        let down = Receiver::start(move |_| if up.get() { 200 } else { 503 }).await;
        let works = Receiver::start(|_| 200).await;
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![down.route("down"), works.route("works")]);
        room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "down" }, { "route": "works" }] }));
        for number in 0..50 {
            feed.push("changed", &format!("http://a.example/{number}"), Some("a"), Some("b"));
        }
        room.run().await;
        assert_eq!(works.ids().len(), 50);
        assert!(down.ids().len() <= 8, "{} tries", down.ids().len());
        for _ in 0..10 {
            room.run_after(Span::from_secs(3_600)).await;
        }
        assert!(down.ids().len() <= 18, "{} tries", down.ids().len());
        is_up.set(true);
        room.run_after(Span::from_hours(6)).await;
        let sent: BTreeSet<String> = down.ids().into_iter().collect();
        assert_eq!(sent.len(), 50, "all of it goes once the route works");
        assert_eq!(room.alerts.lock().unwrap().state().waiting().count(), 0);
    });
}

#[test]
fn what_no_one_took_for_three_days_is_given_up_and_told_on_another_route() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let (down, works) = (Receiver::start(|_| 500).await, Receiver::start(|_| 200).await);
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![down.route("down"), works.route("works")]);
        room.watch(over_site("down"));
        changes(&feed, 3);
        for _ in 0..80 {
            room.run_after(Span::from_hours(1)).await;
        }
        let given_up = |state| DeliveryQuery { state: Some(state), limit: 99, ..DeliveryQuery::default() };
        assert_eq!(room.alerts.lock().unwrap().deliveries(&given_up(DeliveryState::GivenUp)).len(), 3);
        let told = works.bodies();
        assert_eq!(told.len(), 1, "once, not for each");
        assert_eq!((&told[0]["reason"], &told[0]["events"][0]["site"]), (&json!("given-up"), &json!("a.example")));
        assert!(told[0]["line"].as_str().unwrap().contains("the route down has not taken a delivery"));
        // Somebody wants it sent all the same.
        let before = down.ids().len();
        room.alerts.lock().unwrap().again("w1/e1-1/down", room.clock.now()).unwrap();
        room.run_after(Span::from_hours(7)).await;
        assert!(down.ids()[before..].contains(&"w1/e1-1/down".to_owned()));
    });
}

#[test]
fn a_receiver_that_is_gone_switches_its_route_off() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let status = Rc::new(Cell::new(410));
        let says = Rc::clone(&status);
        let (gone, works) = (Receiver::start(move |_| says.get()).await, Receiver::start(|_| 200).await);
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![gone.route("gone"), works.route("works")]);
        room.watch(over_site("gone"));
        feed.push("changed", "http://a.example/", Some("a"), Some("b"));
        room.run_after(Span::from_hours(1)).await;
        feed.push("changed", "http://a.example/", Some("b"), Some("c"));
        room.run_after(Span::from_hours(1)).await;
        assert_eq!(gone.ids().len(), 1);
        assert!(works.bodies()[0]["line"].as_str().unwrap().contains("410"));
        status.set(200);
        room.alerts.lock().unwrap().enable_route("gone", room.clock.now()).unwrap();
        room.run_after(Span::from_hours(7)).await;
        assert_eq!(gone.ids()[1..], ["w1/e1-1/gone".to_owned(), "w1/e1-2/gone".to_owned()]);
    });
}

/// Whatever part of the log reached the disk, all that matched is delivered, under the ids that it had.
#[test]
fn after_a_crash_at_any_byte_of_the_log_nothing_that_matched_is_missed() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let wanted: BTreeSet<String> = (1..=12).map(|number| format!("w1/e1-{number}/press")).collect();
        {
            let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("press")]);
            room.watch(over_site("press"));
            for _ in 0..4 {
                changes(&feed, 3);
                room.run().await;
            }
        }
        assert_eq!(receiver.ids().into_iter().collect::<BTreeSet<_>>(), wanted);
        let whole = std::fs::read(dir.path().join("watch/log")).unwrap();
        // The frames of the route and of the watch are the wishes of a person, acknowledged before anything else.
        let wishes = frames(&whole)[1];
        for cut in (wishes..=whole.len()).step_by(7).chain(frames(&whole).into_iter().skip(1)) {
            let copy = tempfile::tempdir().unwrap();
            std::fs::create_dir(copy.path().join("watch")).unwrap();
            std::fs::write(copy.path().join("watch/log"), &whole[..cut]).unwrap();
            receiver.got.lock().unwrap().clear();
            let mut room = Room::open(copy.path(), Arc::clone(&feed), Vec::new());
            let done: BTreeSet<String> = {
                let alerts = room.alerts.lock().unwrap();
                let sent = alerts.state().deliveries.values().filter(|one| one.state == DeliveryState::Sent);
                sent.map(|one| one.id.clone()).collect()
            };
            room.run().await;
            let repeated: BTreeSet<String> = receiver.ids().into_iter().collect();
            assert_eq!(done.union(&repeated).cloned().collect::<BTreeSet<_>>(), wanted, "cut at {cut}");
            assert!(done.is_disjoint(&repeated), "what is known to be taken is not sent again");
        }
    });
}

#[test]
fn damage_in_the_log_is_told_and_never_read_as_truth() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        {
            let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("press")]);
            room.watch(over_site("press"));
            changes(&feed, 3);
            room.run().await;
        }
        let path = dir.path().join("watch/log");
        let mut log = std::fs::read(&path).unwrap();
        let ends = frames(&log);
        log[ends[1] + 20] ^= 1;
        std::fs::write(&path, &log).unwrap();
        let (alerts, damage) = vernal_watch::Alerts::open(dir.path(), Vec::new(), feed_end(&feed)).unwrap();
        assert!(damage.unwrap().contains("cannot be read"));
        assert_eq!((alerts.state().watches.len(), alerts.state().deliveries.len()), (1, 0));
        assert_eq!(std::fs::read(dir.path().join("watch/log.damaged")).unwrap(), log);
        std::fs::write(&path, b"something else").unwrap();
        assert!(vernal_watch::Alerts::open(dir.path(), Vec::new(), feed_end(&feed)).is_err());
    });
}

fn feed_end(feed: &Written) -> vernal_repository::Cursor {
    vernal_watch::Feed::end(feed)
}

#[test]
fn a_surplus_waits_for_a_digest_that_is_sent_once_and_never_empty() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("press")]);
        room.watch(json!({ "over": { "site": "a.example" },
            "to": [{ "route": "press", "how": "at-once", "at_most": "2/day", "then": "hourly" }] }));
        changes(&feed, 7);
        room.run().await;
        assert_eq!(receiver.ids().len(), 2);
        // The process ends in between.
        drop(room);
        let mut room = Room::open(dir.path(), Arc::clone(&feed), Vec::new());
        room.run_after(Span::from_hours(1)).await;
        let digest = receiver.bodies().pop().unwrap();
        assert_eq!((receiver.ids().len(), &receiver.ids()[2]), (3, &"w1/digest-e1-3/press".to_owned()));
        assert_eq!((&digest["reason"], digest["events"].as_array().unwrap().len()), (&json!("digest"), 5));
        for _ in 0..30 {
            room.run_after(Span::from_hours(1)).await;
        }
        assert_eq!(receiver.ids().len(), 3, "no empty digest");
        changes(&feed, 1);
        room.run().await;
        assert_eq!(receiver.ids().len(), 4, "another day has its own number");
    });
}

#[test]
fn the_log_does_not_grow_without_end_and_keeps_what_waits() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("press")]);
        let held =
            room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "press", "how": "daily 07:00" }] }));
        room.watch(over_site("press"));
        let long = "word ".repeat(2_000);
        for number in 0..600 {
            feed.push("changed", &format!("http://a.example/{number}"), None, Some(&format!("{long}{number}")));
        }
        room.run().await;
        // What ended 90 days ago goes with the next writing anew.
        room.clock.pass(Span::from_days(91));
        for number in 0..600 {
            feed.push("changed", &format!("http://a.example/{number}"), None, Some(&format!("{long}x{number}")));
        }
        room.run().await;
        let bytes = std::fs::metadata(dir.path().join("watch/log")).unwrap().len();
        assert!(bytes < 40 << 20, "{bytes} bytes");
        drop(room);
        let room = Room::open(dir.path(), feed, Vec::new());
        let alerts = room.alerts.lock().unwrap();
        assert!(alerts.state().watches[&held].held["press"].events.len() + alerts.state().deliveries.len() > 200);
        assert!(alerts.state().waiting().count() == 0);
    });
}

#[test]
fn a_paused_watch_tells_nothing_of_what_happens_meanwhile_unless_it_is_asked_to() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("press")]);
        let id = room.watch(over_site("press"));
        let mut number = 0;
        for missed in [false, true] {
            let act = |room: &Room, change| {
                room.alerts.lock().unwrap().act(&id, change, feed_end(&feed), room.clock.now()).unwrap();
            };
            act(&room, WatchChange::Pause);
            changes(&feed, 1);
            room.run().await;
            act(&room, WatchChange::Resume { missed });
            room.run().await;
            number += usize::from(missed);
            assert_eq!(receiver.ids().len(), number);
        }
        room.alerts.lock().unwrap().remove(&id, room.clock.now()).unwrap();
        changes(&feed, 1);
        room.run().await;
        assert_eq!(receiver.ids().len(), 1);
    });
}
