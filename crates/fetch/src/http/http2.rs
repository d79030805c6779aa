//! One HTTP/2 connection with many exchanges at a time. Heads are recorded in the form of HTTP/1.1, which is what archives
//! hold and their readers expect.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, ResponseFuture, SendRequest};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use vernal_model::{Exchange, Failure, Form, OrderKind, Protocol, Stage, Url, Validators};

use super::body::BodyLimit;
use super::connection::is_encoded;
use super::frame_limit::{Allowance, FrameLimited};
use super::head::{FORM_TYPE, RequestHead, method};
use crate::Settings;
use crate::answer::{Answer, AnswerError, protocol};
use crate::stream::Meter;

const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;

/// A handle on an open connection. It is cheap to clone; the connection ends when the last handle is dropped.
#[derive(Clone)]
pub struct Session {
    sender: SendRequest<Bytes>,
    address: IpAddr,
    allowance: Arc<Allowance>,
    is_reused: bool,
}

impl Session {
    pub fn address(&self) -> IpAddr {
        self.address
    }

    pub async fn open(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        address: IpAddr,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_header_list_size(u32::try_from(settings.head_bytes_max).unwrap_or(u32::MAX));
        let allowance = Allowance::new();
        let stream = FrameLimited::new(stream, Arc::clone(&allowance));
        let opened = timeout(settings.timeouts.tls, builder.handshake(stream)).await;
        let (sender, connection) = match opened {
            Ok(opened) => opened.map_err(|error| protocol(error.to_string()))?,
            Err(_) => return Err(Failure::Timeout(Stage::Tls)),
        };
        // The result of the connection task is ignored: every stream on the connection gets the error.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(Session { sender, address, allowance, is_reused: false })
    }

    /// Another handle, for a later order.
    pub fn again(&self) -> Self {
        Session { is_reused: true, ..self.clone() }
    }

    /// Sends one request and reads its answer. A flood of frames beside the body ends the connection.
    pub async fn ask(
        self,
        url: &Url,
        lines: &RequestHead,
        validators: &Validators,
        form: Option<&Form>,
        (settings, limit): (&Settings, BodyLimit),
        meter: &Meter,
    ) -> Result<Answer, AnswerError> {
        let allowance = Arc::clone(&self.allowance);
        allowance.renew();
        let answered = self.ask_within(url, lines, validators, form, (settings, limit), meter).await;
        answered.map_err(|error| match allowance.is_spent() {
            true => protocol("a flood of frames without content").into(),
            false => error,
        })
    }

    async fn ask_within(
        self,
        url: &Url,
        lines: &RequestHead,
        validators: &Validators,
        form: Option<&Form>,
        (settings, limit): (&Settings, BodyLimit),
        meter: &Meter,
    ) -> Result<Answer, AnswerError> {
        let (request, request_head) = request(url, lines, validators, form)?;
        let is_reused = self.is_reused;
        let early = |error: h2::Error| match is_reused {
            true => AnswerError::Stale,
            false => protocol(error.to_string()).into(),
        };
        let answered = async {
            let mut sender = self.sender.ready().await.map_err(early)?;
            let (response, mut body) = sender.send_request(request, form.is_none()).map_err(early)?;
            meter.sent(request_head.len());
            if let Some(form) = form {
                body.send_data(Bytes::copy_from_slice(form.as_bytes()), true).map_err(early)?;
                meter.sent(form.as_bytes().len());
            }
            first_answer(response, early).await
        };
        let response = match timeout(settings.timeouts.first_byte, answered).await {
            Ok(response) => response?,
            Err(_) => return Err(Failure::Timeout(Stage::FirstByte).into()),
        };
        let (parts, stream) = response.into_parts();
        let response_head = written_down(&parts, settings)?;
        meter.received(response_head.len());
        let body = read_body(stream, limit, &self.allowance, meter).await?;
        Ok(Answer {
            status: parts.status.as_u16(),
            content_type: None,
            validators: Validators::default(),
            exchange: Exchange {
                address: Some(self.address),
                protocol: Protocol::Http2,
                request_head,
                content_encoded: is_encoded(&response_head),
                response_head,
                body,
            },
        })
    }
}

/// Asks for one page over a stream that is open already, and reads the answer; `None` where there is none. It is for
/// whoever tests what frames of any kind do to us; visits go through a [`Visitor`](crate::Visitor).
pub async fn ask_over(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    url: &Url,
    settings: &Settings,
) -> Option<Exchange> {
    let session = Session::open(stream, IpAddr::from([127, 0, 0, 1]), settings).await.ok()?;
    let limit = BodyLimit::of(&OrderKind::Page, settings.body_bytes_max);
    let (lines, meter) = (RequestHead::new(settings), Meter::default());
    let answer = session.ask(url, &lines, &Validators::default(), None, (settings, limit), &meter).await;
    answer.ok().map(|answer| answer.exchange)
}

async fn first_answer(
    response: ResponseFuture,
    early: impl Fn(h2::Error) -> AnswerError,
) -> Result<http::Response<RecvStream>, AnswerError> {
    response.await.map_err(|error| match error.is_go_away() || error.is_io() || refused(&error) {
        true => early(error),
        false => protocol(error.to_string()).into(),
    })
}

/// Whether the site says that it did not process this stream.
fn refused(error: &h2::Error) -> bool {
    error.reason() == Some(h2::Reason::REFUSED_STREAM)
}

fn request(
    url: &Url,
    lines: &RequestHead,
    validators: &Validators,
    form: Option<&Form>,
) -> Result<(http::Request<()>, Vec<u8>), Failure> {
    let mut request = http::Request::builder().method(method(form)).uri(url.as_str()).version(http::Version::HTTP_2);
    if let Some(form) = form {
        request = request.header("content-type", FORM_TYPE).header("content-length", form.as_bytes().len());
    }
    for (name, value) in lines.lines(validators) {
        request = request.header(name, value);
    }
    let request = request.body(()).map_err(|error| protocol(error.to_string()))?;
    Ok((request, lines.http1(url, validators, form)?))
}

/// The head in the form of HTTP/1.1.
fn written_down(parts: &http::response::Parts, settings: &Settings) -> Result<Vec<u8>, Failure> {
    if parts.headers.len() > settings.headers_max {
        return Err(Failure::HeadTooLarge);
    }
    let reason = parts.status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", parts.status.as_u16()).into_bytes();
    for (name, value) in &parts.headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    if head.len() > settings.head_bytes_max { Err(Failure::HeadTooLarge) } else { Ok(head) }
}

async fn read_body(
    mut stream: RecvStream,
    limit: BodyLimit,
    allowance: &Allowance,
    meter: &Meter,
) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece.map_err(|_| Failure::Truncated)?;
        meter.received(piece.len());
        allowance.progress(piece.len());
        // Dropping the stream resets it. The connection and its other streams go on.
        let taken = limit.room(body.len(), piece.len() as u64)?;
        body.extend_from_slice(&piece[..taken]);
        if taken < piece.len() {
            break;
        }
        stream.flow_control().release_capacity(piece.len()).map_err(|_| Failure::Truncated)?;
    }
    Ok(body)
}
