//! Outside judges: other people's archive tools read our segments.
//!
//! `VERNAL_JUDGES` names the `bin` folder of a Python environment with warcio 1.8.1, cdxj-indexer 1.5.0 and pywb 2.10.0.
//! Without it the judges are skipped, and that is said; where `CI` is set their absence is a failure.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod web;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use vernal_repository::archive::{ExportTo, IndexOf, cdxj, export_warc};
use vernal_repository::bodies::{Segments, segments};
use web::{BODY, LIMIT, gzipped, info, moment, sample};

fn judges() -> Option<PathBuf> {
    match std::env::var_os("VERNAL_JUDGES") {
        Some(folder) => Some(folder.into()),
        None if std::env::var_os("CI").is_some() => panic!("VERNAL_JUDGES must name the judges here"),
        None => {
            eprintln!("skipped: VERNAL_JUDGES does not name a folder with warcio, cdxj-indexer and pywb");
            None
        }
    }
}

/// A repository with one sealed segment and one that is still open.
fn repository() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let (mut writer, _) = Segments::open(dir.path(), info(), LIMIT, None, moment(0)).unwrap();
    sample(&mut writer);
    writer.seal().unwrap();
    let sealed = segments(dir.path()).unwrap().remove(0).path;
    (dir, sealed)
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

#[test]
fn warcio_finds_nothing_to_complain_about() {
    let Some(judges) = judges() else { return };
    let (dir, sealed) = repository();
    let copy = dir.path().join("copy.warc.gz");
    export_warc(dir.path(), ExportTo::File(&copy), &|record| record.kind() == "revisit").unwrap();
    for file in [&sealed, &copy] {
        let said = output(Command::new(judges.join("warcio")).args(["check", "-v"]).arg(file));
        // Of each record but the revisits, whose payload lies elsewhere, a digest was checked.
        let verdicts: Vec<&str> = said.lines().map(str::trim).filter(|line| line.starts_with("digest")).collect();
        let unchecked = verdicts.iter().filter(|&&verdict| verdict != "digest pass").count();
        assert_eq!(unchecked, 2, "{said}");
        assert_eq!(verdicts.len(), said.matches("WARC-Record-ID").count(), "{said}");
    }
}

#[test]
fn our_index_is_that_of_the_indexer() {
    let Some(judges) = judges() else { return };
    let (dir, sealed) = repository();
    let mut ours = Vec::new();
    cdxj(dir.path(), IndexOf::Folder, &|_| true, &mut ours).unwrap();
    let theirs = output(Command::new(judges.join("cdxj-indexer")).arg("-s").arg(&sealed));
    assert_eq!(String::from_utf8(ours).unwrap(), theirs);
}

#[test]
fn a_page_and_both_kinds_of_revisit_are_replayed_byte_for_byte() {
    let Some(judges) = judges() else { return };
    let (_dir, sealed) = repository();
    let home = TempDir::new().unwrap();
    output(Command::new(judges.join("wb-manager")).args(["init", "kept"]).current_dir(home.path()));
    output(Command::new(judges.join("wb-manager")).args(["add", "kept"]).arg(&sealed).current_dir(home.path()));
    let replay = Replay::start(&judges, home.path());
    for (stamp, time) in
        [("20260101000140", "00:01:40"), ("20260101000240", "00:02:40"), ("20260101000340", "00:03:40")]
    {
        let (head, body) = replay.ask(&format!("/kept/{stamp}id_/http://example.org/page"));
        assert!(head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.0 200"), "{stamp}: {head}");
        let memento = format!("memento-datetime: thu, 01 jan 2026 {time} gmt");
        assert!(head.to_ascii_lowercase().contains(&memento), "another capture was shown: {head}");
        assert_eq!(body, BODY, "{stamp}: {head}");
    }
    let (head, body) = replay.ask("/kept/20260101000500id_/http://www.example.org/other?b=2&a=1");
    assert!(head.to_ascii_lowercase().contains("content-encoding: gzip"), "{head}");
    assert_eq!(body, gzipped(BODY));
}

/// A replay server that goes when the test does.
struct Replay {
    process: Child,
    port: u16,
}

impl Replay {
    fn start(judges: &Path, home: &Path) -> Replay {
        // The number of a port that was free a moment ago; the server takes no listener from us.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let process = Command::new(judges.join("wayback"))
            .args(["-b", "127.0.0.1", "-p", &port.to_string()])
            .current_dir(home)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut replay = Replay { process, port };
        // A refused connection comes back at once, so each try waits for a short while on a socket that never speaks.
        let silence = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        silence.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
        for _ in 0..1_200 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return replay;
            }
            assert!(replay.process.try_wait().unwrap().is_none(), "the replay server has ended");
            let _ = silence.recv(&mut [0]);
        }
        panic!("the replay server does not answer");
    }

    /// Head and body of one answer. HTTP/1.0 keeps chunks away.
    fn ask(&self, path: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        let accept = "Accept-Encoding: gzip";
        write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n{accept}\r\n\r\n", self.port).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head_end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
        let body = answer.split_off(head_end);
        (String::from_utf8_lossy(&answer).into_owned(), body)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
