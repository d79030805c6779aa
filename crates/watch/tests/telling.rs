//! What a watch tells: which events, what of them, and what is lost; and that every alert has something to read.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::*;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use vernal_model::Span;
use vernal_watch::{Alert, Delivery, Reach, Route, Told, Watch, WatchChange, preview, send, template};

/// The ids of the events that a watch tells, of those that are written.
fn told(feed: &Written, watch: Value) -> Vec<u64> {
    let watch: Watch = serde_json::from_value(watch).unwrap();
    watch.check().unwrap();
    let seen = preview(feed, &watch, Reach::Changes(1_000), usize::MAX).unwrap();
    let number = |told: &Told| told.id.split('-').nth(1).unwrap().parse().unwrap();
    seen.latest.iter().rev().map(number).collect()
}

#[test]
fn a_watch_tells_what_all_its_conditions_ask_for_and_nothing_else() {
    let feed = Written::default();
    feed.push(
        "changed",
        "http://a.example/press/1",
        Some("The budget is 5 million."),
        Some("The deficit is 6 million."),
    );
    feed.push("new", "http://a.example/press/2", None, Some("A new budget."));
    feed.push("gone", "http://b.example/", Some("The budget"), None);
    feed.push_with("changed", "http://a.example/", Some("x"), Some("y"), |event| {
        event["tags"] = json!(["policy"]);
        event["degree"] = json!("slight");
        event["flapping"] = json!(true);
        event["language"] = json!("de");
        event["paragraphs"][0]["role"] = json!("footer");
    });
    feed.push_with("changed", "http://a.example/looks", None, None, |event| {
        event["left"] = json!(["presentation"]);
        event["notes"] = json!([{ "kind": "presentation", "what": "style", "before": "red", "after": "blue" }]);
    });
    let over = |name: &str, value: &str, when: Value| told(&feed, json!({ "over": { name: value }, "when": when }));
    assert_eq!(over("site", "a.example", json!({})), [1, 4, 5], "new pages only where they are asked for");
    assert_eq!(over("site", "a.example", json!({ "events": ["new"] })), [2]);
    assert_eq!(over("prefix", "http://a.example/press/", json!({})), [1]);
    assert_eq!(over("url", "http://a.example/", json!({})), [4]);
    assert_eq!(over("tag", "policy", json!({})), [4]);
    assert_eq!(over("search", "budget", json!({})), [0_u64; 0]);
    feed.hits.lock().unwrap().push("http://b.example/".into());
    assert_eq!(over("search", "budget", json!({})), [3]);
    for (when, wanted) in [
        (json!({ "words": ["budget"] }), vec![1]),
        (json!({ "words": ["budget"], "in": "added" }), vec![]),
        (json!({ "words": ["deficit"], "in": "added" }), vec![1]),
        (json!({ "words": ["million"] }), vec![]),
        (json!({ "words": ["million"], "in": "paragraph" }), vec![1]),
        (json!({ "regex": "d[a-z]+t" }), vec![1]),
        (json!({ "number": { "above": 5.5 } }), vec![1]),
        (json!({ "number": { "moves_by": "30%" } }), vec![]),
        (json!({ "number": { "above": 5.5, "paragraph": "p9-9-9" } }), vec![]),
        (json!({ "kinds": ["presentation"] }), vec![5]),
        (json!({ "min": "moderate" }), vec![1, 5]),
        (json!({ "magnitude": 0.5 }), vec![]),
        (json!({ "not_flapping": true }), vec![1, 5]),
        (json!({ "language": "de" }), vec![4]),
        (json!({ "roles": ["footer"] }), vec![4]),
        (json!({ "not_roles": ["footer"] }), vec![1]),
        (json!({ "words": ["red"] }), vec![5]),
        (json!({ "events": ["gone"] }), vec![]),
    ] {
        assert_eq!(over("site", "a.example", when.clone()), wanted, "{when}");
    }
}

