//! Reads a body to its end and removes the transfer coding.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use vernal_model::{Failure, OrderKind};

use super::head::Framing;
use crate::answer::protocol;
use crate::stream::{Meter, Stream};

/// The size line of a chunk, with its extensions.
const CHUNK_LINE_BYTES_MAX: usize = 1 << 10;
/// Chunk extensions and trailers of one body together.
const CHUNK_EXTRAS_BYTES_MAX: usize = 16 << 10;
/// So much of an announced length is allocated at once. Beyond it the buffer grows as bytes arrive.
const LENGTH_BELIEVED_BYTES: u64 = 64 << 10;

/// A larger read buffer is dropped after use.
const BUFFER_KEPT_BYTES: usize = 64 << 10;

/// A read buffer that the connections of one loop share. Most answers arrive and are read at once, so one buffer is enough
/// for all. A connection that finds it in use allocates another.
#[derive(Clone, Default)]
pub struct SharedBuffer(Rc<Cell<Vec<u8>>>);

impl SharedBuffer {
    fn take(&self) -> Vec<u8> {
        self.0.take()
    }

    fn put_back(&self, mut buffer: Vec<u8>) {
        if (1..=BUFFER_KEPT_BYTES).contains(&buffer.capacity()) {
            buffer.clear();
            self.0.set(buffer);
        }
    }
}

/// A connection with the received bytes that were not consumed yet.
pub struct Incoming {
    pub stream: Stream,
    buffer_source: SharedBuffer,
    buffer: Vec<u8>,
    start: usize,
}

impl Incoming {
    pub fn new(stream: Stream, buffer_source: SharedBuffer) -> Self {
        Incoming { stream, buffer_source, buffer: Vec::new(), start: 0 }
    }

    pub fn available(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    pub fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        if self.start >= self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
        }
    }

    /// Waits for more bytes; 0 is the end.
    pub async fn fill(&mut self, meter: &Meter) -> io::Result<usize> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        if self.buffer.capacity() == 0 {
            // A connection that waits for its site holds no buffer.
            self.stream.await_bytes().await?;
            self.buffer = self.buffer_source.take();
        }
        self.stream.receive(&mut self.buffer, usize::MAX, meter).await
    }

    /// Returns an empty buffer, because hundreds of connections may be idle.
    pub fn trim(&mut self) {
        if self.buffer.is_empty() {
            self.buffer_source.put_back(std::mem::take(&mut self.buffer));
        }
    }
}

/// Of a robots.txt at least so much is read, however small the limit of other bodies is: RFC 9309 asks for 500 KiB.
const ROBOTS_BYTES_MIN: usize = 512 << 10;

/// How much of a body is read.
#[derive(Copy, Clone, Debug)]
pub struct BodyLimit {
    pub bytes_max: usize,
    /// Whether a larger body is cut off there; otherwise it is a failure.
    pub cuts: bool,
}

impl BodyLimit {
    /// A robots.txt holds up to the limit, because a site must not get rid of its rules by making them longer.
    pub fn of(kind: &OrderKind, bytes_max: usize) -> BodyLimit {
        match kind {
            OrderKind::Robots => BodyLimit { bytes_max: bytes_max.max(ROBOTS_BYTES_MIN), cuts: true },
            OrderKind::Page | OrderKind::Subscription(_) => BodyLimit { bytes_max, cuts: false },
        }
    }

    /// How many bytes may still be read of a body that has so many more; the error says that they are too many.
    pub fn room(self, read: usize, more: u64) -> Result<usize, Failure> {
        let room = self.bytes_max.saturating_sub(read);
        match usize::try_from(more).ok().filter(|more| *more <= room) {
            Some(more) => Ok(more),
            None if self.cuts => Ok(room),
            None => Err(Failure::TooLarge),
        }
    }
}

/// The bytes of a body, and whether they are all of it.
pub struct Body {
    pub bytes: Vec<u8>,
    pub is_whole: bool,
}

/// Reads one body within the limit.
pub async fn read(incoming: &mut Incoming, framing: Framing, limit: BodyLimit, meter: &Meter) -> Result<Body, Failure> {
    match framing {
        Framing::Nothing => Ok(Body { bytes: Vec::new(), is_whole: true }),
        Framing::Length(length) => {
            let taken = limit.room(0, length)?;
            let mut bytes = Vec::with_capacity(taken.min(LENGTH_BELIEVED_BYTES as usize));
            append(incoming, &mut bytes, taken, meter).await?;
            Ok(Body { bytes, is_whole: taken as u64 == length })
        }
        Framing::Chunked => read_chunks(incoming, limit, meter).await,
        Framing::UntilClose => read_to_end(incoming, limit, meter).await,
    }
}

async fn read_to_end(incoming: &mut Incoming, limit: BodyLimit, meter: &Meter) -> Result<Body, Failure> {
    let mut bytes = incoming.available().to_vec();
    incoming.consume(bytes.len());
    while bytes.len() <= limit.bytes_max {
        let wanted = limit.bytes_max + 1 - bytes.len();
        match incoming.stream.receive(&mut bytes, wanted, meter).await {
            Ok(0) => return Ok(Body { bytes, is_whole: true }),
            Ok(_) => {}
            Err(_) => return Err(Failure::Truncated),
        }
    }
    let taken = limit.room(0, bytes.len() as u64)?;
    bytes.truncate(taken);
    Ok(Body { bytes, is_whole: false })
}

