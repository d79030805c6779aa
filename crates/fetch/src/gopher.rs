//! Gopher (RFC 1436): the request is one line, and the answer lasts until the connection ends.

use tokio::time::timeout;
use vernal_model::{Exchange, Failure, Outcome, Protocol, Stage, Url, Validators};

use crate::Settings;
use crate::answer::{Answer, protocol};
use crate::dial::{Dialler, Targets};
use crate::stream::{Meter, Stream};

/// Requests the item that a gopher URL names (RFC 4266): `/` and a type character, then the selector.
pub async fn ask(
    url: &Url,
    targets: &Targets,
    settings: &Settings,
    dialler: &Dialler,
    meter: &Meter,
) -> Result<Answer, Outcome> {
    let item = Item::of(url).map_err(Outcome::Failed)?;
    let stream = dialler.connect(targets).await?;
    let lost = |error: std::io::Error| Outcome::Failed(Failure::Connect(error.to_string()));
    let address = stream.peer_addr().map_err(lost)?.ip();
    let mut stream = Stream::Plain(stream);
    let mut request = item.selector;
    request.extend_from_slice(b"\r\n");
    stream.send(&request, meter).await.map_err(lost)?;
    let mut body = read_body(&mut stream, settings, meter).await.map_err(Outcome::Failed)?;
    if body.is_empty() {
        return Err(Outcome::Failed(protocol("closed without an answer")));
    }
    if item.kind.is_lines() {
        // The terminator is framing, as chunks are in HTTP, and is removed as they are.
        body = without_terminator(body);
    }
    let is_missing = item.kind.is_menu() && body.starts_with(b"3");
    let exchange = Exchange {
        address: Some(address),
        protocol: Protocol::Gopher,
        request_head: request,
        response_head: Vec::new(),
        body,
        content_encoded: false,
    };
    let status = if is_missing { 404 } else { 200 };
    Ok(Answer { status, exchange, content_type: item.kind.content_type(), validators: Validators::default() })
}

struct Item {
    kind: ItemKind,
    selector: Vec<u8>,
}

#[derive(Copy, Clone)]
struct ItemKind(u8);

impl Item {
    fn of(url: &Url) -> Result<Self, Failure> {
        let mut decoded = percent_decoded(&url.path()[1..]);
        if let Some(query) = url.query() {
            // In a search, the words follow the selector after a tab. Elsewhere a question mark is an ordinary character.
            decoded.push(if decoded.first() == Some(&b'7') { b'\t' } else { b'?' });
            decoded.extend(percent_decoded(query));
        }
        if decoded.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(protocol("the selector cannot stand in a line"));
        }
        match decoded.split_first() {
            Some((kind, selector)) => Ok(Item { kind: ItemKind(*kind), selector: selector.to_vec() }),
            None => Ok(Item { kind: ItemKind(b'1'), selector: Vec::new() }),
        }
    }
}

impl ItemKind {
    fn is_menu(self) -> bool {
        matches!(self.0, b'1' | b'7')
    }

    fn is_lines(self) -> bool {
        self.is_menu() || self.0 == b'0'
    }

    fn content_type(self) -> Option<&'static str> {
        match self.0 {
            b'1' | b'7' => Some("application/gopher-menu"),
            b'0' => Some("text/plain"),
            b'h' => Some("text/html"),
            b'g' => Some("image/gif"),
            b'p' => Some("image/png"),
            b'x' => Some("text/xml"),
            b'5' | b'9' => Some("application/octet-stream"),
            _ => None,
        }
    }
}

async fn read_body(stream: &mut Stream, settings: &Settings, meter: &Meter) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    let first = timeout(settings.timeouts.first_byte, stream.receive(&mut body, usize::MAX, meter)).await;
    let mut count = first.map_err(|_| Failure::Timeout(Stage::FirstByte))?.map_err(|_| Failure::Truncated)?;
    while count > 0 {
        if body.len() > settings.body_bytes_max {
            return Err(Failure::TooLarge);
        }
        let wanted = settings.body_bytes_max + 1 - body.len();
        count = stream.receive(&mut body, wanted, meter).await.map_err(|_| Failure::Truncated)?;
    }
    Ok(body)
}

/// A menu or a text ends with a line that holds one full stop, which is not part of it. Many servers leave it out.
fn without_terminator(mut body: Vec<u8>) -> Vec<u8> {
    for terminator in [&b".\r\n"[..], b".\n", b"."] {
        let Some(rest) = body.strip_suffix(terminator) else { continue };
        if rest.is_empty() || rest.ends_with(b"\n") {
            body.truncate(rest.len());
            break;
        }
    }
    body
}

/// The bytes of a path, percent-decoded.
pub fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |place: usize| bytes.get(place).and_then(|&byte| char::from(byte).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while place < bytes.len() {
        match (bytes[place], digit(place + 1), digit(place + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high << 4 | low) as u8);
                place += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                place += 1;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(url: &str) -> (char, String) {
        let item = Item::of(&Url::parse(url).unwrap()).unwrap();
        (char::from(item.kind.0), String::from_utf8(item.selector).unwrap())
    }

    #[test]
    fn the_path_gives_type_and_selector() {
        assert_eq!(item("gopher://g.org/"), ('1', String::new()));
        assert_eq!(item("gopher://g.org/0/a%20b.txt"), ('0', "/a b.txt".into()));
        assert_eq!(item("gopher://g.org/7/find?words"), ('7', "/find\twords".into()));
        assert_eq!(item("gopher://g.org/1/cgi?words"), ('1', "/cgi?words".into()));
    }

    #[test]
    fn no_selector_holds_a_second_line() {
        let url = Url::parse("gopher://g.org/0a%0D%0Ab").unwrap();
        assert!(Item::of(&url).is_err());
    }

    #[test]
    fn only_a_lone_full_stop_at_the_end_is_the_terminator() {
        let cut = |text: &str| String::from_utf8(without_terminator(text.as_bytes().to_vec())).unwrap();
        assert_eq!(cut("a\r\n.\r\n"), "a\r\n");
        assert_eq!(cut("a\n.\n"), "a\n");
        assert_eq!(cut("The end.\r\n"), "The end.\r\n");
        assert_eq!(cut(".\r\n"), "");
        assert_eq!(cut("a\r\n"), "a\r\n");
    }
}