#[test]
fn a_folded_change_is_told_once_to_a_site_and_to_the_watch_of_its_page() {
    let feed = Written::default();
    feed.push_with("template", "http://a.example/1", Some("286 posts"), Some("287 posts"), |event| {
        event["pages"] = json!(257);
    });
    feed.push("changed", "http://a.example/7", Some("286 posts"), Some("287 posts"));
    {
        let mut events = feed.events.lock().unwrap();
        let row = events[1].rows.pop();
        events[1].whole = row;
    }
    assert_eq!(told(&feed, json!({ "over": { "site": "a.example" } })), [1]);
    assert_eq!(told(&feed, json!({ "over": { "url": "http://a.example/7" } })), [2]);
}

/// The law: whatever is told has something to read in it, in every form that it is sent in.
#[test]
fn an_alert_always_has_something_to_read_in_it() {
    let feed = Written::default();
    let texts = [None, Some(""), Some("   "), Some("Words")];
    let notes = [
        json!([]),
        json!([{ "kind": "presentation", "what": "looks", "before": "mark 1", "after": "mark 2" }]),
        json!([{ "kind": "content", "what": "image", "before": null, "after": "a red bus" }]),
    ];
    let all =
        ["new", "changed", "gone", "back", "moved", "blocked", "unblocked", "erased", "template", "joined", "parted"];
    for kind in all {
        for (before, after) in texts.iter().flat_map(|before| texts.iter().map(move |after| (*before, *after))) {
            for note in &notes {
                feed.push_with(kind, "http://a.example/", before, after, |event| {
                    event["notes"] = note.clone();
                    event["title"] = json!("");
                });
            }
        }
    }
    let watches = [
        json!({ "over": { "site": "a.example" }, "when": { "events": all } }),
        json!({ "over": { "url": "http://a.example/" }, "when": { "events": all, "words": ["Words"] } }),
        json!({ "over": { "url": "http://a.example/" }, "when": { "events": all, "roles": ["heading"] } }),
    ];
    let route = |to: Value| -> Route {
        serde_json::from_value(json!({ "name": "x", "to": to, "template": "{{detail}}" })).unwrap()
    };
    let url = "https://r.example/";
    let routes = [
        route(json!({ "webhook": { "url": url } })),
        route(json!({ "webhook": { "url": url, "body": "chat" } })),
        route(json!({ "webhook": { "url": url, "body": "text" } })),
        route(json!({ "mail": { "server": "smtp://m.example", "from": "a@b.example", "to": ["c@d.example"] } })),
    ];
    let mut count = 0;
    for watch in watches {
        let watch: Watch = serde_json::from_value(watch).unwrap();
        let seen = preview(&feed, &watch, Reach::Changes(10_000), usize::MAX).unwrap();
        for told in seen.latest {
            count += 1;
            let alert = Alert::of_event(told.clone());
            assert!(alert.is_readable() && alert.line().chars().any(char::is_alphabetic), "{told:?}");
            let delivery = Delivery::new("w1/e/x".into(), ("w1", "A".into()), "x", alert, NOON);
            for route in &routes {
                let text = send::written(route, &delivery, None).unwrap();
                let has_words = text.contains("Words") || text.contains("red bus") || text.contains("the page");
                assert!(has_words, "{text}");
            }
            let mail = template::mail(&delivery, None, None);
            assert!(!mail.subject.trim().is_empty() && mail.html.contains("<p>"));
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn what_a_site_wrote_begins_no_header_and_is_no_markup() {
    let title = "Prices\r\nBcc: evil@e.example\u{202e}<script>";
    let mut event = event(1, "changed", "http://a.example/", Some("<b>9</b>"), Some("<img src=x onerror=1>"));
    event["title"] = json!(title);
    let told: Told = serde_json::from_value(event).unwrap();
    let delivery = Delivery::new("w1/e/x".into(), ("w1", "A\nB".into()), "x", Alert::of_event(told), NOON);
    let by_template = template::Template::parse("Subject: {{title}}\n{{title}} {{line}}").unwrap();
    for template in [None, Some(&by_template)] {
        let mail = template::mail(&delivery, template, None);
        assert!(!mail.subject.contains(['\r', '\n', '\u{202e}']), "{}", mail.subject);
        assert!(!mail.html.contains("<img") && !mail.html.contains("<script") && mail.html.contains("&lt;img"));
    }
}

fn room(feed: &Arc<Written>, routes: Vec<Route>) -> (tempfile::TempDir, Room) {
    let dir = tempfile::tempdir().unwrap();
    let room = Room::open(dir.path(), Arc::clone(feed), routes);
    (dir, room)
}

#[test]
fn a_lost_page_is_told_again_every_day_until_somebody_acknowledges_it_or_it_is_back() {
    on_one_thread(async {
        let feed = Arc::new(Written::default());
        let receiver = Receiver::start(|_| 200).await;
        let (_dir, mut room) = room(&feed, vec![receiver.route("press")]);
        let page = "http://a.example/";
        let id = room.watch(json!({ "over": { "url": page }, "when": { "words": ["x"] }, "to": [{ "route": "press", "how": "daily 07:00" }] }));
        feed.push("gone", page, None, None);
        room.run().await;
        let reasons = |receiver: &Receiver| -> Vec<String> {
            receiver.bodies().iter().map(|body| body["reason"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(reasons(&receiver), ["lost"], "at once, although the watch has a digest and asks for words");
        room.run_after(Span::from_days(1)).await;
        room.run_after(Span::from_days(1)).await;
        assert_eq!(reasons(&receiver), ["lost", "still-lost", "still-lost"]);
        assert_eq!(receiver.ids()[1..], ["w1/still-e1-1-2/press".to_owned(), "w1/still-e1-1-3/press".to_owned()]);
        room.alerts
            .lock()
            .unwrap()
            .act(&id, WatchChange::Acknowledge, vernal_repository::Cursor(1), room.clock.now())
            .unwrap();
        room.run_after(Span::from_days(3)).await;
        assert_eq!(receiver.ids().len(), 3);
        feed.push("back", page, None, Some("y"));
        room.run().await;
        assert!(room.alerts.lock().unwrap().state().watches[&id].trouble.is_none());
        feed.push_with("moved", page, None, None, |event| event["detail"] = json!("for now to http://b.example/"));
        feed.push("back", page, None, Some("y"));
        room.run().await;
        assert!(room.alerts.lock().unwrap().state().watches[&id].trouble.is_none(), "it came and went in one step");
        assert!(receiver.bodies().last().unwrap()["line"].as_str().unwrap().contains("http://b.example/"));
    });
}

#[test]
fn a_region_is_lost_when_its_words_stand_nowhere_on_the_page() {
    on_one_thread(async {
        let feed = Arc::new(Written::default());
        let receiver = Receiver::start(|_| 200).await;
        let (_dir, mut room) = room(&feed, vec![receiver.route("press")]);
        let page = "http://a.example/";
        let id = room.watch(json!({ "over": { "url": page }, "when": { "words": ["price"], "in": "added" }, "to": [{ "route": "press" }] }));
        feed.pages.lock().unwrap().insert(page.into(), vec!["the price is high".into()]);
        feed.push("changed", page, Some("a price"), Some("nothing"));
        room.run().await;
        assert_eq!(receiver.ids().len(), 0, "another paragraph still has it");
        feed.pages.lock().unwrap().insert(page.into(), vec!["nothing".into()]);
        feed.push("changed", page, Some("the price is high"), Some("nothing"));
        room.run().await;
        assert_eq!(receiver.bodies()[0]["reason"], "lost");
        assert!(receiver.bodies()[0]["line"].as_str().unwrap().contains("no longer on the page"));
        feed.push("changed", page, Some("nothing"), Some("a price"));
        room.run().await;
        assert!(room.alerts.lock().unwrap().state().watches[&id].trouble.is_none());
        assert_eq!(receiver.bodies()[1]["reason"], "changed");
    });
}

#[test]
fn silence_is_told_once_it_lasts_and_ends_with_the_next_change() {
    on_one_thread(async {
        let feed = Arc::new(Written::default());
        let receiver = Receiver::start(|_| 200).await;
        let (_dir, mut room) = room(&feed, vec![receiver.route("press")]);
        room.watch(
            json!({ "over": { "site": "a.example" }, "to": [{ "route": "press" }], "also": { "silent_for": "7d" } }),
        );
        room.run_after(Span::from_days(6)).await;
        feed.push("changed", "http://a.example/", Some("a"), Some("b"));
        room.run().await;
        room.run_after(Span::from_days(6)).await;
        assert_eq!(receiver.ids().len(), 1);
        room.run_after(Span::from_days(1)).await;
        assert_eq!(receiver.bodies()[1]["reason"], "silent");
        feed.push("changed", "http://a.example/", Some("b"), Some("c"));
        room.run_after(Span::from_days(2)).await;
        assert_eq!(receiver.bodies()[2]["reason"], "changed");
        room.run_after(Span::from_days(2)).await;
        assert_eq!(receiver.ids().len(), 3);
    });
}

#[test]
fn the_words_of_an_erased_page_leave_the_log() {
    on_one_thread(async {
        let feed = Arc::new(Written::default());
        let receiver = Receiver::start(|_| 500).await;
        let (dir, mut room) = room(&feed, vec![receiver.route("press")]);
        room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "press" }] }));
        feed.push("changed", "http://a.example/", Some("a"), Some("XYZZY"));
        feed.push("changed", "http://a.example/other", Some("a"), Some("PLUGH"));
        room.run().await;
        let log = || String::from_utf8_lossy(&std::fs::read(dir.path().join("watch/log")).unwrap()).into_owned();
        assert!(log().contains("XYZZY"));
        feed.push("erased", "http://a.example/", None, None);
        room.run().await;
        assert!(!log().contains("XYZZY") && log().contains("PLUGH"));
    });
}

#[test]
fn the_template_of_a_watch_goes_before_that_of_its_route() {
    on_one_thread(async {
        let feed = Arc::new(Written::default());
        let receiver = Receiver::start(|_| 200).await;
        let route = Route { template: Some("{\"route\":\"{{title}}\"}".into()), ..receiver.route("press") };
        let (_dir, mut room) = room(&feed, vec![route]);
        let to = json!([{ "route": "press" }]);
        room.watch(json!({ "over": { "site": "a.example" }, "to": to }));
        let own = "{\"own\":\"{{#paragraphs}}{{after}}{{/paragraphs}}\"}";
        room.watch(json!({ "over": { "site": "a.example" }, "to": to, "template": own }));
        // A template that writes no JSON for this event is not what a receiver of JSON gets.
        room.watch(json!({ "over": { "site": "a.example" }, "to": to, "template": "{\"a\":{{magnitude}}{{title}}}" }));
        feed.push("changed", "http://a.example/", Some("a"), Some("\"b\"\n"));
        room.run().await;
        let bodies = receiver.bodies();
        assert_eq!(bodies[0], json!({ "route": "A page" }));
        assert_eq!(bodies[1], json!({ "own": "\"b\"\n" }));
        assert_eq!(bodies[2]["delivery"], "w3/e1-1/press");
    });
}

/// A mail server that takes everything and keeps it.
async fn mail_server() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let kept: Arc<Mutex<Vec<String>>> = Arc::default();
    let mails = Arc::clone(&kept);
    tokio::task::spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (read, mut write) = stream.into_split();
            let mut lines = BufReader::new(read).lines();
            write.write_all(b"220 here\r\n").await.unwrap();
            let (mut mail, mut in_data) = (String::new(), false);
            while let Ok(Some(line)) = lines.next_line().await {
                let answer: &[u8] = match line.as_str() {
                    "." if in_data => {
                        in_data = false;
                        mails.lock().unwrap().push(std::mem::take(&mut mail));
                        b"250 taken\r\n"
                    }
                    _ if in_data => {
                        mail.push_str(&line);
                        mail.push('\n');
                        continue;
                    }
                    "DATA" => {
                        in_data = true;
                        b"354 go on\r\n"
                    }
                    "QUIT" => b"221 bye\r\n",
                    _ => b"250 yes\r\n",
                };
                if write.write_all(answer).await.is_err() {
                    break;
                }
            }
        }
    });
    (port, kept)
}

