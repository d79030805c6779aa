//! Directory listings of FTP servers in their various formats become one name per line, with a slash after directories.

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DirectoryFormat {
    /// MLSD (RFC 3659): facts, a space, the name.
    Machine,
    /// LIST: the output of `ls -l` or of similar commands on other systems.
    Long,
    /// NLST: names only. It does not tell directories from files.
    Names,
}

/// The names in a directory; `None` where the lines are not of this format.
pub fn names(body: &[u8], format: DirectoryFormat) -> Option<Vec<u8>> {
    let mut names = Vec::with_capacity(body.len());
    let lines = body.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let (mut read, mut strange) = (0u32, 0u32);
    for line in lines.filter(|line| !line.is_empty()) {
        let entry = match format {
            DirectoryFormat::Machine => machine(line),
            DirectoryFormat::Long => long(line),
            DirectoryFormat::Names => Some(Entry::Name(last_part(line), false)),
        };
        match entry {
            Some(Entry::Name(name, is_folder)) => {
                read += 1;
                push(&mut names, name, is_folder);
            }
            Some(Entry::Nothing) => read += 1,
            None => strange += 1,
        }
    }
    (strange == 0 || read > strange).then_some(names)
}

enum Entry<'a> {
    Name(&'a [u8], bool),
    /// A line that belongs to the format and names nothing that can be requested.
    Nothing,
}

fn push(names: &mut Vec<u8>, name: &[u8], is_folder: bool) {
    if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') {
        return;
    }
    names.extend_from_slice(name);
    if is_folder {
        names.push(b'/');
    }
    names.push(b'\n');
}

fn machine(line: &[u8]) -> Option<Entry<'_>> {
    let space = line.windows(2).position(|pair| pair == b"; ").map(|place| place + 1)?;
    let facts = line[..space].to_ascii_lowercase();
    let kind = facts.split(|&byte| byte == b';').find_map(|fact| fact.strip_prefix(b"type="));
    match kind {
        Some(b"cdir" | b"pdir") => Some(Entry::Nothing),
        kind => Some(Entry::Name(&line[space + 1..], kind == Some(b"dir"))),
    }
}

fn long(line: &[u8]) -> Option<Entry<'_>> {
    if line.starts_with(b"total ") {
        return Some(Entry::Nothing);
    }
    unix(line).or_else(|| dos(line))
}

/// `drwxr-xr-x 2 ftp ftp 4096 May 01 12:00 name`; a link's target is left out.
fn unix(line: &[u8]) -> Option<Entry<'_>> {
    let kind = *line.first()?;
    let rights = line.get(1..10)?;
    if !b"-dlbcps".contains(&kind) || !rights.iter().all(|right| b"-rwxsStTlL".contains(right)) {
        return None;
    }
    let name = after_fields(line, 8)?;
    match kind {
        b'd' => Some(Entry::Name(name, true)),
        b'l' => {
            let arrow = name.windows(4).position(|window| window == b" -> ").unwrap_or(name.len());
            Some(Entry::Name(&name[..arrow], false))
        }
        b'-' => Some(Entry::Name(name, false)),
        _ => Some(Entry::Nothing),
    }
}

/// `05-01-26  12:00PM       <DIR>          name`.
fn dos(line: &[u8]) -> Option<Entry<'_>> {
    if !line.first()?.is_ascii_digit() || !matches!(line.get(2)?, b'-' | b'/') {
        return None;
    }
    let is_folder = after_fields(line, 2)?.starts_with(b"<DIR>");
    Some(Entry::Name(after_fields(line, 3)?, is_folder))
}

/// The rest of the line after so many fields separated by spaces.
fn after_fields(line: &[u8], count: usize) -> Option<&[u8]> {
    let mut rest = line;
    for _ in 0..count {
        let end = rest.iter().position(|&byte| byte == b' ')?;
        rest = rest[end..].trim_ascii_start();
    }
    (!rest.is_empty()).then_some(rest)
}

fn last_part(line: &[u8]) -> &[u8] {
    let place = line.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    &line[place..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: DirectoryFormat) -> Option<String> {
        names(text.as_bytes(), format).map(|names| String::from_utf8(names).unwrap())
    }

    #[test]
    fn every_format_gives_the_same_names() {
        let machine = "type=cdir;modify=20260501; .\r\ntype=dir;x=y; a b\r\nType=file;size=3; c.txt\r\n";
        let unix = "total 8\r\ndrwxr-xr-x 2 ftp ftp 4096 May 01 12:00 a b\r\n\
            -rw-r--r--   1 ftp      ftp             3 May 01  2026 c.txt\r\n";
        let dos = "05-01-26  12:00PM       <DIR>          a b\r\n05-01-26  12:00PM                    3 c.txt\r\n";
        for (text, format) in
            [(machine, DirectoryFormat::Machine), (unix, DirectoryFormat::Long), (dos, DirectoryFormat::Long)]
        {
            assert_eq!(read(text, format).as_deref(), Some("a b/\nc.txt\n"), "{text}");
        }
        assert_eq!(read("/pub/a\r\nb\r\n..\r\n", DirectoryFormat::Names).as_deref(), Some("a\nb\n"));
    }

    #[test]
    fn a_link_is_named_without_its_target() {
        let line = "lrwxrwxrwx 1 ftp ftp 7 May 01 12:00 now -> v1.2.3";
        assert_eq!(read(line, DirectoryFormat::Long).as_deref(), Some("now\n"));
    }

    #[test]
    fn what_is_no_listing_is_not_taken_for_one() {
        assert_eq!(read("hello world\nthis is prose\n", DirectoryFormat::Long), None);
        assert_eq!(read("", DirectoryFormat::Long).as_deref(), Some(""));
    }
}
