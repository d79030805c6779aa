//! Who may ask the API: tokens by name, each with a role. Of a token only its SHA-256 is kept, so that the file lets nobody in.
//!
//! ```text
//! DIR/tokens                                     mode 0600, all numbers little-endian
//!
//! file:   magic "VRNLTOKN" | format u32 | number of tokens u32 | the tokens | checksum u64
//! token:  length of the name u8 | name | role u8 (1 read, 2 operate, 3 admin) | SHA-256 of the token, 32 bytes
//!         | created i64 | expires i64 | last used i64
//! ```
//!
//! Moments are microseconds since 1970; a token that never expires has the largest number, one that was never used has 0. The
//! checksum is XXH3-64 over everything before it. A file that is damaged, or that others can write, is an error and never an
//! empty list: whoever asks then is refused. A new file is written under another name, synced and renamed. Without the file
//! there are no tokens.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use vernal_model::Moment;
use xxhash_rust::xxh3::xxh3_64;

use crate::folder::sync_folder;
use crate::{Error, Result};

/// Tokens of one repository.
pub const TOKENS_MAX: usize = 256;
/// Bytes of a name.
pub const TOKEN_NAME_BYTES_MAX: usize = 64;
const FILE: &str = "tokens";
const MAGIC: &[u8; 8] = b"VRNLTOKN";
const FORMAT: u32 = 1;
const MODE: u32 = 0o600;
/// The bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;
const CHECKSUM_BYTES: usize = 8;
/// A file of the most tokens with the longest names is smaller.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// What a token may do. Each role may do what those before it may.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Read = 1,
    Operate = 2,
    Admin = 3,
}

/// One token as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    pub name: String,
    pub role: Role,
    /// SHA-256 of the token.
    pub digest: [u8; 32],
    pub created: Moment,
    pub expires: Option<Moment>,
    pub last_used: Option<Moment>,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Read, Role::Operate, Role::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Role::Read => "read",
            Role::Operate => "operate",
            Role::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Role, String> {
        let found = Role::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| format!("`{text}` is no role: give read, operate or admin"))
    }
}

impl AccessToken {
    pub fn has_expired(&self, now: Moment) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// Whether a token may have this name. Names stand in paths and in logs, so they are plain.
pub fn is_token_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    // A name of dots alone would be another place in a path.
    (1..=TOKEN_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_plain) && !name.starts_with('.')
}

/// The tokens of the repository in this folder.
pub fn read_tokens(dir: &Path) -> Result<Vec<AccessToken>> {
    let path = dir.join(FILE);
    let damaged = |offset: usize, what: &str| Error::CorruptFile {
        what: format!(
            "{what}; no token opens anything until this file is restored, or removed and new tokens are made"
        ),
        path: path.clone(),
        offset: offset as u64,
    };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("open", &path)(error)),
    };
    let mode = file.metadata().map_err(Error::io("read", &path))?.mode();
    if mode & OTHERS_WRITE != 0 {
        let what = format!("others can write it (mode {:o}), so its tokens cannot be trusted", mode & 0o777);
        return Err(damaged(0, &what));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
    decode(&bytes).map_err(|(offset, what)| damaged(offset, &what))
}

/// Writes all tokens in place of those that were kept before. It is durable when this returns.
pub fn write_tokens(dir: &Path, tokens: &[AccessToken]) -> Result<()> {
    let (path, fresh) = (dir.join(FILE), dir.join(format!("{FILE}.new")));
    crate::passes::remove(&fresh)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&fresh);
    let mut file = file.map_err(Error::io("make", &fresh))?;
    file.write_all(&encode(tokens)).map_err(Error::io("write", &fresh))?;
    file.sync_all().map_err(Error::io("sync", &fresh))?;
    fs::rename(&fresh, &path).map_err(Error::io("make", &path))?;
    sync_folder(dir)
}

