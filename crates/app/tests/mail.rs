//! Mail over TLS to a server of others on loopback: a password is said to a trusted server alone, and nothing in the clear.
//!
//! `VERNAL_JUDGES` names the `bin` folder of a Python environment with aiosmtpd 1.4.6. Without it these tests are skipped, and that
//! is said; where `CI` is set its absence is a failure.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use common::edited::{Edited, visit};
use common::{json_lines, refused, told, vernal};
use serde_json::Value;

/// Prints what it was told, as it comes: each login, and each mail with whether TLS and a login came before.
const SERVER: &str = r#"
import asyncio, json, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword
mode, folder = sys.argv[1:]
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")
def say(**told):
    print(json.dumps(told), flush=True)
def login(server, session, envelope, mechanism, data):
    is_right = data == LoginPassword(b"vernal", b"right horse")
    say(login=is_right, tls=server.transport.get_extra_info("sslcontext") is not None)
    # The server itself says so where it was wrong.
    return AuthResult(success=is_right, handled=False)
class Take:
    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        return responses
    async def handle_MAIL(self, server, session, envelope, address, options):
        say(mail=address)
        envelope.mail_from = address
        return "250 OK"
    async def handle_DATA(self, server, session, envelope):
        say(taken=envelope.rcpt_tos, login=session.authenticated, tls=server.transport.get_extra_info("sslcontext") is not None)
        return "250 taken"
async def main():
    loop = asyncio.get_running_loop()
    rules = dict(authenticator=login, auth_required=True, loop=loop)
    if mode == "starttls":
        make, tls = lambda: SMTP(Take(), tls_context=context, require_starttls=True, **rules), None
    elif mode == "tls":
        make, tls = lambda: SMTP(Take(), auth_require_tls=False, **rules), context
    else:
        make, tls = lambda: SMTP(Take(), auth_require_tls=False, authenticator=login, loop=loop), None
    server = await loop.create_server(make, "127.0.0.1", 0, ssl=tls)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"#;

struct MailServer {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: String,
}

impl MailServer {
    fn start(judges: &Path, mode: &str, folder: &Path) -> MailServer {
        let mut command = Command::new(judges.join("python3"));
        command.args(["-c", SERVER, mode]).arg(folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap().trim().to_owned();
        MailServer { process, lines, port }
    }

    /// All that it was told.
    fn stop(mut self) -> Vec<Value> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.lines.map_while(Result::ok).map(|line| serde_json::from_str(&line).unwrap()).collect()
    }
}

fn judges() -> Option<PathBuf> {
    match std::env::var_os("VERNAL_JUDGES") {
        Some(folder) => Some(folder.into()),
        None if std::env::var_os("CI").is_some() => panic!("VERNAL_JUDGES must name the judges here"),
        None => {
            eprintln!("skipped: VERNAL_JUDGES does not name a folder with aiosmtpd");
            None
        }
    }
}

/// A certificate for this name that signs itself, and its key.
fn certificate(folder: &Path, name: &str) -> String {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    folder.join("cert.pem").to_str().unwrap().to_owned()
}

/// A folder with a route to this mail server. The certificate is that of its authority too.
struct Desk {
    folder: tempfile::TempDir,
    server: MailServer,
}

impl Desk {
    fn new(judges: &Path, mode: &str, name: &str) -> Desk {
        let folder = tempfile::tempdir().unwrap();
        certificate(folder.path(), name);
        let server = MailServer::start(judges, mode, folder.path());
        Desk { folder, server }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = vernal(&self.data());
        command.env("MAIL_PASSWORD", "right horse").env("WRONG_PASSWORD", "wrong horse");
        command.env("VERNAL_ALLOW_PRIVATE_ROUTES", "true").args(arguments);
        command
    }

    fn route(&self, scheme: &str, password: &str, more: &[&str]) {
        let server = format!("{scheme}://127.0.0.1:{}", self.server.port);
        let mut arguments = vec!["watch", "route", "add", "mail", "--mail-to", "press@desk.example", "--smtp", &server];
        arguments.extend(["--mail-from", "v@crawl.example", "--user", "vernal", "--password", password]);
        arguments.extend(more);
        told(&mut self.command(&arguments));
    }

    fn trusted(&self) -> String {
        self.folder.path().join("cert.pem").to_str().unwrap().to_owned()
    }
}

fn made(judges: &Path, mode: &str, name: &str) -> Desk {
    let desk = Desk::new(judges, mode, name);
    let web = Edited::serve(&[("/", "<html><body><p>One</p></body></html>".into())]);
    visit(&desk.data(), &web.url("/"));
    desk
}

