//! TLS of the network listener: a certificate chain and its key from two PEM files, read again when they change.
//!
//! Whoever renews certificates writes new files over the old ones; the next connection has them. Files that do not fit each
//! other, such as while only one of them is new, change nothing.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// Bytes of each of the two files: dozens of certificates are smaller.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Where certificate chain and key lie.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// What the listener answers TLS with.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    config: Arc<ServerConfig>,
    looks: Looks,
}

/// How both files look from outside: time of change, size and number of each.
type Looks = [Option<(i64, i64, u64, u64)>; 2];

/// Why the listener cannot speak TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("read {what} of {}: {why}", path.display())]
    Read { what: &'static str, path: PathBuf, why: String },
    #[error("the certificate of {} and the key of {} do not fit: {why}", cert.display(), key.display())]
    Unfit { cert: PathBuf, key: PathBuf, why: rustls::Error },
}

impl Tls {
    pub fn open(files: TlsFiles) -> Result<Tls, TlsError> {
        let looks = looks(&files);
        let config = config(&files)?;
        Ok(Tls { files, current: Mutex::new(Current { config, looks }) })
    }

    /// What the next connection is answered with.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.current().config)
    }

    /// Reads the files again if they changed; true if they did and fit. An error leaves everything as it was.
    pub fn look_again(&self) -> Result<bool, TlsError> {
        let looks = looks(&self.files);
        if looks == self.current().looks {
            return Ok(false);
        }
        // Files that do not fit are told once, and tried again when they change again.
        self.current().looks = looks;
        self.current().config = config(&self.files)?;
        Ok(true)
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn looks(files: &TlsFiles) -> Looks {
    [&files.cert, &files.key].map(|path| {
        let file = std::fs::metadata(path).ok()?;
        Some((file.mtime(), file.mtime_nsec(), file.size(), file.ino()))
    })
}

fn config(files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
    let cert = pem("the certificate", &files.cert)?;
    let chain: Result<Vec<CertificateDer<'static>>, PemError> = CertificateDer::pem_slice_iter(&cert).collect();
    let wrong = |what, path: &Path, why: String| TlsError::Read { what, path: path.to_owned(), why };
    let chain = chain.map_err(|error| wrong("the certificate", &files.cert, plainly(&error)))?;
    if chain.is_empty() {
        return Err(wrong("the certificate", &files.cert, "there is no certificate in it (PEM is wanted)".into()));
    }
    let key = PrivateKeyDer::from_pem_slice(&pem("the key", &files.key)?).map_err(|error| {
        let why = match error {
            PemError::NoItemsFound => "there is no private key in it (PEM is wanted, without a passphrase)".into(),
            other => plainly(&other),
        };
        wrong("the key", &files.key, why)
    })?;
    let unfit = |why| TlsError::Unfit { cert: files.cert.clone(), key: files.key.clone(), why };
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unfit)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(unfit)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn pem(what: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(TlsError::Read { what, path: path.to_owned(), why: error.to_string() }),
    }
}

fn plainly(error: &PemError) -> String {
    format!("this is no whole PEM ({error:?})")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A certificate for localhost and its key, as PEM.
    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn files(dir: &Path, (cert, key): &(String, String)) -> TlsFiles {
        let files = TlsFiles { cert: dir.join("cert.pem"), key: dir.join("key.pem") };
        fs::write(&files.cert, cert).unwrap();
        fs::write(&files.key, key).unwrap();
        files
    }

    #[test]
    fn what_is_no_certificate_or_no_key_for_it_is_refused_by_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (pair(), pair());
        Tls::open(files(dir.path(), &one)).unwrap();
        let told = |pair: &(String, String)| Tls::open(files(dir.path(), pair)).unwrap_err().to_string();
        assert!(told(&(one.1.clone(), one.1.clone())).contains("cert.pem: there is no certificate"));
        assert!(told(&(one.0.clone(), one.0.clone())).contains("key.pem: there is no private key"));
        assert!(told(&(String::new(), one.1.clone())).contains("there is no certificate"));
        assert!(told(&(one.0.clone(), other.1.clone())).contains("do not fit"));
        let half = one.0[..one.0.len() / 2].to_owned();
        assert!(told(&(half, one.1.clone())).contains("cert.pem"));
        let missing = TlsFiles { cert: dir.path().join("none.pem"), key: dir.path().join("key.pem") };
        assert!(Tls::open(missing).unwrap_err().to_string().contains("none.pem: No such file"));
    }

    #[test]
    fn files_that_changed_are_read_again_once_they_fit() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (pair(), pair());
        let tls = Tls::open(files(dir.path(), &one)).unwrap();
        let first = tls.config();
        assert!(!tls.look_again().unwrap(), "nothing changed");
        // Renewed by renaming, as those do who renew certificates; so each file has another number.
        let renew = |name: &str, text: &str| {
            fs::write(dir.path().join("new"), text).unwrap();
            fs::rename(dir.path().join("new"), dir.path().join(name)).unwrap();
        };
        renew("cert.pem", &other.0);
        assert!(tls.look_again().is_err(), "the key is still the old one");
        assert!(!tls.look_again().unwrap(), "which is told once");
        assert!(Arc::ptr_eq(&tls.config(), &first));
        renew("key.pem", &other.1);
        assert!(tls.look_again().unwrap());
        assert!(!Arc::ptr_eq(&tls.config(), &first));
    }
}
