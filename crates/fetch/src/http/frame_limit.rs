//! Limits what an HTTP/2 site may send beside bodies, and how much of it is read in one go. Frames without content cost
//! the site nothing, but they would keep the loop from all its other sites.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What may come during one request beside its body. The windows of a connection are smaller, so that a body which nobody
/// has taken yet never exceeds it.
const ALLOWANCE_BYTES: u64 = 8 << 20;
/// Each frame counts as so many bytes more than it carries: 8,192 empty ones are a flood.
const FRAME_BYTES: u64 = 1 << 10;
/// Each byte of a body gives back so many bytes of the allowance: one for itself, and one for its share of a frame.
const GIVEN_BACK: u64 = 2;
/// After so many bytes the other connections of the loop have their turn.
const TURN_BYTES: usize = 16 << 10;
/// Length, type, flags and stream of a frame (RFC 9113, 4.1).
const HEADER_BYTES: usize = 9;

/// What the site may still send. The connection and the requests on it share one.
#[derive(Debug)]
pub struct Allowance(AtomicU64);

impl Allowance {
    pub fn new() -> Arc<Self> {
        Arc::new(Allowance(AtomicU64::new(ALLOWANCE_BYTES)))
    }

    /// A request begins.
    pub fn renew(&self) {
        self.0.store(ALLOWANCE_BYTES, Ordering::Relaxed);
    }

    /// So many bytes of a body have arrived where they were wanted. What is spent stays spent: the connection has ended.
    pub fn progress(&self, bytes: usize) {
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            self.0.store((left + GIVEN_BACK * bytes as u64).min(ALLOWANCE_BYTES), Ordering::Relaxed);
        }
    }

    pub fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    fn spend(&self, bytes: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).saturating_sub(bytes), Ordering::Relaxed);
    }
}

/// A connection whose frames are counted as they are read.
#[derive(Debug)]
pub struct FrameLimited<S> {
    stream: S,
    allowance: Arc<Allowance>,
    /// The header of the next frame, as far as it has come.
    header: [u8; HEADER_BYTES],
    header_length: usize,
    /// Bytes of the current frame that have not come yet.
    payload_left: usize,
    /// Bytes read since others had their turn.
    turn: usize,
}

impl<S> FrameLimited<S> {
    pub fn new(stream: S, allowance: Arc<Allowance>) -> Self {
        FrameLimited { stream, allowance, header: [0; HEADER_BYTES], header_length: 0, payload_left: 0, turn: 0 }
    }

    fn count(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let passed = self.payload_left.min(bytes.len());
            self.payload_left -= passed;
            bytes = &bytes[passed..];
            let taken = (HEADER_BYTES - self.header_length).min(bytes.len());
            self.header[self.header_length..self.header_length + taken].copy_from_slice(&bytes[..taken]);
            self.header_length += taken;
            bytes = &bytes[taken..];
            if self.header_length == HEADER_BYTES {
                let [high, middle, low, ..] = self.header;
                self.payload_left = u32::from_be_bytes([0, high, middle, low]) as usize;
                self.header_length = 0;
                self.allowance.spend(FRAME_BYTES + self.payload_left as u64);
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameLimited<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.turn >= TURN_BYTES {
            this.turn = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, into))?;
        let read = &into.filled()[before..];
        this.turn += read.len();
        this.count(read);
        if this.allowance.is_spent() {
            return Poll::Ready(Err(io::Error::other("too many frames")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FrameLimited<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let mut frame = (payload as u32).to_be_bytes()[1..].to_vec();
        frame.extend([kind, 0, 0, 0, 0, 1]);
        frame.resize(HEADER_BYTES + payload, 0);
        frame
    }

    fn left(allowance: &Allowance) -> u64 {
        allowance.0.load(Ordering::Relaxed)
    }

    #[test]
    fn frames_are_counted_alike_however_their_bytes_arrive() {
        let bytes = [frame(6, 8), frame(0, 0), frame(0, 700), frame(4, 36)].concat();
        for piece in [1, 2, 5, 9, 10, 64, bytes.len()] {
            let allowance = Allowance::new();
            let mut limited = FrameLimited::new(tokio::io::empty(), Arc::clone(&allowance));
            bytes.chunks(piece).for_each(|piece| limited.count(piece));
            assert_eq!(ALLOWANCE_BYTES - left(&allowance), 4 * FRAME_BYTES + 744, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_body_in_frames_of_usual_size_never_spends_the_allowance_and_one_of_single_bytes_does() {
        let body = |size: usize, frames: usize| {
            let allowance = Allowance::new();
            let mut limited = FrameLimited::new(tokio::io::empty(), Arc::clone(&allowance));
            (0..frames).all(|_| {
                limited.count(&frame(0, size));
                allowance.progress(size);
                !allowance.is_spent()
            })
        };
        for size in [1_100, 1_400, 4 << 10, 16 << 10] {
            assert!(body(size, 100_000), "{size}");
        }
        assert!(body(100, 5_000) && !body(1, 10_000));
    }

    #[tokio::test]
    async fn a_flood_ends_the_connection_and_gives_way_before() {
        let bytes = frame(6, 8).repeat(10_000);
        let allowance = Allowance::new();
        let mut limited = FrameLimited::new(bytes.as_slice(), Arc::clone(&allowance));
        let (mut read, mut turns) = (vec![0; 4 << 10], 0);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let error = loop {
            let mut into = ReadBuf::new(&mut read);
            match Pin::new(&mut limited).poll_read(&mut context, &mut into) {
                Poll::Pending => turns += 1,
                Poll::Ready(Ok(())) => assert!(!into.filled().is_empty(), "all was read"),
                Poll::Ready(Err(error)) => break error,
            }
        };
        assert!(allowance.is_spent() && turns >= 8, "{error}, {turns} turns");
        allowance.renew();
        assert!(limited.read(&mut read).await.is_ok());
    }
}
