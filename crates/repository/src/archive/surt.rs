//! The sort-friendly form of a URL, the key of every CDX index: `com,example)/path?a=1&b=2`.
//!
//! The rules are those of the `surt` package that indexers use: fragment, user, `www.`, default port and session ids
//! dropped; dots and escapes resolved; everything in lower case; query arguments sorted. Left out: session ids within
//! the path (ASP.NET without cookies) and addresses written in octal, which our own URLs never have.

/// The SURT key of a URL. A text without a host is its own key.
pub fn surt(url: &str) -> String {
    let url = url.trim();
    let url = &url[..url.find('#').unwrap_or(url.len())];
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(authority_end);
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    let (host, port) = host_and_port(scheme, authority);
    let mut key = Vec::with_capacity(url.len() + 8);
    for (place, label) in host.split(|&byte| byte == b'.').rev().enumerate() {
        if place > 0 {
            key.push(b',');
        }
        key.extend_from_slice(label);
    }
    if let Some(port) = port {
        key.extend_from_slice(format!(":{port}").as_bytes());
    }
    key.push(b')');
    key.extend_from_slice(&path_key(path));
    let query = query_key(query);
    if !query.is_empty() {
        key.push(b'?');
        key.extend_from_slice(&query);
    }
    String::from_utf8(key).expect("everything beyond ASCII was escaped")
}

fn host_and_port(scheme: &str, authority: &str) -> (Vec<u8>, Option<u16>) {
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.rfind(':') {
        // A colon within the brackets of an address is no port.
        Some(colon) if !authority[colon..].contains(']') => (&authority[..colon], authority[colon + 1..].parse().ok()),
        _ => (authority, None),
    };
    let default_port = match scheme.to_ascii_lowercase().as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase().replace("..", ".");
    let host = escaped(&unescaped(host.trim_matches('.').as_bytes())).to_ascii_lowercase();
    (without_www(&host).to_vec(), port.filter(|&port| Some(port) != default_port))
}

/// `www.`, `www2.` and their like are dropped.
fn without_www(host: &[u8]) -> &[u8] {
    let Some(rest) = host.strip_prefix(b"www") else { return host };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest[digits..].strip_prefix(b".").unwrap_or(host)
}

