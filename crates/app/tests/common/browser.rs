//! Chromium without a window, and what it makes of a page.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::output;

/// The browser of this machine.
pub fn chromium() -> Option<PathBuf> {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&places).map(|place| place.join("chromium")).find(|path| path.is_file());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "chromium must be there");
        eprintln!("skipped: there is no chromium in PATH");
    }
    found
}

/// The page as the browser has it after some seconds of its own time.
pub fn browsed(chromium: &Path, profile: &Path, address: &str) -> String {
    let mut command = Command::new(chromium);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    let output = output(command.args(["--virtual-time-budget=4000", "--dump-dom", address]));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
