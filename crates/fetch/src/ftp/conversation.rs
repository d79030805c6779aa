//! The commands that read one file or one directory, and what the replies mean.

use vernal_model::{Exchange, Failure, Moment, Outcome, Protocol, Url, Validators, Wall};

use super::control::{Control, Reply};
use super::directory::{self, DirectoryFormat};
use crate::Settings;
use crate::answer::{Answer, protocol};
use crate::dial::{Dialler, Targets};
use crate::gopher::percent_decoded;
use crate::stream::{Meter, Stream};

/// The content type of a directory: one name per line, and a slash after the name of a directory.
const DIRECTORY_TYPE: &str = "text/x-ftp-listing";

/// Reads what an FTP URL names: a directory where the path ends in a slash, otherwise a file.
pub async fn ask(
    url: &Url,
    targets: &Targets,
    validators: &Validators,
    settings: &Settings,
    dialler: &Dialler,
    meter: &Meter,
) -> Result<Answer, Outcome> {
    let stream = dialler.connect(targets).await?;
    let mut control = Control::new(stream, settings, meter).map_err(Outcome::Failed)?;
    log_in(&mut control, settings).await?;
    let path = percent_decoded(url.path().split(";type=").next().unwrap_or("/"));
    let mut conversation = Conversation { control, url, path, settings, dialler, meter };
    let answered = match conversation.path.ends_with(b"/") {
        true => conversation.folder().await,
        false => conversation.file(validators).await,
    };
    conversation.control.quit().await;
    answered
}

async fn log_in(control: &mut Control<'_>, settings: &Settings) -> Result<(), Outcome> {
    let mut reply = control.reply().await.map_err(Outcome::Failed)?;
    if reply.is_begun() {
        reply = control.reply().await.map_err(Outcome::Failed)?;
    }
    if !reply.is_good() {
        return Err(reply.outcome());
    }
    let mut reply = control.command("USER", b"anonymous").await.map_err(Outcome::Failed)?;
    if reply.code == 331 {
        let contact = settings.mail_address().unwrap_or_else(|| "anonymous@".into());
        reply = control.command("PASS", contact.as_bytes()).await.map_err(Outcome::Failed)?;
    }
    match reply.code {
        200..300 => Ok(()),
        332 | 530 => {
            let evidence = format!("{} {}", reply.code, reply.text());
            Err(Outcome::Blocked { wall: Wall::Login, status: reply.code, evidence })
        }
        _ => Err(reply.outcome()),
    }
}

struct Conversation<'a> {
    control: Control<'a>,
    url: &'a Url,
    path: Vec<u8>,
    settings: &'a Settings,
    dialler: &'a Dialler,
    meter: &'a Meter,
}

