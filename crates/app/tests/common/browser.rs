//! One Chromium, spoken to through a pipe in the protocol of its developer tools, so that no other program is needed.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};

use super::output;

/// Longer than any screen takes on a machine that does ten other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one tab.
pub struct Browser {
    process: Child,
    pipe: File,
    told: Receiver<Value>,
    events: VecDeque<Value>,
    session: String,
    calls: u64,
    /// What a reader's console would show: errors, refusals of the policy, dialogues.
    pub faults: Vec<String>,
    _home: tempfile::TempDir,
}

/// The window and the wishes of a reader.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub width: u32,
    pub is_dark: bool,
}

pub fn chromium() -> Option<PathBuf> {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&places).map(|place| place.join("chromium")).find(|path| path.is_file());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "chromium must be there");
        eprintln!("skipped: there is no chromium in PATH");
    }
    found
}

/// The judge of accessibility, which `./x test` installs; `None` where it is not there.
pub fn axe() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/browser/node_modules/axe-core/axe.min.js");
    let found = std::fs::read_to_string(&path).ok();
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "{} must be there: ./x test installs it", path.display());
        eprintln!("skipped: there is no {}", path.display());
    }
    found
}

impl Browser {
    pub fn start(chromium: &Path) -> Browser {
        let home = tempfile::tempdir().unwrap();
        let (to, from) = (home.path().join("to"), home.path().join("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // The browser reads what it is to do from its third file and answers into its fourth.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\""]).arg(chromium).args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
        ]);
        command.arg(format!("--user-data-dir={}", home.path().join("profile").display())).arg("about:blank");
        command.env("TO", &to).env("FROM", &from).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().unwrap();
        let pipe = OpenOptions::new().write(true).open(&to).unwrap();
        let answers = BufReader::new(File::open(&from).unwrap());
        let (tell, told) = channel();
        std::thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if tell.send(message).is_err() {
                    break;
                }
            }
        });
        let (session, calls) = (String::new(), 0);
        let (events, faults) = (VecDeque::new(), Vec::new());
        let mut browser = Browser { process, pipe, told, events, session, calls, faults, _home: home };
        let tab = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": tab["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// One command, and what the browser answers.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.pipe.write_all(format!("{message}\0").as_bytes()).expect("the browser hears");
        loop {
            let mut message = self.next(method);
            if message["id"] == self.calls {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.note(message);
        }
    }

    fn next(&mut self, waits_for: &str) -> Value {
        self.told.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("waited in vain for {waits_for}: {error}"))
    }

    fn note(&mut self, event: Value) {
        let told = &event["params"];
        let fault = match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => Some(told["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if told["type"] != "log" => Some(told["args"].to_string()),
            "Log.entryAdded" if told["entry"]["level"] == "error" => Some(told["entry"].to_string()),
            "Page.javascriptDialogOpening" => Some(format!("a dialogue: {}", told["message"])),
            _ => None,
        };
        self.faults.extend(fault);
        self.events.push_back(event);
    }

    /// Waits for an event that came since it was last waited for.
    pub fn wait_for(&mut self, name: &str) -> Value {
        loop {
            while let Some(event) = self.events.pop_front() {
                if event["method"] == name {
                    return event["params"].clone();
                }
            }
            let event = self.next(name);
            self.note(event);
        }
    }

    pub fn look_as(&mut self, View { width, is_dark }: View) {
        let height = if width > 600 { 900 } else { 844 };
        let window = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", window);
        let scheme = if is_dark { "dark" } else { "light" };
        let wishes = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" }
        ]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": wishes }));
    }

    /// Opens an address and waits until it and its parts are there.
    pub fn open(&mut self, address: &str) {
        self.events.clear();
        let opened = self.call("Page.navigate", json!({ "url": address }));
        assert!(opened.get("errorText").is_none(), "{address}: {opened}");
        self.settle();
    }

    /// Waits for a page that is on its way.
    pub fn settle(&mut self) {
        self.wait_for("Page.loadEventFired");
        self.run(
            "new Promise(done => { const look = () => document.querySelector('[aria-busy]') \
             ? requestAnimationFrame(look) : document.fonts.ready.then(() => done(true)); look(); })",
        );
    }

    /// What an expression comes to, promises included.
    pub fn run(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression:.200}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// Presses one key, as a reader does.
    pub fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { key };
        let down = match key {
            "Tab" | "Escape" => {
                json!({ "type": "rawKeyDown", "key": key, "windowsVirtualKeyCode": if key == "Tab" { 9 } else { 27 } })
            }
            _ => {
                json!({ "type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": if key == "Enter" { 13 } else { 0 } })
            }
        };
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    pub fn picture(&mut self, into: &Path) {
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = base64::engine::general_purpose::STANDARD.decode(taken["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(into.parent().unwrap()).unwrap();
        std::fs::write(into, bytes).unwrap();
    }

    /// Brings the judge into the page.
    pub fn brings(&mut self, axe: &str) {
        self.run(&format!("{axe}; true"));
    }

    /// What stands against the accessibility of the page as it looks now, one line for each rule.
    pub fn violations(&mut self) -> Vec<String> {
        let found = self.run(
            "axe.run({ resultTypes: ['violations'] }).then(found => found.violations.map(one => \
             `${one.id}: ${one.nodes.length} × ${one.nodes[0].html.slice(0, 200)} ${one.nodes[0].failureSummary}`))",
        );
        serde_json::from_value(found).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The page as a browser without a tab of its own has it after some seconds of its own time.
pub fn browsed(chromium: &Path, profile: &Path, address: &str) -> String {
    let mut command = Command::new(chromium);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    let output = output(command.args(["--virtual-time-budget=4000", "--dump-dom", address]));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