#[test]
fn a_mail_is_taken_after_a_login_over_tls_however_it_begins() {
    let Some(judges) = judges() else { return };
    for (mode, scheme) in [("starttls", "smtp"), ("tls", "smtps")] {
        let desk = made(&judges, mode, "127.0.0.1");
        desk.route(scheme, "env:MAIL_PASSWORD", &["--tls-ca", &desk.trusted()]);
        told(&mut desk.command(&["watch", "route", "test", "mail"]));
        let said = desk.server.stop();
        assert_eq!(said.len(), 3, "{mode}: {said:?}");
        assert_eq!((&said[0]["login"], &said[0]["tls"]), (&true.into(), &true.into()), "{mode}: {said:?}");
        assert_eq!((&said[2]["taken"][0], &said[2]["tls"]), (&"press@desk.example".into(), &true.into()), "{said:?}");
    }
}

#[test]
fn a_wrong_password_is_told_and_the_alert_waits_for_the_next_try() {
    let Some(judges) = judges() else { return };
    let desk = Desk::new(&judges, "starttls", "127.0.0.1");
    let web = Edited::serve(&[("/", "<html><body><p>One</p></body></html>".into())]);
    visit(&desk.data(), &web.url("/"));
    desk.route("smtp", "env:WRONG_PASSWORD", &["--tls-ca", &desk.trusted()]);
    told(&mut desk.command(&["watch", "add", "--url", &web.url("/"), "--to", "mail"]));
    web.edit("/", "<html><body><p>Two</p></body></html>".into());
    let visit = ["run", "-q", "--allow-private", "--delay", "2ms", "--no-serve", "--until-idle", "--refresh-min", "0s"];
    told(desk.command(&visit).args(["--budget", "1000000/s", &web.url("/")]));
    let waiting = json_lines(&told(&mut desk.command(&["watch", "deliveries", "--json", "--state", "waiting"])));
    let tried = &waiting[0]["latest"][0];
    assert_eq!((waiting.len(), &tried["status"], &tried["taken"]), (1, &535.into(), &false.into()), "{waiting:?}");
    let answer = tried["answer"].as_str().unwrap();
    assert!(answer.starts_with("log in to the mail server: ") && !answer.contains("horse"), "{answer}");
    let (code, complaint) = refused(&mut desk.command(&["watch", "route", "test", "mail"]));
    assert!(
        code == 1 && complaint.contains("log in to the mail server") && !complaint.contains("horse"),
        "{complaint}"
    );
    let said = desk.server.stop();
    assert!(said.iter().all(|one| one["login"] == false && one["tls"] == true), "{said:?}");
}

#[test]
fn nothing_is_said_to_a_server_without_tls_or_with_a_certificate_that_is_not_trusted() {
    let Some(judges) = judges() else { return };
    for (mode, scheme, name, trusts, wanted) in [
        ("plain", "smtp", "127.0.0.1", true, "offers no STARTTLS"),
        ("starttls", "smtp", "127.0.0.1", false, "begin TLS with the mail server: "),
        ("starttls", "smtp", "mail.example", true, "begin TLS with the mail server: "),
        ("tls", "smtps", "127.0.0.1", false, "certificate"),
        ("tls", "smtps", "mail.example", true, "certificate"),
    ] {
        let desk = made(&judges, mode, name);
        let trusted = desk.trusted();
        let more = ["--tls-ca", &trusted];
        desk.route(scheme, "env:MAIL_PASSWORD", if trusts { &more } else { &[] });
        let (code, complaint) = refused(&mut desk.command(&["watch", "route", "test", "mail"]));
        assert!(code == 1 && complaint.contains(wanted), "{mode} {name} {trusts}: {complaint}");
        assert_eq!(desk.server.stop(), Vec::<Value>::new(), "{mode} {name} {trusts}: neither login nor mail");
    }
}

#[test]
fn a_file_without_certificates_is_refused_before_anybody_is_asked() {
    let Some(judges) = judges() else { return };
    let desk = made(&judges, "tls", "127.0.0.1");
    let key = desk.folder.path().join("key.pem").to_str().unwrap().to_owned();
    desk.route("smtps", "env:MAIL_PASSWORD", &["--tls-ca", &key]);
    let (code, complaint) = refused(&mut desk.command(&["watch", "route", "test", "mail"]));
    assert!(code == 1 && complaint.contains("has no certificate as PEM"), "{complaint}");
    let (code, complaint) = refused(&mut desk.command(&[
        "watch",
        "route",
        "add",
        "x",
        "--mail-to",
        "a@b.example",
        "--mail-from",
        "v@b.example",
        "--smtp",
        "smtp://127.0.0.1:25",
        "--plain",
        "--tls-ca",
        &key,
    ]));
    assert!(code == 2 && complaint.contains("--plain"), "{complaint}");
}