fn mail_route(port: u16, plain: bool) -> Route {
    let mail = json!({ "server": format!("smtp://127.0.0.1:{port}"), "from": "Vernal <vernal@crawl.example>",
        "to": ["press@desk.example"], "plain": plain });
    serde_json::from_value(json!({ "name": "mail", "to": { "mail": mail } })).unwrap()
}

#[test]
fn a_mail_has_text_and_html_and_an_id_made_of_its_delivery() {
    on_one_thread(async {
        let feed = Arc::new(Written::default());
        let (port, mails) = mail_server().await;
        let (_dir, mut room) = room(&feed, vec![mail_route(port, true)]);
        room.watch(json!({ "name": "Prices", "over": { "site": "a.example" }, "to": [{ "route": "mail" }] }));
        feed.push_with("changed", "http://a.example/", Some("It costs 9."), Some("It costs 12."), |event| {
            event["title"] = json!("Préise\r\nBcc: evil@e.example");
        });
        room.run().await;
        let mails = mails.lock().unwrap();
        let (head, body) = mails[0].split_once("\n\n").unwrap();
        for line in [
            "Message-ID: <w1.e1-1.mail@vernal.crawl.example>",
            "List-Id: <w1.vernal.crawl.example>",
            "Auto-Submitted: auto-generated",
            "To: press@desk.example",
            "Content-Type: multipart/alternative;",
        ] {
            assert!(head.contains(line), "{line} in {head}");
        }
        assert!(!head.lines().any(|line| line.starts_with("Bcc")), "{head}");
        assert!(body.contains("text/plain") && body.contains("text/html") && body.contains("12."), "{body}");
    });
}

