//! The API under load: strangers open connections, send nothing, read nothing, or write without leave. The crawl goes on
//! and others are answered.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Running, ask_port, crawl_until_idle, local_token, small_web, told, vernal, wait_until};

/// Files that the crawl under test may have open.
const DESCRIPTORS: usize = 256;

/// Our binary in a shell that limits its open files first.
fn limited(data: &Path, limit: &str) -> Command {
    let (command, mut whole) = (vernal(data), Command::new("sh"));
    whole.arg("-c").arg(format!("ulimit {limit}; exec \"$@\"")).arg("sh");
    whole.arg(command.get_program()).args(command.get_args()).current_dir(data.parent().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => whole.env(name, value),
            None => whole.env_remove(name),
        };
    }
    whole
}

/// A crawl that serves and may open few files.
fn crawl_with_few_files(data: &Path) -> Running {
    let mut whole = limited(data, &format!("-n {DESCRIPTORS}"));
    whole.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    Running::start(&mut whole, data)
}

fn metric(address: &str, name: &str) -> u64 {
    let metrics = ask_port(address, "GET /metrics HTTP/1.1\r\n");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("vernal_{name} ")).map(str::to_owned));
    line.unwrap_or_else(|| panic!("{name} is counted: {metrics}")).parse().unwrap()
}

fn threads(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/task")).unwrap().count()
}

#[test]
fn silent_connections_end_no_crawl_and_keep_nobody_out() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let mut running = crawl_with_few_files(&data);
    let address = running.listening();
    let mut silent = Vec::new();
    for _ in 0..DESCRIPTORS + 50 {
        silent.push(TcpStream::connect(&address).unwrap());
    }
    for path in ["/", "/api/v1/status", "/healthz"] {
        let answer = ask_port(&address, &format!("GET {path} HTTP/1.1\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    assert!(metric(&address, "api_connections") <= DESCRIPTORS as u64 / 8);
    assert!(metric(&address, "api_connections_gave_way_total") > 0);
    // The store and the socket still get the files that they need.
    told(vernal(&data).args(["seeds", "add", "--allow-private", "http://127.0.0.1:9/"]));
    drop(silent);
    assert_eq!(running.stop(), Some(0));
    common::assert_sound(&data);
}

#[test]
fn answers_and_streams_that_nobody_reads_cost_few_threads_and_keep_nobody_out() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let mut running = crawl_with_few_files(&data);
    let address = running.listening();
    let mut unread = Vec::new();
    for number in 0..600 {
        let mut stream = TcpStream::connect(&address).unwrap();
        let path = ["/api/v1/changes/stream", "/api/v1/changes", "/api/v1/pages"][number % 3];
        // Whoever had to make room may find its connection closed already.
        let _ = write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
        unread.push(stream);
    }
    let answer = ask_port(&address, "GET / HTTP/1.1\r\n");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(metric(&address, "api_connections") <= DESCRIPTORS as u64 / 8);
    // The pool of answers has a thread for each connection that may be open and 32 more; the rest of the process has a few.
    let limit = DESCRIPTORS / 8 + 32 + 40;
    assert!(threads(running.0.id()) < limit, "{} threads", threads(running.0.id()));
    // Those whose connections gave way end as soon as they run again, which takes a moment on a busy machine.
    wait_until("the answers that nobody reads have few threads", || threads(running.0.id()) < 80);
    drop(unread);
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn another_user_of_the_machine_reads_through_the_port_and_cannot_write() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
    let mut command = vernal(&data);
    command.args(["run", "--allow-private", "--budget", "1/week", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(&mut command, &data);
    let address = running.listening();
    let seed = &served.seeds()[0];
    let push = format!("GET /indexnow?url={seed} HTTP/1.1\r\n");
    let pause = "POST /api/v1/pause HTTP/1.1\r\nContent-Length: 0\r\n";
    for write in [pause, &push] {
        let answer = ask_port(&address, write);
        assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("local-token"), "{answer}");
    }
    let paused = || told(vernal(&data).args(["status", "--json"])).contains("\"paused\":true");
    assert!(!paused());
    assert!(ask_port(&address, "GET /api/v1/status HTTP/1.1\r\n").starts_with("HTTP/1.1 200"));
    let answer = ask_port(&address, &format!("{pause}{}", local_token(&data)));
    assert!(answer.starts_with("HTTP/1.1 200") && paused(), "{answer}");
    // The commands go through the socket and need nothing.
    told(vernal(&data).arg("resume"));
    assert!(!paused());
    assert_eq!(running.stop(), Some(0));
    assert!(!data.join("local-token").exists());
}

#[test]
fn the_limit_of_open_files_is_raised_at_the_start() {
    let (dir, served) = (tempfile::tempdir().unwrap(), small_web());
    let data = dir.path().join("data");
    crawl_until_idle(&data, &served);
    let mut whole = limited(&data, "-Sn 128");
    whole.args(["run", "-q", "--allow-private", "--no-serve", "--budget", "1/week"]).stdin(Stdio::null());
    let running = Running::start(&mut whole, &data);
    let mut limits = String::new();
    wait_until("the limits can be read", || {
        limits = fs::read_to_string(format!("/proc/{}/limits", running.0.id())).unwrap_or_default();
        limits.contains("Max open files")
    });
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let soft: usize = line.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!(soft > 128, "{line}");
    assert_eq!(running.stop(), Some(0));
}
