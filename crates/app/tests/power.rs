//! The power goes off under the real binary: the data folder lies in a file system of its own, within an image, and the image is
//! copied while the crawl writes. The copy has what was synced, and nothing that only the memory of the system held.
//!
//! This needs the right to mount. Where that is missing, the test says so and tries nothing. `VERNAL_POWER_ROUNDS` gives
//! another number of rounds than 20.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Running, assert_sound, invented_in_real_time, json_lines, told, vernal, wait_until};
use serde_json::Value;
use tempfile::TempDir;
use vernal_model::Chance;
use vernal_simulator::web::WebSettings;

const ROUNDS: u64 = 20;
const IMAGE_BYTES: u64 = 256 << 20;

/// A file system within an image, mounted until this is dropped.
struct Disk {
    folder: TempDir,
    is_mounted: bool,
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

impl Disk {
    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// `None` where nothing can be mounted.
    fn new() -> Option<Disk> {
        let mut disk = Disk { folder: tempfile::tempdir().unwrap(), is_mounted: false };
        fs::create_dir(disk.root()).unwrap();
        fs::File::create(disk.image()).unwrap().set_len(IMAGE_BYTES).unwrap();
        let made = succeeds(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(disk.image()));
        (made && disk.mount()).then_some(disk)
    }

    /// The file system writes nothing by itself for five minutes: only what is synced reaches the image.
    fn mount(&mut self) -> bool {
        let mut command = Command::new("mount");
        command.args(["-o", "loop,commit=300"]).arg(self.image()).arg(self.root());
        self.is_mounted = succeeds(&mut command);
        self.is_mounted
    }

    /// The disk as a computer finds it that lost its power now. The crawl stands still while the image is copied.
    fn after_power_loss(&self, running: Running) -> Disk {
        let mut after = Disk { folder: tempfile::tempdir().unwrap(), is_mounted: false };
        fs::create_dir(after.root()).unwrap();
        assert!(succeeds(Command::new("kill").args(["-STOP", &running.0.id().to_string()])));
        assert!(succeeds(Command::new("cp").arg("--sparse=always").arg(self.image()).arg(after.image())));
        drop(running);
        assert!(after.mount());
        after
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.is_mounted {
            wait_until("the disk is let go", || succeeds(Command::new("umount").arg(self.root())));
        }
    }
}

/// What readers had been told, and may rely on.
#[derive(Default)]
struct Acknowledged {
    versions: BTreeMap<String, Value>,
    events: Vec<Value>,
}

impl Acknowledged {
    fn by(data: &Path) -> Acknowledged {
        let events = json_lines(&told(vernal(data).args(["changes", "--json"])));
        let held = json_lines(&told(vernal(data).args(["pages", "--json", "--state", "held"])));
        let version = |page: Value| (page["url"].as_str().unwrap().to_owned(), page["version"].clone());
        Acknowledged { versions: held.into_iter().map(version).collect(), events }
    }

    fn assert_still_in(&self, later: &Acknowledged, when: &str) {
        assert!(later.events.starts_with(&self.events), "{when}: the feed was told otherwise before");
        for (url, version) in &self.versions {
            assert_eq!(later.versions.get(url), Some(version), "{when}: {url}");
        }
    }
}

#[test]
fn power_that_goes_off_again_and_again_takes_nothing_that_was_acknowledged() {
    let Some(mut disk) = Disk::new() else {
        eprintln!("nothing can be mounted here: the loss of power was NOT tried");
        return;
    };
    let rounds = std::env::var("VERNAL_POWER_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    let served = invented_in_real_time(WebSettings::plain(3, 2_000).still());
    let mut chance = Chance::new(7).stream("power");
    let mut acknowledged = Acknowledged::default();
    // At this pace no round comes to the end of the web.
    let crawl = |data: &Path| {
        let mut command = vernal(data);
        command.args(["run", "-q", "--allow-private", "--no-serve", "--delay", "60ms"]).args(served.seeds());
        command
    };
    for round in 0..rounds {
        let (data, when) = (disk.root().join("data"), format!("round {round}"));
        if round > 0 {
            let now = Acknowledged::by(&data);
            acknowledged.assert_still_in(&now, &when);
            assert_sound(&data);
        }
        let before = served.counts().requests;
        let running = Running::start(&mut crawl(&data), &data);
        let asked = before + 1 + chance.below(30);
        wait_until("the crawl asks", || served.counts().requests >= asked);
        acknowledged = Acknowledged::by(&data);
        let asked = asked + chance.below(20);
        wait_until("the crawl goes on", || served.counts().requests >= asked);
        disk = disk.after_power_loss(running);
    }
    let data = disk.root().join("data");
    acknowledged.assert_still_in(&Acknowledged::by(&data), "at the end");
    told(crawl(&data).args(["--visits", "30"]));
    assert_sound(&data);
    assert!(Acknowledged::by(&data).versions.len() > acknowledged.versions.len(), "the crawl goes on");
}