fn encode(tokens: &[AccessToken]) -> Vec<u8> {
    assert!(tokens.len() <= TOKENS_MAX, "whoever adds a token counts them");
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&(tokens.len() as u32).to_le_bytes());
    for token in tokens {
        assert!(is_token_name(&token.name), "whoever adds a token judges its name");
        bytes.push(token.name.len() as u8);
        bytes.extend_from_slice(token.name.as_bytes());
        bytes.push(token.role as u8);
        bytes.extend_from_slice(&token.digest);
        let (expires, last_used) = (token.expires.unwrap_or(Moment::NEVER), token.last_used.unwrap_or(Moment::EPOCH));
        for moment in [token.created, expires, last_used] {
            bytes.extend_from_slice(&moment.micros().to_le_bytes());
        }
    }
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The tokens, or where the file is damaged and how.
fn decode(bytes: &[u8]) -> Result<Vec<AccessToken>, (usize, String)> {
    let Some((content, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
        return Err((bytes.len(), "it ends too soon".into()));
    };
    if !content.starts_with(MAGIC) {
        return Err((0, "it is no file of tokens".into()));
    }
    if u64::from_le_bytes(*checksum) != xxh3_64(content) {
        return Err((content.len(), "its checksum is wrong".into()));
    }
    let mut rest = Rest { bytes: content, at: MAGIC.len() };
    let format = u32::from_le_bytes(rest.take()?);
    if format != FORMAT {
        return Err((MAGIC.len(), format!("its format is {format}, this Vernal reads {FORMAT}")));
    }
    let count = u32::from_le_bytes(rest.take()?) as usize;
    if count > TOKENS_MAX {
        return Err((rest.at, format!("it names {count} tokens, more than {TOKENS_MAX}")));
    }
    let mut tokens: Vec<AccessToken> = Vec::with_capacity(count);
    for _ in 0..count {
        let at = rest.at;
        let token = rest.token()?;
        if tokens.iter().any(|other| other.name == token.name) {
            return Err((at, "two tokens have one name".into()));
        }
        tokens.push(token);
    }
    if rest.at == content.len() { Ok(tokens) } else { Err((rest.at, "bytes are left behind the last token".into())) }
}

/// What is left to read.
struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], (usize, String)> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let taken = *taken.ok_or_else(|| (self.at, "it ends within a token".to_owned()))?;
        self.at += N;
        Ok(taken)
    }

    fn token(&mut self) -> Result<AccessToken, (usize, String)> {
        let at = self.at;
        let [length] = self.take()?;
        let name = self.bytes.get(self.at..self.at + usize::from(length));
        let name = name.and_then(|name| std::str::from_utf8(name).ok()).filter(|name| is_token_name(name));
        let name = name.ok_or_else(|| (at, "this is no name of a token".to_owned()))?.to_owned();
        self.at += usize::from(length);
        let [role] = self.take()?;
        let role = Role::ALL.into_iter().find(|known| *known as u8 == role);
        let role = role.ok_or_else(|| (self.at - 1, "this is no role".to_owned()))?;
        let digest = self.take()?;
        let mut moment = || Ok(Moment::from_micros(i64::from_le_bytes(self.take()?)));
        let (created, expires, last_used) = (moment()?, moment()?, moment()?);
        let expires = (expires != Moment::NEVER).then_some(expires);
        let last_used = (last_used != Moment::EPOCH).then_some(last_used);
        Ok(AccessToken { name, role, digest, created, expires, last_used })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn tokens() -> Vec<AccessToken> {
        let token = |name: &str, role, expires, last_used| AccessToken {
            name: name.into(),
            role,
            digest: [name.len() as u8; 32],
            created: Moment::from_secs(1_800_000_000),
            expires,
            last_used,
        };
        let later = Some(Moment::from_secs(1_900_000_000));
        vec![
            token("dashboard", Role::Read, None, None),
            token("night-job.2", Role::Operate, later, None),
            token(&"x".repeat(TOKEN_NAME_BYTES_MAX), Role::Admin, None, later),
        ]
    }

    #[test]
    fn what_is_written_is_read_and_only_the_owner_may_read_the_file() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_tokens(dir.path()).unwrap(), []);
        write_tokens(dir.path(), &tokens()).unwrap();
        assert_eq!(read_tokens(dir.path()).unwrap(), tokens());
        let mode = fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
        write_tokens(dir.path(), &[]).unwrap();
        assert_eq!(read_tokens(dir.path()).unwrap(), []);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left behind");
    }

    #[test]
    fn the_bytes_are_those_of_the_picture() {
        let one = AccessToken {
            name: "ci".into(),
            role: Role::Operate,
            digest: [0xab; 32],
            created: Moment::from_micros(1),
            expires: None,
            last_used: None,
        };
        let bytes = encode(&[one]);
        let mut expected = b"VRNLTOKN\x01\0\0\0\x01\0\0\0\x02ci\x02".to_vec();
        expected.extend_from_slice(&[0xab; 32]);
        expected.extend_from_slice(&1i64.to_le_bytes());
        expected.extend_from_slice(&i64::MAX.to_le_bytes());
        expected.extend_from_slice(&0i64.to_le_bytes());
        expected.extend_from_slice(&xxh3_64(&expected).to_le_bytes());
        assert_eq!(bytes, expected);
    }

    #[test]
    fn any_bit_changed_or_any_end_cut_off_is_an_error_and_never_fewer_tokens() {
        let dir = tempfile::tempdir().unwrap();
        write_tokens(dir.path(), &tokens()).unwrap();
        let path = dir.path().join(FILE);
        let good = fs::read(&path).unwrap();
        let is_refused = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            matches!(read_tokens(dir.path()), Err(Error::CorruptFile { .. }))
        };
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            assert!(is_refused(&bad), "byte {at}");
            assert!(is_refused(&good[..at]), "cut to {at}");
        }
        let told = read_tokens(dir.path()).unwrap_err().to_string();
        assert!(told.contains("no token opens anything"), "{told}");
    }

    #[test]
    fn a_file_with_a_right_checksum_and_wrong_content_is_refused_too() {
        let sealed = |mut bytes: Vec<u8>| {
            let checksum = xxh3_64(&bytes);
            bytes.extend_from_slice(&checksum.to_le_bytes());
            decode(&bytes).unwrap_err().1
        };
        let good = encode(&tokens());
        let content = &good[..good.len() - CHECKSUM_BYTES];
        let with = |at: usize, byte: u8| {
            let mut bytes = content.to_vec();
            bytes[at] = byte;
            sealed(bytes)
        };
        assert!(with(8, 2).contains("format is 2"));
        assert!(with(13, 9).contains("more than 256"));
        assert!(with(17, b'/').contains("no name"));
        assert!(with(26, 4).contains("no role"));
        assert!(with(12, 2).contains("left behind"));
        let one = &encode(&tokens()[..1])[16..];
        let one = &one[..one.len() - CHECKSUM_BYTES];
        let twice = [b"VRNLTOKN\x01\0\0\0\x02\0\0\0", one, one].concat();
        assert!(sealed(twice).contains("one name"));
    }

    #[test]
    fn a_file_that_others_can_write_is_not_trusted() {
        let dir = tempfile::tempdir().unwrap();
        write_tokens(dir.path(), &tokens()).unwrap();
        for (mode, is_trusted) in [(0o600, true), (0o640, true), (0o622, false), (0o620, false), (0o602, false)] {
            fs::set_permissions(dir.path().join(FILE), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read_tokens(dir.path()).is_ok(), is_trusted, "{mode:o}");
        }
    }

    #[test]
    fn names_are_plain() {
        for name in ["a", "ci-2", "A.b_c"] {
            assert!(is_token_name(name), "{name}");
        }
        for name in ["", ".", "..", ".x", "a b", "a/b", "ä", "a\n", &"x".repeat(TOKEN_NAME_BYTES_MAX + 1)] {
            assert!(!is_token_name(name), "{name}");
        }
    }
}