fn path_key(path: &str) -> Vec<u8> {
    let path = unescaped(path.as_bytes());
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/').skip(1) {
        match part {
            b"." => {}
            b".." if !kept.is_empty() => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    let mut key = vec![b'/'];
    if let Some((last, folders)) = kept.split_last() {
        for folder in folders.iter().filter(|folder| !folder.is_empty()) {
            key.extend_from_slice(folder);
            key.push(b'/');
        }
        key.extend_from_slice(last);
    }
    let mut key = escaped(&key).to_ascii_lowercase();
    if key.len() > 1 && key.ends_with(b"/") {
        key.pop();
    }
    key
}

fn query_key(query: &str) -> Vec<u8> {
    let mut query = escaped(&unescaped(query.as_bytes()));
    for session in [
        Session { name: "jsessionid=", letters: 0, value: Value::Alphanumeric(32) },
        Session { name: "phpsessid=", letters: 0, value: Value::Alphanumeric(32) },
        Session { name: "sid=", letters: 0, value: Value::Alphanumeric(32) },
        Session { name: "aspsessionid", letters: 8, value: Value::Letters(24) },
    ] {
        query = session.dropped_from(query);
    }
    query = without_cold_fusion(query);
    query.make_ascii_lowercase();
    if query.len() <= 1 {
        return query;
    }
    let mut arguments: Vec<(&[u8], Option<&[u8]>)> = query
        .split(|&byte| byte == b'&')
        .map(|argument| match argument.iter().position(|&byte| byte == b'=') {
            Some(equals) => (&argument[..equals], Some(&argument[equals + 1..])),
            None => (argument, None),
        })
        .collect();
    arguments.sort_unstable();
    let mut key = Vec::with_capacity(query.len());
    for (place, (name, value)) in arguments.into_iter().enumerate() {
        if place > 0 {
            key.push(b'&');
        }
        key.extend_from_slice(name);
        if let Some(value) = value {
            key.push(b'=');
            key.extend_from_slice(value);
        }
    }
    key
}

/// An argument that names a visitor: `name` (then so many letters and `=`) and a value of a fixed length.
struct Session {
    name: &'static str,
    letters: usize,
    value: Value,
}

enum Value {
    Alphanumeric(usize),
    Letters(usize),
}

impl Session {
    fn dropped_from(&self, query: Vec<u8>) -> Vec<u8> {
        let lower = query.to_ascii_lowercase();
        // The last match, as a greedy pattern finds it.
        for start in (0..lower.len()).rev().filter(|&start| lower[start..].starts_with(self.name.as_bytes())) {
            if let Some(end) = self.end(&query, start + self.name.len()) {
                return cut(&query, start, end);
            }
        }
        query
    }

    fn end(&self, query: &[u8], mut place: usize) -> Option<usize> {
        if self.letters > 0 {
            let suffix = query.get(place..place + self.letters)?;
            place += self.letters + 1;
            if !suffix.iter().all(u8::is_ascii_alphabetic) || query.get(place - 1) != Some(&b'=') {
                return None;
            }
        }
        let (length, fits): (usize, fn(&u8) -> bool) = match self.value {
            Value::Alphanumeric(length) => (length, u8::is_ascii_alphanumeric),
            Value::Letters(length) => (length, u8::is_ascii_alphabetic),
        };
        let value = query.get(place..place + length)?;
        let end = place + length;
        (value.iter().all(fits) && matches!(query.get(end), None | Some(b'&'))).then_some(end)
    }
}

/// `cfid=…&cftoken=…`, which name a visitor together.
fn without_cold_fusion(query: Vec<u8>) -> Vec<u8> {
    let lower = query.to_ascii_lowercase();
    let argument_end =
        |from: usize| lower[from..].iter().position(|&byte| byte == b'&').map_or(lower.len(), |p| from + p);
    for start in (0..lower.len()).rev().filter(|&start| lower[start..].starts_with(b"cfid=")) {
        let id_end = argument_end(start);
        let token = id_end + 1;
        if id_end > start + 5 && lower.get(token..).is_some_and(|rest| rest.starts_with(b"cftoken=")) {
            let end = argument_end(token);
            if end > token + 8 {
                return cut(&query, start, end);
            }
        }
    }
    query
}

/// Without `start..end` and the `&` behind it.
fn cut(query: &[u8], start: usize, end: usize) -> Vec<u8> {
    let mut kept = query[..start].to_vec();
    kept.extend_from_slice(query.get(end + 1..).unwrap_or_default());
    kept
}

/// Escapes are resolved until none is left.
fn unescaped(input: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    loop {
        let mut resolved = Vec::with_capacity(bytes.len());
        let mut place = 0;
        while place < bytes.len() {
            let hex = |at: usize| bytes.get(at).and_then(|&digit| char::from(digit).to_digit(16));
            match (bytes[place], hex(place + 1), hex(place + 2)) {
                (b'%', Some(high), Some(low)) => {
                    resolved.push((high * 16 + low) as u8);
                    place += 3;
                }
                (byte, ..) => {
                    resolved.push(byte);
                    place += 1;
                }
            }
        }
        if resolved.len() == bytes.len() {
            return resolved;
        }
        bytes = resolved;
    }
}

/// Everything but printable ASCII is escaped, and so are `#`, `%` and the space.
fn escaped(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len());
    for &byte in input {
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%') {
            out.push(byte);
        } else {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_indexers() {
        // Printed by the `surt` package, version 0.3.1.
        for (url, key) in [
            ("http://example.org/", "org,example)/"),
            ("https://www.Example.org:443/A/b/?z=1&a=2#top", "org,example)/a/b?a=2&z=1"),
            ("http://www2.example.co.uk:8080", "uk,co,example:8080)/"),
            ("http://127.0.0.1:8001/x.html", "1,0,0,127:8001)/x.html"),
            ("http://a.b/%7Euser/%2e/x/../y%20z", "b,a)/~user/y%20z"),
            ("http://a.b/?jsessionid=0123456789abcdef0123456789ABCDEF&q=1", "b,a)/?q=1"),
            ("http://a.b/?b&b=&a", "b,a)/?a&b&b="),
            ("http://a.b//x///y//", "b,a)/x/y"),
            ("ftp://ftp.example.org/pub/", "org,example,ftp)/pub"),
            ("gopher://g.org:71/1", "org,g:71)/1"),
            ("http://a.b/x?", "b,a)/x"),
            ("http://a.b/é?q=ü", "b,a)/%c3%a9?q=%c3%bc"),
            ("http://[2001:db8::1]:81/", "2001:db8::1:81)/"),
        ] {
            assert_eq!(surt(url), key, "{url}");
        }
    }
}
