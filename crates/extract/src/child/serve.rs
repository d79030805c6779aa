//! The child's own loop: files come in, HTML goes out.

use std::io::{ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::confine::confine;
use super::frames::{FAULT, HEAD_BYTES, HTML, head, parse_head};
use super::limits::Limits;
use crate::fault::Fault;
use crate::kind::FileKind;
use crate::read_file::read_file;

/// Serves a parent until it closes our input. Nothing is read before this process is confined.
pub fn serve(limits: &Limits) -> std::io::Result<()> {
    // The words of a panic would go to the log of the parent; its fault says enough.
    std::panic::set_hook(Box::new(|_| {}));
    let confinement = confine(limits)?;
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    output.write_all(&[confinement.byte()])?;
    output.flush()?;
    loop {
        let mut begin = [0; HEAD_BYTES];
        match input.read_exact(&mut begin) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let (kind, length) = parse_head(begin);
        if length > limits.file_bytes {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut bytes = vec![0; length];
        input.read_exact(&mut bytes)?;
        let answer = FileKind::of_number(kind).map(|kind| catch_unwind(AssertUnwindSafe(|| read_file(kind, &bytes))));
        let (kind, text) = match answer {
            Some(Ok(Ok(html))) => (HTML, html),
            Some(Ok(Err(fault))) => (FAULT, fault.to_string()),
            Some(Err(_)) => (FAULT, Fault::Crashed.to_string()),
            None => (FAULT, "a kind of file that this version does not know".into()),
        };
        drop(bytes);
        let begin = head(kind, text.len()).ok_or(ErrorKind::InvalidData)?;
        output.write_all(&begin)?;
        output.write_all(text.as_bytes())?;
        output.flush()?;
    }
}
