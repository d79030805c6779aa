//! One child as its parent sees it.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::confine::Confinement;
use super::frames::{HEAD_BYTES, HTML, head, parse_head};
use super::limits::Limits;
use crate::fault::Fault;
use crate::kind::FileKind;

/// A child that did not say how it is confined by then does not live.
const START_WITHIN: Duration = Duration::from_secs(10);

/// A started child. It dies with this value.
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    pub confinement: Confinement,
    files: u32,
    /// The time that its files took together.
    spent: Duration,
}

impl Process {
    pub fn start(program: &Path, arguments: &[OsString]) -> Result<Process, Fault> {
        let failed = |error: std::io::Error| Fault::NoProcess(error.to_string());
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Fault::NoProcess("it has no pipes".into()));
        };
        let mut process =
            Process { child, input, output, confinement: Confinement::default(), files: 0, spent: Duration::ZERO };
        process.prepare().map_err(failed)?;
        let mut said = [0];
        let deadline = now() + START_WITHIN;
        process.fill(&mut said, deadline).map_err(|_| Fault::NoProcess("it ended before it began".into()))?;
        process.confinement = Confinement::of_byte(said[0]);
        Ok(process)
    }

    /// Neither end may keep us waiting.
    fn prepare(&self) -> std::io::Result<()> {
        for pipe in [self.input.as_fd(), self.output.as_fd()] {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(())
    }

    /// Whether it still runs. An idle child may have been ended by the system.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Whether another child should read the next file. Its processor time is limited as a whole, so it goes before half of that is used.
    pub fn is_spent(&self, limits: &Limits) -> bool {
        self.files >= limits.files || self.spent.as_secs() >= limits.cpu_seconds / 2
    }

    /// Gives it one file. After an `Err` of the outer kind it is of no more use.
    pub fn read(&mut self, kind: FileKind, bytes: &[u8], limits: &Limits) -> Result<Result<String, Fault>, Fault> {
        let began = now();
        let read = self.exchange(kind, bytes, limits, began + limits.time);
        self.files += 1;
        self.spent += now().saturating_duration_since(began);
        read
    }

    fn exchange(
        &mut self,
        kind: FileKind,
        bytes: &[u8],
        limits: &Limits,
        deadline: Instant,
    ) -> Result<Result<String, Fault>, Fault> {
        let told = |fault: Broken| match fault {
            Broken::TooLate => Fault::TookTooLong { seconds: limits.time.as_secs().max(1) },
            Broken::Gone => Fault::Crashed,
        };
        let begin = head(kind as u8, bytes.len()).ok_or(Fault::Crashed)?;
        self.send(&begin, deadline).map_err(told)?;
        self.send(bytes, deadline).map_err(told)?;
        let mut begin = [0; HEAD_BYTES];
        self.fill(&mut begin, deadline).map_err(told)?;
        let (kind, length) = parse_head(begin);
        if length > limits.html_bytes {
            return Err(Fault::TooLarge { what: "its text", limit: format!("{} MB", limits.html_bytes >> 20) });
        }
        let mut text = vec![0; length];
        self.fill(&mut text, deadline).map_err(told)?;
        let text = String::from_utf8(text).map_err(|_| Fault::Crashed)?;
        Ok(if kind == HTML { Ok(text) } else { Err(Fault::broken(text)) })
    }

    fn send(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), Broken> {
        while !bytes.is_empty() {
            match self.input.write(bytes) {
                Ok(0) => return Err(Broken::Gone),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.input.as_fd(), PollFlags::OUT, deadline)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken::Gone),
            }
        }
        Ok(())
    }

    fn fill(&mut self, mut into: &mut [u8], deadline: Instant) -> Result<(), Broken> {
        while !into.is_empty() {
            match self.output.read(into) {
                Ok(0) => return Err(Broken::Gone),
                Ok(read) => into = &mut into[read..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.output.as_fd(), PollFlags::IN, deadline)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken::Gone),
            }
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        // A killed process ends at once; without this it would stay a zombie.
        let _ = self.child.wait();
    }
}

enum Broken {
    TooLate,
    Gone,
}

fn wait(pipe: &impl AsFd, wanted: PollFlags, deadline: Instant) -> Result<(), Broken> {
    let left = deadline.saturating_duration_since(now());
    if left.is_zero() {
        return Err(Broken::TooLate);
    }
    let left = Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos().into() };
    let ready = poll(&mut [PollFd::new(pipe, wanted)], Some(&left));
    match ready {
        Ok(0) => Err(Broken::TooLate),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(_) => Err(Broken::Gone),
    }
}

#[expect(clippy::disallowed_methods, reason = "a process that hangs hangs in real time")]
fn now() -> Instant {
    Instant::now()
}
