//! WebSub from end to end: a feed names its hub, the real binary asks the hub, says yes when it is asked back, and takes
//! what the hub sends; a restart asks no second time.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use common::{Running, assert_sound, json_lines, told, vernal, wait_until};
use serde_json::Value;

/// A site with a page, a feed and a hub, all at one address.
struct Site {
    address: String,
    /// The forms that the hub was sent.
    asked: Arc<Mutex<Vec<BTreeMap<String, String>>>>,
}

impl Site {
    fn open() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked: Arc<Mutex<Vec<BTreeMap<String, String>>>> = Arc::default();
        let (name, forms) = (address.clone(), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (name, forms) = (name.clone(), Arc::clone(&forms));
                std::thread::spawn(move || serve(stream, &name, &forms));
            }
        });
        Site { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn serve(stream: TcpStream, address: &str, forms: &Mutex<Vec<BTreeMap<String, String>>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if lines.read_line(&mut head).is_ok_and(|count| count > 0) { continue } else { return }
        }
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        lines.read_exact(&mut body).unwrap();
        let (status, more, text) = match head.split(' ').nth(1).unwrap() {
            "/" => (200, String::new(), page(address)),
            "/feed" => {
                let link = format!("Link: <http://{address}/moved>; rel=\"hub\", </feed>; rel=\"self\"\r\n");
                (200, link + "Content-Type: application/rss+xml\r\n", feed(address))
            }
            "/moved" => (307, "Location: /hub\r\n".into(), String::new()),
            "/hub" => {
                assert!(head.starts_with("POST ") && head.contains("application/x-www-form-urlencoded"), "{head}");
                forms.lock().unwrap().push(fields(std::str::from_utf8(&body).unwrap()));
                (202, String::new(), String::new())
            }
            _ => (404, String::new(), String::new()),
        };
        write!(stream, "HTTP/1.1 {status} X\r\n{more}Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }
}

fn page(address: &str) -> String {
    format!(
        "<html><head><link rel=alternate type=application/rss+xml href=http://{address}/feed></head>\
         <body><p>A page with a feed beside it.</p></body></html>"
    )
}

fn feed(address: &str) -> String {
    format!(
        "<rss version=\"2.0\"><channel><title>t</title><link>http://{address}/</link>\
         <item><link>http://{address}/</link></item></channel></rss>"
    )
}

fn fields(form: &str) -> BTreeMap<String, String> {
    form.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, value)| (plain(name), plain(value))).collect()
}

fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn ask(address: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{head}Host: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn subscription(data: &std::path::Path) -> Value {
    let hints = json_lines(&told(vernal(data).args(["hints", "--json"])));
    let feed = hints.iter().find(|row| row["source"] == "feed");
    feed.map_or(Value::Null, |row| row["files"][0]["subscription"].clone())
}

#[test]
fn a_hub_that_a_feed_names_is_asked_once_and_heard() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let site = Site::open();
    let start = || {
        let mut command = vernal(&data);
        command.args(["run", "--allow-private", "--hints", "on", "--delay", "2ms", "--listen", "127.0.0.1:0"]);
        command.args(["--budget", "1000/s", "--websub-secret", "pssst"]);
        command.args(["--websub-callback", "https://crawl.example/websub", &site.url("/")]);
        Running::start(&mut command, &data)
    };
    let mut running = start();
    let address = running.listening();
    wait_until("the hub is asked, where it has moved to", || !site.asked.lock().unwrap().is_empty());
    let form = site.asked.lock().unwrap()[0].clone();
    let topic = site.url("/feed");
    assert_eq!((form["hub.mode"].as_str(), form["hub.topic"].as_str()), ("subscribe", topic.as_str()), "{form:?}");
    assert_eq!((form["hub.lease_seconds"].as_str(), form["hub.secret"].len()), ("864000", 40), "{form:?}");
    assert!(!format!("{form:?}").contains("pssst"), "the operator's own secret stays here");
    let callback = form["hub.callback"].strip_prefix("https://crawl.example").unwrap().to_owned();

    wait_until("the answer is kept", || subscription(&data)["answer"] == "status 202");
    assert_eq!(subscription(&data)["standing"], "asked");
    let challenge = format!("&hub.mode=subscribe&hub.topic={topic}&hub.challenge=c4&hub.lease_seconds=7200");
    let forged = callback.replace("&key=", "&key=0");
    let answer = ask(&address, &format!("GET {forged}{challenge} HTTP/1.1\r\n"), "");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    let answer = ask(&address, &format!("GET {callback}{challenge} HTTP/1.1\r\n"), "");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("c4"), "{answer}");
    let known = subscription(&data);
    assert_eq!(known["standing"], "verified", "{known}");
    assert!(known["until"].as_str() > known["next"].as_str(), "renewed before the lease ends: {known}");

    let body = feed(&site.address);
    let method: vernal_crawler::SignatureMethod = "sha256".parse().unwrap();
    let signature = method.keyed_digest(form["hub.secret"].as_bytes(), body.as_bytes());
    let head = format!("POST {callback} HTTP/1.1\r\nContent-Type: application/rss+xml\r\nX-Hub-Signature: ");
    for forged in [format!("sha256={}", "0".repeat(64)), format!("sha512={signature}"), format!("md5={signature}")] {
        let refused = ask(&address, &format!("{head}{forged}\r\n"), &body);
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    }
    let taken = ask(&address, &format!("{head}sha256={signature}\r\n"), &body);
    assert!(taken.contains("\"hinted\":1"), "{taken}");
    assert_eq!(running.stop(), Some(0));

    let running = start();
    assert_eq!(subscription(&data)["standing"], "verified");
    assert_eq!(running.stop(), Some(0));
    assert_eq!(site.asked.lock().unwrap().len(), 1, "a lease that holds is not asked for again");
    assert_sound(&data);
}
