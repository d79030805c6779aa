//! pywb on a port of its own, asked for captures.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::wait_until;

/// A replay server that goes when the test does.
pub struct Replay {
    process: Child,
    port: u16,
}

impl Replay {
    pub fn start(judges: &Path, home: &Path) -> Replay {
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
        wait_until("the replay server answers", || {
            assert!(replay.process.try_wait().unwrap().is_none(), "the replay server has ended");
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
        });
        replay
    }

    /// Where a browser sees the capture of this second, with its links led to the same server.
    pub fn address(&self, started: &str, url: &str) -> String {
        let second: String = started.chars().filter(char::is_ascii_digit).take(14).collect();
        format!("http://127.0.0.1:{}/kept/{second}/{url}", self.port)
    }

    /// The capture of this very second: its head in small letters, and its body. HTTP/1.0 keeps chunks away.
    pub fn ask(&self, started: &str, url: &str) -> (String, Vec<u8>) {
        let second: String = started.chars().filter(char::is_ascii_digit).take(14).collect();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        let lines = format!("GET /kept/{second}id_/{url} HTTP/1.0\r\nHost: 127.0.0.1:{}", self.port);
        write!(stream, "{lines}\r\nAccept-Encoding: gzip\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head_end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
        let body = answer.split_off(head_end);
        let head = String::from_utf8_lossy(&answer).to_ascii_lowercase();
        assert!(head.split(' ').nth(1) == Some("200"), "{url} at {second}: {head}");
        let hour = format!("{}:{}:{} gmt", &second[8..10], &second[10..12], &second[12..14]);
        let memento = head.lines().find(|line| line.starts_with("memento-datetime:"));
        assert!(memento.is_some_and(|line| line.ends_with(&hour)), "{url} at {second}: another capture: {head}");
        (head, body)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
