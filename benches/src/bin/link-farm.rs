//! A site with no end of links, to fill a frontier: page N names the pages N·FAN+1 to N·FAN+FAN. `link-farm PORT FAN`.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [port, fan] = words.as_slice() else {
        return Err("usage: link-farm PORT FAN".into());
    };
    let (port, fan): (u16, u64) = (port.parse()?, fan.parse()?);
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async move {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        println!("ready http://127.0.0.1:{port}/");
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(async move {
                // A conversation that breaks off ends here; the next one begins anew.
                let _ = converse(stream, fan).await;
            });
        }
    })
}

async fn converse(stream: TcpStream, fan: u64) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    loop {
        let mut path = String::new();
        let mut line = String::new();
        loop {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if let Some(rest) = line.strip_prefix("GET ") {
                path = rest.split(' ').next().unwrap_or("/").to_owned();
            }
            if line == "\r\n" {
                break;
            }
        }
        let answer = answer(&path, fan);
        stream.get_mut().write_all(answer.as_bytes()).await?;
    }
}

fn answer(path: &str, fan: u64) -> String {
    let number = match path {
        "/" => Some(0),
        _ => path.strip_prefix("/page/").and_then(|text| text.parse::<u64>().ok()),
    };
    let Some(number) = number else {
        return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned();
    };
    let mut body = format!("<!doctype html><title>Page {number}</title><h1>Page {number}</h1><p>Links of {number}:\n");
    for next in number * fan + 1..=number * fan + fan {
        body.push_str(&format!("<a href=\"/page/{next}\">{next}</a>\n"));
    }
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
