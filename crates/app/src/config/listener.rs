//! Settings of the network listener: where it listens, who may ask, by which certificate, and how often.

use std::net::SocketAddr;
use std::path::PathBuf;

use vernal_api::{CorsOrigins, origin};

use super::setting::{Setting, all, many, one, put, put_some};
use super::value::{above_zero, listen};
use crate::runtime::tls::TlsFiles;

/// Who may ask the listener, and how.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Where archived bytes are served; nowhere without it.
    pub archive_listen: Option<SocketAddr>,
    pub token_file: Option<PathBuf>,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub cors: CorsOrigins,
    /// Requests a second of one token, or of one address without one.
    pub rate: f64,
}

impl Access {
    /// Both files of TLS, or neither.
    pub fn tls(&self) -> Result<Option<TlsFiles>, String> {
        match (&self.tls_cert, &self.tls_key) {
            (None, None) => Ok(None),
            (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert: cert.clone(), key: key.clone() })),
            (Some(_), None) => Err("tls-cert needs tls-key, the private key of the certificate".into()),
            (None, Some(_)) => Err("tls-key needs tls-cert, the certificate chain of the key".into()),
        }
    }
}

pub(super) const LISTEN: Setting =
    one("listen", "ADDRESS", "127.0.0.1:8376", "The address where the API and the dashboard are served", |to, text| {
        put(&mut to.listen, listen(text))
    });

pub(super) const ARCHIVE_LISTEN: Setting = one(
    "archive-listen",
    "ADDRESS",
    "",
    "The address where archived pages are shown, an origin of their own (default: nowhere; 127.0.0.1:8377)",
    |to, text| put_some(&mut to.access.archive_listen, listen(text)),
);

pub(super) const TOKEN_FILE: Setting = one(
    "token-file",
    "FILE",
    "",
    "A file whose first line is a token for everything; beyond loopback this or a token of `vernal token add` is needed",
    |to, text| put(&mut to.access.token_file, Ok(Some(PathBuf::from(text)))),
);

pub(super) const TLS_CERT: Setting =
    one("tls-cert", "FILE", "", "The certificate chain (PEM) by which the API is served over TLS", |to, text| {
        put_some(&mut to.access.tls_cert, Ok(PathBuf::from(text)))
    });

pub(super) const TLS_KEY: Setting = one(
    "tls-key",
    "FILE",
    "",
    "The private key (PEM) of the certificate; both files may be renewed meanwhile",
    |to, text| put_some(&mut to.access.tls_key, Ok(PathBuf::from(text))),
);

pub(super) const CORS_ORIGIN: Setting = many(
    "cors-origin",
    "ORIGIN",
    "",
    "An origin such as https://board.example whose pages may ask the API; may be repeated",
    |to, texts| put(&mut to.access.cors, all(texts, origin).map(CorsOrigins)),
);

pub(super) const API_RATE: Setting = one(
    "api-rate",
    "N",
    "200",
    "Requests a second to the API by one token, or by one address without a token",
    |to, text| put(&mut to.access.rate, above_zero(text)),
);