#[test]
fn nothing_is_mailed_without_tls_unless_the_route_says_so() {
    on_one_thread(async {
        let feed = Arc::new(Written::default());
        let (port, mails) = mail_server().await;
        let (_dir, mut room) = room(&feed, vec![mail_route(port, false)]);
        room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "mail" }] }));
        feed.push("changed", "http://a.example/", Some("a"), Some("b"));
        room.run().await;
        let tried = room.alerts.lock().unwrap().state().waiting().next().unwrap().latest[0].clone();
        assert!(!tried.taken && tried.answer.contains("STARTTLS"), "{tried:?}");
        assert!(mails.lock().unwrap().is_empty());
    });
}

#[test]
fn a_program_gets_the_delivery_on_its_standard_input_and_takes_it_by_ending_with_nought() {
    on_one_thread(async {
        let feed = Arc::new(Written::default());
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("got");
        let script = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            let to = json!({ "command": { "path": "/bin/sh", "arguments": [path] } });
            serde_json::from_value::<Route>(json!({ "name": name, "to": to })).unwrap()
        };
        let takes = script("takes", &format!("cat > {}", out.display()));
        let fails = script("fails", "cat > /dev/null; echo 'no $(room)' >&2; exit 3");
        let (_dir, mut room) = room(&feed, vec![takes.clone(), fails]);
        assert!(room.alerts.lock().unwrap().put_route(Route { name: "other".into(), ..takes }, NOON).is_err());
        room.watch(json!({ "over": { "site": "a.example" }, "to": [{ "route": "takes" }, { "route": "fails" }] }));
        feed.push("changed", "http://a.example/", Some("a"), Some("$(touch /tmp/x) `b`"));
        room.run().await;
        let got: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
        assert_eq!(
            (&got["delivery"], &got["events"][0]["paragraphs"][0]["after"]),
            (&json!("w1/e1-1/takes"), &json!("$(touch /tmp/x) `b`"))
        );
        let alerts = room.alerts.lock().unwrap();
        let failed = alerts.state().delivery("w1/e1-1/fails").unwrap();
        assert_eq!((failed.latest[0].status, failed.latest[0].answer.as_str()), (Some(3), "no $(room)"));
    });
}
