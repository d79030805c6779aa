//! The control connection: one command, one reply.

use std::net::IpAddr;

use tokio::net::TcpStream;
use tokio::time::timeout;
use vernal_model::{Failure, Outcome, Stage};

use crate::Settings;
use crate::answer::protocol;
use crate::stream::{Meter, Stream};

/// One line of a reply.
const LINE_BYTES_MAX: usize = 4 << 10;

pub struct Control<'a> {
    stream: Stream,
    /// The peer address. Data connections go there, whatever address a reply names.
    pub peer: IpAddr,
    settings: &'a Settings,
    meter: &'a Meter,
    buffer: Vec<u8>,
    /// Bytes of replies so far. The limit of a head applies to their sum.
    heard: usize,
}

#[derive(Debug)]
pub struct Reply {
    pub code: u16,
    pub lines: Vec<String>,
}

impl Reply {
    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// A preliminary reply: data is on its way.
    pub fn is_begun(&self) -> bool {
        (100..200).contains(&self.code)
    }

    /// The text of the first line.
    pub fn text(&self) -> &str {
        self.lines.first().map_or("", |line| line.get(4..).unwrap_or("").trim())
    }

    /// The outcome of a reply that refuses the request and says nothing about the file.
    pub fn outcome(&self) -> Outcome {
        Outcome::Failed(Failure::Status { status: self.code, retry_after: None })
    }
}

impl<'a> Control<'a> {
    pub fn new(stream: TcpStream, settings: &'a Settings, meter: &'a Meter) -> Result<Self, Failure> {
        let peer = stream.peer_addr().map_err(|error| Failure::Connect(error.to_string()))?.ip();
        let stream = Stream::Plain(stream);
        Ok(Control { stream, peer, settings, meter, buffer: Vec::new(), heard: 0 })
    }

    pub async fn command(&mut self, verb: &str, argument: &[u8]) -> Result<Reply, Failure> {
        self.send(verb, argument).await?;
        self.reply().await
    }

    /// Sends QUIT and does not wait for the reply.
    pub async fn quit(mut self) {
        let _ = self.send("QUIT", b"").await;
    }

    async fn send(&mut self, verb: &str, argument: &[u8]) -> Result<(), Failure> {
        if argument.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(protocol("the path cannot stand in a line"));
        }
        let mut line = verb.as_bytes().to_vec();
        if !argument.is_empty() {
            line.push(b' ');
            line.extend_from_slice(argument);
        }
        line.extend_from_slice(b"\r\n");
        self.stream.send(&line, self.meter).await.map_err(|error| protocol(format!("send {verb}: {error}")))
    }

    /// Reads one reply of one or more lines (`226-…` until `226 …`).
    pub async fn reply(&mut self) -> Result<Reply, Failure> {
        let first = self.line().await?;
        let code = code(&first).ok_or_else(|| protocol("no FTP reply"))?;
        let mut is_open = first.as_bytes().get(3) == Some(&b'-');
        let mut lines = vec![first];
        while is_open {
            let line = self.line().await?;
            is_open = self::code(&line) != Some(code) || line.as_bytes().get(3) == Some(&b'-');
            lines.push(line);
        }
        Ok(Reply { code, lines })
    }

    async fn line(&mut self) -> Result<String, Failure> {
        loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
                let line = String::from_utf8_lossy(self.buffer[..end].trim_ascii_end()).into_owned();
                self.buffer.drain(..=end);
                return Ok(line);
            }
            if self.buffer.len() > LINE_BYTES_MAX || self.heard > self.settings.head_bytes_max {
                return Err(Failure::HeadTooLarge);
            }
            let read = self.stream.receive(&mut self.buffer, LINE_BYTES_MAX, self.meter);
            match timeout(self.settings.timeouts.first_byte, read).await {
                Ok(Ok(0)) => return Err(protocol("closed without a reply")),
                Ok(Ok(count)) => self.heard += count,
                Ok(Err(error)) => return Err(protocol(format!("no reply: {error}"))),
                Err(_) => return Err(Failure::Timeout(Stage::FirstByte)),
            }
        }
    }
}

fn code(line: &str) -> Option<u16> {
    let digits = line.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok()
}
