//! Keyed digests: the signatures of hubs, and the secrets that hubs are given.

use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use vernal_model::Url;

/// The methods by which a hub may sign what it delivers (WebSub, section 7.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SignatureMethod {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl SignatureMethod {
    /// HMAC (RFC 2104) of this method in hexadecimal digits.
    pub fn keyed_digest(self, key: &[u8], text: &[u8]) -> String {
        match self {
            SignatureMethod::Sha1 => keyed::<Hmac<Sha1>>(key, text),
            SignatureMethod::Sha256 => keyed::<Hmac<Sha256>>(key, text),
            SignatureMethod::Sha384 => keyed::<Hmac<Sha384>>(key, text),
            SignatureMethod::Sha512 => keyed::<Hmac<Sha512>>(key, text),
        }
    }
}

/// A method that is not one of these.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod;

impl FromStr for SignatureMethod {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        match name {
            "sha1" => Ok(SignatureMethod::Sha1),
            "sha256" => Ok(SignatureMethod::Sha256),
            "sha384" => Ok(SignatureMethod::Sha384),
            "sha512" => Ok(SignatureMethod::Sha512),
            _ => Err(UnknownMethod),
        }
    }
}

/// HMAC-SHA1 in hexadecimal digits: of what secrets and keys are made.
pub fn keyed_digest(key: &[u8], text: &[u8]) -> String {
    SignatureMethod::Sha1.keyed_digest(key, text)
}

fn keyed<M: Mac + KeyInit>(key: &[u8], text: &[u8]) -> String {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(text);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The secret that the hub of one feed is given. Each has its own, so that one hub cannot sign what another delivers.
pub fn hub_secret(secret: &str, topic: &Url) -> String {
    keyed_digest(secret.as_bytes(), format!("secret {topic}").as_bytes())
}

/// What makes the callback of one feed hard to guess (WebSub, section 5.1.2): only the hub that was asked can say yes.
pub fn callback_key(secret: &str, topic: &Url) -> String {
    keyed_digest(secret.as_bytes(), format!("callback {topic}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rfc_2202() {
        assert_eq!(keyed_digest(&[0x0b; 20], b"Hi There"), "b617318655057264e28bc0b6fb378c8ef146be00");
        let jefe = keyed_digest(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(jefe, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        let long = keyed_digest(&[0xaa; 80], b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(long, "aa4ae5e15272d00e95705637ce8a3b55ed402112");
    }

    /// By Python's `hmac`, with a key shorter than a block and one longer than any.
    #[test]
    fn every_method_signs_as_others_do() {
        let body = br#"<rss version="2.0"><channel><title>t</title></channel></rss>"#;
        let signed = [
            (
                SignatureMethod::Sha1,
                "663f632f1d0bab1ffd50b0a4e2c7b0ba7f3d2ddb",
                "c0ff6189019eeb309db023bcf7cd18f6fb404907",
            ),
            (
                SignatureMethod::Sha256,
                "d0cfb52782fd95ba4facdd8f7b2ee75dc8b6e171f43d26aa75abe3232e6c6770",
                "a9d4b8864492e0cd2ec75f229da54005ea79a4ea5d08413392f48b07fe250be4",
            ),
            (
                SignatureMethod::Sha384,
                "1959433b7e44fae8596b43fff37a04576443a1f26e82650d0ebf23d3aabdf3b32144f4c18e6b7492d18203af8a5d5254",
                "a7985b89931f2204b3cfe87ca6ab9a3b4cd63b239a47db3694155312ddf3d32691127f079e2854303a6ea9adc7a86d0c",
            ),
            (
                SignatureMethod::Sha512,
                "b406d6f64fafae0dcd9c011f6e7c1103fff2ac5cc4f9576e68ffab69bd7b5c38190d64ac5fde1d911cdf31bafcb5f7488a1604d2fd488b355550bb8759ba4c3f",
                "ccde402e4a1c42527485dc273cb2ca15295bd00ea025d56dfc54bf95f075f1d2bcb5f620eaad1b6c80a977d6f16d4aaf024683da26005865e2e001ce3895eaca",
            ),
        ];
        for (method, by_short, by_long) in signed {
            assert_eq!(method.keyed_digest(b"pssst", body), by_short, "{method:?}");
            assert_eq!(method.keyed_digest(&[b'k'; 200], body), by_long, "{method:?}");
        }
    }

    #[test]
    fn a_method_that_nobody_named_is_none() {
        assert_eq!("sha256".parse(), Ok(SignatureMethod::Sha256));
        for name in ["", "md5", "SHA256", "sha-256", "sha2", "none"] {
            assert_eq!(name.parse::<SignatureMethod>(), Err(UnknownMethod), "{name}");
        }
    }

    #[test]
    fn no_two_feeds_share_a_secret_and_no_secret_is_a_callback_key() {
        let [one, other] = ["http://a.org/one", "http://a.org/other"].map(|text| Url::parse(text).unwrap());
        assert_ne!(hub_secret("s", &one), hub_secret("s", &other));
        assert_ne!(hub_secret("s", &one), hub_secret("t", &one));
        assert_ne!(hub_secret("s", &one), callback_key("s", &one));
    }
}
