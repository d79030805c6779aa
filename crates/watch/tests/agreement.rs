//! Watches and routes of the settings: the log agrees with them after each start, and nothing that was noted is lost by it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use support::*;
use vernal_model::Span;
use vernal_repository::Cursor;
use vernal_watch::{ATOM, Alerts, Error, OfSettings, Route, RouteKind, RouteShown, Watch, WatchChange};

const FILE: &str = "vernal.toml";

fn settings(watches: &[Value], routes: &[Route]) -> OfSettings {
    let watches = watches.iter().map(|watch| serde_json::from_value::<Watch>(watch.clone()).unwrap());
    let from = || FILE.to_owned();
    OfSettings { watches: watches.collect(), watches_from: from(), routes: routes.to_vec(), routes_from: from() }
}

impl Room {
    fn agree(&self, wanted: &OfSettings) -> Result<Vec<String>, Error> {
        let now = self.clock.now();
        self.alerts.lock().unwrap().agree(wanted, vernal_watch::Feed::end(self.feed.as_ref()), (now, now))
    }

    /// Names, ids and places of the watches.
    fn watches(&self) -> Vec<(String, String, Cursor)> {
        let alerts = self.alerts.lock().unwrap();
        let entries = alerts.state().watches.values();
        entries.map(|entry| (entry.watch.name.clone(), entry.watch.id.clone(), entry.seen)).collect()
    }
}

/// The routes but the one that is built in.
fn made_routes(alerts: &Alerts) -> Vec<RouteShown> {
    alerts.routes_shown().into_iter().filter(|route| route.name != ATOM).collect()
}

fn log(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("watch/log")).unwrap()
}

fn over(name: &str, site: &str, route: &str) -> Value {
    json!({ "name": name, "over": { "site": site }, "to": [{ "route": route }] })
}

fn change(feed: &Written, page: &str) {
    feed.push("changed", page, Some("It costs € 4."), Some("It costs € 5."));
}

#[test]
fn what_the_settings_add_change_and_remove_is_so_after_the_next_start() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        change(&feed, "http://a.example/old");
        let mut room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("own")]);
        room.watch(over("Kept", "z.example", "own"));
        let both = [over("A", "a.example", "press"), over("B", "b.example", "own")];
        let routes = [receiver.route("press")];
        assert_eq!(room.agree(&settings(&both, &routes)).unwrap(), [""; 0]);
        change(&feed, "http://a.example/1");
        room.run().await;
        assert_eq!(receiver.ids(), ["w2/e1-2/press"], "a new watch tells what comes");

        // The same again writes nothing.
        let before = log(dir.path());
        room.agree(&settings(&both, &routes)).unwrap();
        assert_eq!(log(dir.path()), before);

        // One is changed and keeps its place, although the process ended and things happened; one goes.
        drop(room);
        change(&feed, "http://a.example/2");
        change(&feed, "http://c.example/2");
        let mut room = Room::open(dir.path(), Arc::clone(&feed), Vec::new());
        let changed = [json!({ "name": "A", "over": { "prefix": "http://" }, "to": [{ "route": "press" }] })];
        room.agree(&settings(&changed, &routes)).unwrap();
        room.run().await;
        assert_eq!(receiver.ids()[1..], ["w2/e1-3/press", "w2/e1-4/press"]);
        let names = |room: &Room| room.watches().into_iter().map(|(name, id, _)| (name, id)).collect::<Vec<_>>();
        let pair = |name: &str, id: &str| (name.to_owned(), id.to_owned());
        assert_eq!(names(&room), [pair("Kept", "w1"), pair("A", "w2")]);

        // Without settings those of commands are left.
        room.agree(&settings(&[], &[])).unwrap();
        assert_eq!(names(&room), [pair("Kept", "w1")]);
        let alerts = room.alerts.lock().unwrap();
        assert_eq!(made_routes(&alerts).iter().map(|route| route.name.as_str()).collect::<Vec<_>>(), ["own"]);
        assert!(alerts.state().delivery("w2/e1-3/press").is_some(), "what was sent stays in the history");
    });
}

#[test]
fn what_is_of_the_settings_is_changed_there_alone() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let room = Room::open(dir.path(), Arc::clone(&feed), Vec::new());
        room.agree(&settings(&[over("A", "a.example", "press")], &[receiver.route("press")])).unwrap();
        let now = room.clock.now();
        let mut alerts = room.alerts.lock().unwrap();
        let watch = Watch { owner: "me".into(), ..alerts.watch("w1").unwrap().watch.clone() };
        let route = alerts.route("press").unwrap().route.clone();
        for refused in [
            alerts.change(watch, now),
            alerts.remove("w1", now),
            alerts.act("w1", WatchChange::Pause, Cursor::START, now),
            alerts.act("w1", WatchChange::Resume { missed: false }, Cursor::START, now),
            alerts.put_route(route, now),
            alerts.remove_route("press", now),
        ] {
            let Err(error @ Error::OfSettings { .. }) = refused else { panic!("{refused:?}") };
            assert!(error.to_string().contains("is one of vernal.toml: change it there"), "{error}");
        }
        alerts.enable_route("press", now).unwrap();
        assert_eq!(made_routes(&alerts)[0].from.as_deref(), Some(FILE));
    });
}

