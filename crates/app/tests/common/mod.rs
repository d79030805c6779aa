//! The real binary, and a small invented web on loopback for it.
#![allow(dead_code, reason = "no test uses all of it")]
#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

pub mod browser;
pub mod edited;
pub mod replay;
pub mod replica;
pub mod serving;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use vernal_model::Moment;
use vernal_simulator::serve::{ServeOptions, Served, serve};
use vernal_simulator::web::{Web, WebSettings};

/// The hour in the invented web: nothing changes while it stands.
pub const HOUR: Moment = Moment::from_secs(1_800_000_000);

pub fn vernal(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vernal"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("VERNAL_")) {
        command.env_remove(name);
    }
    // What is tested does not depend on how full the disk of this machine is.
    command.env("VERNAL_DISK_FREE_MIN", "0");
    // These tests count pages, and the lists of hints are pages too; `hints.rs` asks for them by itself.
    command.env("VERNAL_HINTS", "off");
    // A folder of its own, so that nobody's vernal.toml is read.
    command.current_dir(data.parent().expect("the data folder lies in a folder")).arg("--data").arg(data);
    command
}

pub fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().expect("the binary runs")
}

/// Runs to a good end and gives standard output.
pub fn told(command: &mut Command) -> String {
    let output = output(command);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {} {complaint}", output.status);
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Runs to a bad end and gives the code and standard error.
pub fn refused(command: &mut Command) -> (i32, String) {
    let output = output(command);
    (output.status.code().expect("the process ended by itself"), String::from_utf8_lossy(&output.stderr).into_owned())
}

pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

pub fn invented(settings: WebSettings) -> Served {
    let web = Web::new(settings).expect("the web can be made");
    serve(&web, Arc::new(|| HOUR), &ServeOptions::default()).expect("loopback is there")
}

/// A web whose hour is that of the wall, with an address of its own for each site.
pub fn invented_in_real_time(settings: WebSettings) -> Served {
    let web = Web::new(settings).expect("the web can be made");
    let options = ServeOptions { spread_addresses: true, ..ServeOptions::default() };
    serve(&web, Arc::new(wall), &options).expect("loopback is there")
}

/// The hour on the wall, by which the crawl under test goes too.
#[expect(clippy::disallowed_methods, reason = "the server and the binary must share one clock")]
pub fn wall() -> Moment {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
    Moment::from_micros(i64::try_from(since.as_micros()).expect("it is before the year 292000"))
}

/// Looks again and again until it is so; gives up after a minute and a half without it.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..45_000 {
        if is_so() {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(2));
    }
    panic!("waited in vain: {what}");
}

/// `verify` of a folder; it must be sound.
pub fn assert_sound(data: &Path) -> Value {
    let output = output(vernal(data).args(["verify", "--json"]));
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("a verdict is JSON");
    assert!(output.status.success() && verdict["sound"] == true, "{verdict:#}");
    verdict
}

pub fn small_web() -> Served {
    invented(WebSettings::plain(2, 12).still())
}

/// `run` with the manners of a test: loopback allowed, hardly any delay, nobody served on the network.
pub fn run(data: &Path) -> Command {
    let mut command = vernal(data);
    command.args(["run", "-q", "--allow-private", "--delay", "2ms", "--no-serve"]);
    command
}

pub fn crawl_until_idle(data: &Path, served: &Served) {
    told(run(data).arg("--until-idle").args(served.seeds()));
}

/// A crawl that runs beside the test, and never outlives it.
pub struct Running(pub Child);

impl Running {
    pub fn start(command: &mut Command, data: &Path) -> Running {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut running = Running(child.expect("the binary starts"));
        wait_until("the crawl answers on its socket", || {
            let ended = running.0.try_wait().expect("it can be asked for");
            assert!(ended.is_none(), "{command:?}: {ended:?} {}", running.complaint());
            std::os::unix::net::UnixStream::connect(data.join("vernal.sock")).is_ok()
        });
        running
    }

    /// What an ended process said on standard error.
    fn complaint(&mut self) -> String {
        let stderr = self.0.stderr.as_mut().expect("standard error is ours");
        std::io::read_to_string(stderr).unwrap_or_default()
    }

    /// Where it serves, as it said on standard error.
    pub fn listening(&mut self) -> String {
        use std::io::{BufRead, BufReader};
        let lines = BufReader::new(self.0.stderr.as_mut().expect("standard error is ours")).lines();
        let said = lines.map_while(Result::ok).find_map(|line| {
            let (_, url) = line.split_once("serving on http")?;
            Some(url.split_once("://")?.1.to_owned())
        });
        said.expect("it says where it serves").trim_end_matches('/').to_owned()
    }

    /// Asks for a clean stop and gives the exit code.
    pub fn stop(mut self) -> Option<i32> {
        let process = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &process]).status().expect("kill runs").success());
        self.0.wait().expect("the process ends").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One request to the port of a crawl by hand, and its whole answer.
pub fn ask_port(address: &str, head: &str) -> String {
    ask_port_with(address, head, "")
}

/// The same with a body, whose length stands in the head.
pub fn ask_port_with(address: &str, head: &str, body: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    write!(stream, "{head}Host: {address}\r\nConnection: close\r\n\r\n{body}").expect("it hears");
    let mut answer = Vec::new();
    // A connection that is cut off has the answer that came before.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// What a write through the port of a crawl carries where no token was given.
pub fn local_token(data: &Path) -> String {
    let token = std::fs::read_to_string(data.join("local-token")).expect("a crawl that serves has a token");
    format!("Authorization: Bearer {}\r\n", token.trim())
}