impl Conversation<'_> {
    async fn command(&mut self, verb: &str, argument: &[u8]) -> Result<Reply, Outcome> {
        self.control.command(verb, argument).await.map_err(Outcome::Failed)
    }

    async fn file(&mut self, held: &Validators) -> Result<Answer, Outcome> {
        self.command("TYPE", b"I").await?;
        let path = self.path.clone();
        let size = size(&self.command("SIZE", &path).await?);
        let modified = modified(&self.command("MDTM", &path).await?);
        let validators = Validators {
            etag: size.map(|size| format!("\"{size}\"").into()),
            last_modified: modified.map(|moment| moment.http_date().into()),
        };
        if validators.last_modified.is_some() && validators == *held {
            return Ok(self.answer(304, Vec::new(), None, validators));
        }
        if size.is_some_and(|size| size > self.settings.body_bytes_max as u64) {
            return Err(Outcome::Failed(Failure::TooLarge));
        }
        let Some(body) = self.transfer("RETR", &path).await? else {
            return Err(self.missing().await);
        };
        if size.is_some_and(|size| (body.len() as u64) < size) {
            return Err(Outcome::Failed(Failure::Truncated));
        }
        Ok(self.answer(200, body, None, validators))
    }

    async fn folder(&mut self) -> Result<Answer, Outcome> {
        let features = self.command("FEAT", b"").await?;
        let has_machine_listing =
            features.lines.iter().any(|line| line.trim().to_ascii_uppercase().starts_with("MLST"));
        let path = self.path.clone();
        let entered = self.command("CWD", &path).await?;
        if !entered.is_good() {
            return Err(if entered.code == 550 { Outcome::Gone { status: 550 } } else { entered.outcome() });
        }
        let ways: &[(&str, DirectoryFormat)] = match has_machine_listing {
            true => {
                &[("MLSD", DirectoryFormat::Machine), ("LIST", DirectoryFormat::Long), ("NLST", DirectoryFormat::Names)]
            }
            false => &[("LIST", DirectoryFormat::Long), ("NLST", DirectoryFormat::Names)],
        };
        for (verb, format) in ways {
            if let Some(body) = self.transfer(verb, b"").await?
                && let Some(names) = directory::names(&body, *format)
            {
                return Ok(self.answer(200, names, Some(DIRECTORY_TYPE), Validators::default()));
            }
        }
        Err(Outcome::Failed(protocol("no listing that we can read")))
    }

    /// A path that cannot be retrieved may be a directory that was asked for without its slash.
    async fn missing(&mut self) -> Outcome {
        let path = self.path.clone();
        let is_folder = matches!(self.command("CWD", &path).await, Ok(reply) if reply.is_good());
        if !is_folder {
            return Outcome::Gone { status: 550 };
        }
        let to = Url::parse(&format!("{}/", self.url)).ok();
        Outcome::Moved { status: 301, to, permanent: true }
    }

    /// Opens a passive data connection. `None` where the site answers that the path does not exist (550).
    async fn transfer(&mut self, verb: &str, argument: &[u8]) -> Result<Option<Vec<u8>>, Outcome> {
        let port = self.passive_port().await?;
        // The connection always goes to the peer of the control connection. An address in the reply is ignored, because
        // it could send us anywhere.
        let mut data = Stream::Plain(self.dialler.connect_to(self.control.peer, port).await?);
        let begun = self.command(verb, argument).await?;
        match begun.code {
            100..200 => {}
            450 | 500..600 => return Ok(None),
            _ => return Err(begun.outcome()),
        }
        let body = self.read(&mut data).await.map_err(Outcome::Failed)?;
        drop(data);
        let ended = self.control.reply().await.map_err(Outcome::Failed)?;
        if ended.is_good() { Ok(Some(body)) } else { Err(Outcome::Failed(Failure::Truncated)) }
    }

    async fn read(&self, data: &mut Stream) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while body.len() <= self.settings.body_bytes_max {
            let wanted = self.settings.body_bytes_max + 1 - body.len();
            match data.receive(&mut body, wanted, self.meter).await {
                Ok(0) => return Ok(body),
                Ok(_) => {}
                Err(_) => return Err(Failure::Truncated),
            }
        }
        Err(Failure::TooLarge)
    }

    async fn passive_port(&mut self) -> Result<u16, Outcome> {
        let extended = self.command("EPSV", b"").await?;
        if let Some(port) = (extended.code == 229).then(|| extended_port(extended.text())).flatten() {
            return Ok(port);
        }
        let passive = self.command("PASV", b"").await?;
        let port = (passive.code == 227).then(|| passive_port(passive.text())).flatten();
        port.ok_or_else(|| Outcome::Failed(protocol("no passive data connection")))
    }

    fn answer(&self, status: u16, body: Vec<u8>, content_type: Option<&'static str>, validators: Validators) -> Answer {
        let exchange = Exchange {
            address: Some(self.control.peer),
            protocol: Protocol::Ftp,
            request_head: Vec::new(),
            response_head: Vec::new(),
            body,
            content_encoded: false,
        };
        Answer { status, exchange, content_type, validators }
    }
}

fn size(reply: &Reply) -> Option<u64> {
    (reply.code == 213).then(|| reply.text().parse().ok()).flatten()
}

fn modified(reply: &Reply) -> Option<Moment> {
    let digits = (reply.code == 213).then(|| reply.text().get(..14)).flatten()?;
    Moment::parse(digits, Moment::EPOCH).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `Entering Extended Passive Mode (|||6446|)`: any character may be the separator.
fn extended_port(text: &str) -> Option<u16> {
    let inner = text.get(text.find('(')? + 1..text.rfind(')')?)?;
    let mark = inner.chars().next()?;
    inner.split(mark).nth(3)?.parse().ok().filter(|&port| port != 0)
}

/// `Entering Passive Mode (h1,h2,h3,h4,p1,p2)`: only the port is used.
fn passive_port(text: &str) -> Option<u16> {
    let is_place = |letter: char| letter.is_ascii_digit() || letter == ',';
    let numbers = text.split(|letter| !is_place(letter)).find(|part| part.matches(',').count() == 5)?;
    let mut bytes = numbers.split(',').skip(4).map(|part| part.parse::<u8>().ok());
    let port = u16::from_be_bytes([bytes.next()??, bytes.next()??]);
    (port != 0).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_from_both_passive_replies() {
        assert_eq!(extended_port("Entering Extended Passive Mode (|||6446|)"), Some(6446));
        assert_eq!(extended_port("ok (!!!21!)"), Some(21));
        assert_eq!(passive_port("Entering Passive Mode (10,0,0,1,25,46)."), Some(25 * 256 + 46));
        assert_eq!(passive_port("=127,0,0,1,4,1"), Some(1025));
        for wrong in ["", "(|||x|)", ")(", "(|||0|)", "(|||99999|)", "(1,2,3)"] {
            assert_eq!((extended_port(wrong), passive_port(wrong)), (None, None), "{wrong}");
        }
    }

    #[test]
    fn times_and_sizes_are_read_or_left() {
        let reply = |line: &str| Reply { code: line[..3].parse().unwrap(), lines: vec![line.into()] };
        assert_eq!(size(&reply("213 1234")), Some(1234));
        assert_eq!(size(&reply("550 1234")), None);
        let moment = modified(&reply("213 20260501120000.123")).unwrap();
        assert_eq!(moment.http_date(), "Fri, 01 May 2026 12:00:00 GMT");
        assert_eq!(modified(&reply("213 yesterday")), None);
    }
}