#[test]
fn a_secret_that_the_settings_do_not_name_is_made_once_and_can_be_changed() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let secrets = |room: &Room| {
            let route = room.alerts.lock().unwrap().route("press").unwrap().route.clone();
            let RouteKind::Webhook(hook) = route.to else { unreachable!() };
            hook.secrets
        };
        let unnamed = settings(&[], &[receiver.route("press")]);
        let room = Room::open(dir.path(), Arc::clone(&feed), Vec::new());
        room.agree(&unnamed).unwrap();
        let made = secrets(&room);
        room.agree(&unnamed).unwrap();
        assert_eq!((made.len(), &secrets(&room)), (1, &made));
        let fresh = vec![vernal_watch::Secret::fresh().unwrap(), made[0].clone()];
        room.alerts.lock().unwrap().put_secrets("press", fresh.clone(), NOON).unwrap();
        room.agree(&unnamed).unwrap();
        assert_eq!(secrets(&room), fresh, "both stay in force");

        let mut route = receiver.route("press");
        let RouteKind::Webhook(hook) = &mut route.to else { unreachable!() };
        hook.secrets.push("env:PRESS_SECRET".to_owned().try_into().unwrap());
        room.agree(&settings(&[], &[route])).unwrap();
        let refused = room.alerts.lock().unwrap().put_secrets("press", fresh, NOON);
        assert!(matches!(refused, Err(Error::OfSettings { .. })), "{refused:?}");
    });
}

#[test]
fn what_waits_for_a_route_that_a_watch_loses_is_told_there_first() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let (old, new) = (Receiver::start(|_| 200).await, Receiver::start(|_| 200).await);
        let routes = [old.route("old"), new.route("new")];
        let mut room = Room::open(dir.path(), Arc::clone(&feed), Vec::new());
        let daily = json!({ "name": "A", "over": { "site": "a.example" }, "to": [{ "route": "old", "how": "daily" }] });
        room.agree(&settings(&[daily], &routes)).unwrap();
        change(&feed, "http://a.example/1");
        room.run().await;
        assert!(old.ids().is_empty());
        room.agree(&settings(&[over("A", "a.example", "new")], &routes)).unwrap();
        change(&feed, "http://a.example/2");
        room.run_after(Span::from_secs(1)).await;
        assert_eq!((old.ids(), new.ids()), (vec!["w1/digest-e1-1/old".into()], vec!["w1/e1-2/new".to_owned()]));
    });
}

#[test]
fn settings_that_cannot_be_are_refused_as_a_whole_and_name_their_place() {
    on_one_thread(async {
        let (dir, feed) = (tempfile::tempdir().unwrap(), Arc::new(Written::default()));
        let receiver = Receiver::start(|_| 200).await;
        let room = Room::open(dir.path(), Arc::clone(&feed), vec![receiver.route("own")]);
        let press = receiver.route("press");
        let good = over("A", "a.example", "press");
        let before = log(dir.path());
        for (wanted, told) in [
            (settings(&[over("A", "a.example", "nowhere")], &[]), "tells the route `nowhere`, which there is not"),
            (settings(&[good.clone(), good.clone()], std::slice::from_ref(&press)), "needs a name of its own"),
            (settings(&[over("", "a.example", "own")], &[]), "needs a name of its own"),
            (settings(&[], &[receiver.route("own")]), "was made by a command"),
            (settings(&[], &[press.clone(), press.clone()]), "is named twice"),
        ] {
            let error = room.agree(&wanted).unwrap_err().to_string();
            assert!(error.starts_with("vernal.toml: the ") && error.contains(told), "{error}");
        }
        assert_eq!(log(dir.path()), before);

        // A route stays as long as a watch that was made by hand tells it, and that is said.
        room.agree(&settings(&[], std::slice::from_ref(&press))).unwrap();
        let id = room.watch(over("By hand", "a.example", "press"));
        let told = room.agree(&settings(&[], &[])).unwrap();
        assert!(told[0].contains("`press` is no more in vernal.toml") && told[0].contains(&id), "{told:?}");
        room.alerts.lock().unwrap().remove(&id, NOON).unwrap();
        assert_eq!(room.agree(&settings(&[], &[])).unwrap(), [""; 0]);
        assert_eq!(made_routes(&room.alerts.lock().unwrap()).len(), 1);
    });
}
