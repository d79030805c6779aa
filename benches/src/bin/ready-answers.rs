//! Serves one host out of finished answers, until it is killed: `ready-answers PORT FOLDER [sitemap]`. benches/pages.py
//! writes the folder and describes its files. With `sitemap` robots.txt names one.
//!
//! It prints a line when it is ready, and for each line it reads how many requests of which kind it has answered.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

struct Answers {
    bytes: Vec<u8>,
    by_path: HashMap<String, Ready>,
    counts: Mutex<BTreeMap<String, u64>>,
}

struct Ready {
    etag: Option<String>,
    plain: Range<usize>,
    packed: Range<usize>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (port, folder, sitemap) = match words.as_slice() {
        [port, folder] => (port, folder, false),
        [port, folder, word] if word == "sitemap" => (port, folder, true),
        _ => return Err("usage: ready-answers PORT FOLDER [sitemap]".into()),
    };
    let (port, answers): (u16, _) = (port.parse()?, Arc::new(Answers::read(Path::new(folder), sitemap)?));
    let counted = Arc::clone(&answers);
    std::thread::spawn(move || io::stdin().lock().lines().for_each(|_| counted.print()));
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async move {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        println!("ready http://127.0.0.1:{port}/");
        loop {
            let (stream, _) = listener.accept().await?;
            let answers = Arc::clone(&answers);
            tokio::spawn(async move {
                // A conversation that breaks off ends here; the next one begins anew.
                let _ = converse(stream, &answers).await;
            });
        }
    })
}

impl Answers {
    fn read(folder: &Path, sitemap: bool) -> Result<Answers, Box<dyn std::error::Error>> {
        let bytes = std::fs::read(folder.join("answers"))?;
        let mut by_path = HashMap::new();
        for line in std::fs::read_to_string(folder.join("index"))?.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            let [path, etag, plain, plain_bytes, packed, packed_bytes] = words.as_slice() else {
                return Err(format!("the index has a line `{line}`").into());
            };
            let range = |start: &str, bytes: &str| -> Result<Range<usize>, std::num::ParseIntError> {
                let start = start.parse()?;
                Ok(start..start + bytes.parse::<usize>()?)
            };
            let ready = Ready {
                etag: (*etag != "-").then(|| (*etag).to_owned()),
                plain: range(plain, plain_bytes)?,
                packed: range(packed, packed_bytes)?,
            };
            by_path.insert((*path).to_owned(), ready);
        }
        if let Some(robots) = by_path.remove("/robots.txt with sitemap").filter(|_| sitemap) {
            by_path.insert("/robots.txt".to_owned(), robots);
        }
        Ok(Answers { bytes, by_path, counts: Mutex::default() })
    }

    /// One line: how many requests in all, and how many with each status.
    fn print(&self) {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let each: String = counts.iter().map(|(status, count)| format!(" {status}:{count}")).collect();
        println!("requests {}{each}", counts.values().sum::<u64>());
    }

    fn count(&self, answer: &[u8]) {
        let status = String::from_utf8_lossy(answer.get(9..12).unwrap_or_default()).into_owned();
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() += 1;
    }
}

#[derive(Default)]
struct Asked {
    path: String,
    etag: Option<String>,
    gzip: bool,
}

impl Asked {
    fn hear(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("GET ") {
            rest.split(' ').next().unwrap_or("/").clone_into(&mut self.path);
        }
        let Some((name, value)) = line.split_once(':') else { return };
        match name.to_ascii_lowercase().as_str() {
            "if-none-match" => self.etag = Some(value.trim().to_owned()),
            "accept-encoding" => self.gzip = value.contains("gzip"),
            _ => {}
        }
    }
}

async fn converse(stream: TcpStream, answers: &Answers) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    loop {
        let mut asked = Asked::default();
        loop {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            asked.hear(&line);
        }
        let answer = answer(answers, &asked);
        answers.count(answer);
        stream.get_mut().write_all(answer).await?;
    }
}

fn answer<'a>(answers: &'a Answers, asked: &Asked) -> &'a [u8] {
    const UNKNOWN: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    const SAME: &[u8] = b"HTTP/1.1 304 Not Modified\r\n\r\n";
    let Some(ready) = answers.by_path.get(&asked.path) else { return UNKNOWN };
    if ready.etag.is_some() && ready.etag == asked.etag {
        return SAME;
    }
    let range = if asked.gzip { &ready.packed } else { &ready.plain };
    &answers.bytes[range.clone()]
}
