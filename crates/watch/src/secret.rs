//! A secret: named by where it lies, or kept in the log of the room. It is never shown.

use std::fmt;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A file of a secret; no secret is longer.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// What a secret of the Standard Webhooks form begins with.
const PREFIX: &str = "whsec_";

/// `env:NAME` and `file:PATH` are read when they are needed, so that a changed secret is in force at once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Secret {
    Variable(String),
    File(PathBuf),
    /// Made here, or given as `whsec_…`.
    Kept(String),
}

impl Secret {
    /// A new secret from the random bytes of the system.
    pub fn fresh() -> Result<Secret> {
        use std::io::Read;
        const SOURCE: &str = "/dev/urandom";
        let mut bytes = [0; 32];
        let read = std::fs::File::open(SOURCE).and_then(|mut source| source.read_exact(&mut bytes));
        read.map_err(|source| Error::Io { act: "read", path: SOURCE.into(), source })?;
        Ok(Secret::of_bytes(&bytes))
    }

    /// A new secret of these random bytes.
    pub fn of_bytes(bytes: &[u8; 32]) -> Secret {
        Secret::Kept(format!("{PREFIX}{}", STANDARD.encode(bytes)))
    }

    /// The text itself.
    pub fn read(&self) -> Result<String> {
        let text = match self {
            Secret::Kept(text) => text.clone(),
            Secret::Variable(name) => std::env::var(name)
                .map_err(|_| Error::Wrong(format!("the environment variable {name} is not set or no text")))?,
            Secret::File(path) => {
                let io = |source| Error::Io { act: "read the secret", path: path.clone(), source };
                if std::fs::metadata(path).map_err(io)?.len() > FILE_BYTES_MAX {
                    return Err(Error::Wrong(format!("{} is too long for a secret", path.display())));
                }
                std::fs::read_to_string(path).map_err(io)?
            }
        };
        let text = text.trim().to_owned();
        if text.is_empty() { Err(Error::Wrong(format!("{self} is empty"))) } else { Ok(text) }
    }

    /// The key of a signature: what `whsec_` stands before, or the bytes of any other text.
    pub fn key(&self) -> Result<Vec<u8>> {
        let text = self.read()?;
        match text.strip_prefix(PREFIX) {
            Some(encoded) => STANDARD
                .decode(encoded)
                .map_err(|_| Error::wrong("a secret that begins with whsec_ must go on in base64")),
            None => Ok(text.into_bytes()),
        }
    }

    /// The secret as it is given to its receiver, once.
    pub fn reveal(&self) -> Option<&str> {
        match self {
            Secret::Kept(text) => Some(text),
            Secret::Variable(_) | Secret::File(_) => None,
        }
    }

    /// Whether it only says where the secret lies.
    pub fn is_named(&self) -> bool {
        !matches!(self, Secret::Kept(_))
    }
}

impl TryFrom<String> for Secret {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        if let Some(name) = text.strip_prefix("env:").filter(|name| !name.is_empty()) {
            return Ok(Secret::Variable(name.to_owned()));
        }
        if let Some(path) = text.strip_prefix("file:").filter(|path| !path.is_empty()) {
            return Ok(Secret::File(path.into()));
        }
        match text.strip_prefix(PREFIX).is_some_and(|rest| STANDARD.decode(rest).is_ok_and(|key| key.len() >= 24)) {
            true => Ok(Secret::Kept(text)),
            // The text itself is not repeated: it may be the secret.
            false => Err("a secret is env:NAME, file:PATH, or whsec_ and at least 24 bytes in base64".into()),
        }
    }
}

impl From<Secret> for String {
    fn from(secret: Secret) -> String {
        match secret {
            Secret::Variable(name) => format!("env:{name}"),
            Secret::File(path) => format!("file:{}", path.display()),
            Secret::Kept(text) => text,
        }
    }
}

/// Where it lies, never what it is.
impl fmt::Display for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Variable(name) => write!(out, "env:{name}"),
            Secret::File(path) => write!(out, "file:{}", path.display()),
            Secret::Kept(_) => out.write_str("kept"),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::of_bytes(&[7; 32]);
        let text = secret.reveal().unwrap().to_owned();
        assert!(!format!("{secret} {secret:?}").contains(&text[8..20]));
        assert_eq!(Secret::try_from(text).unwrap().key().unwrap(), vec![7; 32]);
        let told = Secret::try_from("hunter2".to_owned()).unwrap_err();
        assert!(!told.contains("hunter2"));
    }

    #[test]
    fn a_secret_of_a_file_is_read_when_it_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let secret = Secret::try_from(format!("file:{}", path.display())).unwrap();
        assert!(secret.is_named() && secret.read().is_err());
        std::fs::write(&path, "one\n").unwrap();
        assert_eq!(secret.read().unwrap(), "one");
        std::fs::write(&path, "two\n").unwrap();
        assert_eq!(secret.key().unwrap(), b"two");
        assert!(Secret::try_from("env:VERNAL_SURELY_NOT_SET".to_owned()).unwrap().read().is_err());
    }
}
