//! Laws of the crate `vernal-fetch`: a site may send any bytes as frames of HTTP/2.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use vernal_fetch::{Settings, ask_over};
use vernal_model::Url;

/// Room for all that both sides write, so that neither waits for the other.
const PIPE_BYTES: usize = 1 << 20;
/// Small limits are met more often.
const BODY_BYTES_MAX: usize = 4 << 10;
const HEAD_BYTES_MAX: usize = 2 << 10;
const HEADERS_MAX: usize = 20;
/// An empty SETTINGS frame, with which every server begins.
const GREETING: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

/// What a client sends before its first frame.
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const HEADERS: u8 = 1;

/// Sends the bytes as the frames of a site, at once and after a good beginning and a request, and reads the answer.
///
/// # Panics
///
/// If an answer is beyond the limits.
pub fn http2(bytes: &[u8]) {
    answered(bytes, false);
    answered(bytes, true);
}

/// Whether there was an answer; it is within the limits.
fn answered(bytes: &[u8], after_request: bool) -> bool {
    let settings = Settings {
        body_bytes_max: BODY_BYTES_MAX,
        head_bytes_max: HEAD_BYTES_MAX,
        headers_max: HEADERS_MAX,
        ..Settings::default()
    };
    let url = Url::parse("https://example.org/").expect("a plain URL parses");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime for one request");
    let exchange = runtime.block_on(async {
        let (ours, theirs) = duplex(PIPE_BYTES);
        tokio::join!(ask_over(ours, &url, &settings), serve(theirs, bytes, after_request)).0
    });
    let Some(exchange) = exchange else { return false };
    assert!(exchange.body.len() <= BODY_BYTES_MAX, "{} bytes of body", exchange.body.len());
    assert!(exchange.response_head.len() <= HEAD_BYTES_MAX, "{} bytes of head", exchange.response_head.len());
    let lines = exchange.response_head.split(|&byte| byte == b'\n').filter(|line| line.len() > 1).count();
    assert!(lines <= HEADERS_MAX + 1, "{lines} lines");
    true
}

/// A site that says these bytes and hangs up. A client that has gone hears no more of it.
async fn serve(mut stream: DuplexStream, bytes: &[u8], after_request: bool) {
    let mut heard = Vec::new();
    if after_request {
        let _ = stream.write_all(&GREETING).await;
        while !has_request(&heard) && stream.read_buf(&mut heard).await.is_ok_and(|count| count > 0) {}
    }
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    // What the client still says is taken, so that it can end in good order.
    while stream.read_buf(&mut heard).await.is_ok_and(|count| count > 0) {}
}

/// Whether a client's bytes hold the head of a request.
fn has_request(heard: &[u8]) -> bool {
    let mut rest = heard.get(PREFACE_BYTES..).unwrap_or_default();
    while let Some(&[a, b, c, kind, ..]) = rest.first_chunk::<FRAME_HEAD_BYTES>() {
        if kind == HEADERS {
            return true;
        }
        let length = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        rest = rest.get(FRAME_HEAD_BYTES + length..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_answer_is_read_and_one_beyond_the_limits_is_not() {
        let read = |name: &str| {
            let bytes = std::fs::read(crate::corpus_folder("http2").join(name)).expect("it is in the corpus");
            answered(&bytes, true)
        };
        assert!(["plain", "trailers", "padded", "continued", "interim"].into_iter().all(read));
        assert!(!["large", "many-headers", "reset", "goaway"].into_iter().any(read));
    }
}