/// Appends exactly `length` bytes.
async fn append(incoming: &mut Incoming, body: &mut Vec<u8>, length: usize, meter: &Meter) -> Result<(), Failure> {
    let there = incoming.available().len().min(length);
    body.extend_from_slice(&incoming.available()[..there]);
    incoming.consume(there);
    let mut left = length - there;
    while left > 0 {
        match incoming.stream.receive(body, left, meter).await {
            Ok(0) | Err(_) => return Err(Failure::Truncated),
            Ok(count) => left -= count,
        }
    }
    Ok(())
}

async fn read_chunks(incoming: &mut Incoming, limit: BodyLimit, meter: &Meter) -> Result<Body, Failure> {
    let mut bytes = Vec::new();
    let mut extras = 0;
    loop {
        let (size, extra) = read_size(incoming, meter).await?;
        extras += extra;
        if extras > CHUNK_EXTRAS_BYTES_MAX {
            return Err(protocol("chunk extensions without end"));
        }
        if size == 0 {
            read_trailers(incoming, CHUNK_EXTRAS_BYTES_MAX - extras, meter).await?;
            return Ok(Body { bytes, is_whole: true });
        }
        let taken = limit.room(bytes.len(), size)?;
        append(incoming, &mut bytes, taken, meter).await?;
        if (taken as u64) < size {
            return Ok(Body { bytes, is_whole: false });
        }
        if !read_line(incoming, meter).await?.is_empty() {
            return Err(protocol("a chunk longer than its size"));
        }
    }
}

/// The size of the next chunk, and how many bytes its line has beyond the size.
async fn read_size(incoming: &mut Incoming, meter: &Meter) -> Result<(u64, usize), Failure> {
    let line = read_line(incoming, meter).await?;
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let rest = line[digits..].trim_ascii_start();
    if digits == 0 || digits > 16 || !(rest.is_empty() || rest[0] == b';') {
        return Err(protocol("a chunk size that is no number"));
    }
    let text = std::str::from_utf8(&line[..digits]).map_err(|_| protocol("a chunk size that is no number"))?;
    let size = u64::from_str_radix(text, 16).map_err(|_| protocol("a chunk size that is no number"))?;
    Ok((size, line.len() - digits))
}

async fn read_trailers(incoming: &mut Incoming, limit: usize, meter: &Meter) -> Result<(), Failure> {
    let mut bytes = 0;
    loop {
        let line = read_line(incoming, meter).await?;
        if line.is_empty() {
            return Ok(());
        }
        bytes += line.len() + 2;
        if bytes > limit {
            return Err(protocol("trailers without end"));
        }
    }
}

/// One line, without its CRLF.
async fn read_line(incoming: &mut Incoming, meter: &Meter) -> Result<Vec<u8>, Failure> {
    let mut seen = 0;
    loop {
        let available = incoming.available();
        if let Some(offset) = available[seen..].iter().position(|&byte| byte == b'\n') {
            let end = seen + offset;
            let Some(line) = available[..end].strip_suffix(b"\r") else {
                return Err(protocol("a chunk line that does not end in CRLF"));
            };
            let line = line.to_vec();
            incoming.consume(end + 1);
            return if line.len() <= CHUNK_LINE_BYTES_MAX { Ok(line) } else { Err(protocol("a chunk line too long")) };
        }
        seen = available.len();
        if seen > CHUNK_LINE_BYTES_MAX {
            return Err(protocol("a chunk line too long"));
        }
        match incoming.fill(meter).await {
            Ok(0) | Err(_) => return Err(Failure::Truncated),
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    async fn pair(buffer_source: &SharedBuffer) -> (Incoming, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (here, there) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
        (Incoming::new(Stream::Plain(here.unwrap()), buffer_source.clone()), there.unwrap().0)
    }

    #[tokio::test]
    async fn connections_share_their_room_and_never_their_bytes() {
        let (buffer_source, meter) = (SharedBuffer::default(), Meter::default());
        let (mut one, mut site_of_one) = pair(&buffer_source).await;
        let (mut other, mut site_of_other) = pair(&buffer_source).await;
        assert!(one.fill(&meter).now_or_never().is_none());
        assert_eq!(one.buffer.capacity(), 0, "a connection that waits holds no buffer");
        site_of_one.write_all(b"first answer").await.unwrap();
        one.fill(&meter).await.unwrap();
        // The buffer is in use: another reader gets its own.
        site_of_other.write_all(b"second").await.unwrap();
        other.fill(&meter).await.unwrap();
        assert_eq!((one.available(), other.available()), (&b"first answer"[..], &b"second"[..]));
        one.consume(5);
        one.trim();
        assert_eq!(one.available(), b" answer", "what was not used stays");
        for incoming in [&mut one, &mut other] {
            incoming.consume(incoming.available().len());
            incoming.trim();
            assert_eq!(incoming.buffer.capacity(), 0);
        }
        let kept = buffer_source.take();
        assert!(kept.is_empty() && kept.capacity() > 0);
        buffer_source.put_back(Vec::with_capacity(BUFFER_KEPT_BYTES + 1));
        assert_eq!(buffer_source.take().capacity(), 0, "too much is not kept");
    }
}
