//! A web of a few pages that a test edits, and the shared pairs of real pages.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::{run, told};

/// A web of a few pages that a test edits.
pub struct Edited {
    pub address: SocketAddr,
    pages: Arc<Mutex<HashMap<String, String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Edited {
    pub fn serve(pages: &[(&str, String)]) -> Edited {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pages: Arc<Mutex<HashMap<String, String>>> =
            Arc::new(Mutex::new(pages.iter().map(|(path, body)| ((*path).to_owned(), body.clone())).collect()));
        let stop = Arc::new(AtomicBool::new(false));
        let (shown, stopped) = (Arc::clone(&pages), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                // A crawler that hangs up early is no fault of the page.
                let _ = answer(stream, &shown);
            }
        });
        Edited { address, pages, stop, thread: Some(thread) }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn edit(&self, path: &str, body: String) {
        self.pages.lock().unwrap().insert(path.to_owned(), body);
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn answer(stream: TcpStream, pages: &Mutex<HashMap<String, String>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let body = pages.lock().unwrap().get(path).cloned();
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    let kind = match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "png" => "image/png",
        "image" => "image/svg+xml",
        "css" => "text/css",
        "js" => "text/javascript",
        _ => "text/html; charset=utf-8",
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    (&stream).write_all(format!("{head}{body}").as_bytes())
}

/// Visits everything once more.
pub fn visit(data: &Path, url: &str) {
    told(run(data).args(["--until-idle", "--refresh-min", "0s", "--budget", "1000000/s", url]));
}

/// Unpacks the shared pairs; `None` where the set is not there.
pub fn shared_pairs(into: &Path) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/pairs");
    let Ok(packed) = std::fs::File::open(folder.join("pairs.tar.zst")) else {
        assert!(std::env::var_os("CI").is_none(), "the pair set is missing: {}", folder.display());
        println!("skipped: {} is not there", folder.display());
        return None;
    };
    let unpacked = ruzstd::decoding::StreamingDecoder::new(packed).unwrap();
    tar::Archive::new(unpacked).unpack(into).unwrap();
    Some(std::fs::read_to_string(folder.join("labels.jsonl")).unwrap())
}
