//! A program of the operator: it gets the delivery as JSON on its standard input, and takes it by ending with 0.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use super::attempt::{Outcome, answer_text};
use super::network::SendError;
use crate::outbox::{ANSWER_BYTES_MAX, Delivery};
use crate::route::Program;
use crate::template;

/// A program that runs longer is ended, and has taken nothing.
const RUNS_MAX: Duration = Duration::from_secs(30);

pub(super) async fn run(program: &Program, delivery: &Delivery, links: Option<&str>) -> Result<Outcome, SendError> {
    let failed = |act: &str, error: std::io::Error| SendError(format!("{act} {}: {error}", program.path));
    // Nothing that a site wrote is part of the command line: the program is started without a shell, with fixed arguments.
    let mut child = Command::new(&program.path)
        .args(&program.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed("start", error))?;
    let (mut input, said) = (child.stdin.take(), child.stderr.take());
    let body = template::json(delivery, links);
    let talk = async {
        if let Some(input) = &mut input {
            // A program may end before it has read everything; its exit code decides.
            let _ = input.write_all(body.as_bytes()).await;
            let _ = input.write_all(b"\n").await;
        }
        drop(input);
        let mut told = Vec::new();
        if let Some(said) = said {
            let mut first = said.take(ANSWER_BYTES_MAX as u64);
            let _ = first.read_to_end(&mut told).await;
            // What it says beyond that is read and dropped, so that it is not held up.
            let _ = tokio::io::copy(&mut first.into_inner(), &mut tokio::io::sink()).await;
        }
        (child.wait().await, told)
    };
    let Ok((ended, told)) = tokio::time::timeout(RUNS_MAX, talk).await else {
        return Err(SendError(format!("{} was ended after {} s", program.path, RUNS_MAX.as_secs())));
    };
    let status = ended.map_err(|error| failed("wait for", error))?;
    let code = status.code().and_then(|code| u16::try_from(code).ok());
    let answer = if told.is_empty() && !status.success() { status.to_string() } else { answer_text(&told) };
    Ok(Outcome { taken: status.success(), status: code, answer, gone: false })
}
