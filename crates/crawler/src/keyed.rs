//! Keyed digests: the signatures of hubs, and the secrets that hubs are given.

use sha1::{Digest as _, Sha1};
use vernal_model::Url;

/// The block of SHA-1, to which a key is brought.
const BLOCK_BYTES: usize = 64;

/// HMAC-SHA1 (RFC 2104) in hexadecimal digits.
pub fn keyed_digest(key: &[u8], text: &[u8]) -> String {
    let mut block = [0; BLOCK_BYTES];
    if key.len() > BLOCK_BYTES {
        block[..20].copy_from_slice(&Sha1::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha1::new().chain_update(padded(0x36)).chain_update(text).finalize();
    let outer = Sha1::new().chain_update(padded(0x5c)).chain_update(inner).finalize();
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
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

    #[test]
    fn no_two_feeds_share_a_secret_and_no_secret_is_a_callback_key() {
        let [one, other] = ["http://a.org/one", "http://a.org/other"].map(|text| Url::parse(text).unwrap());
        assert_ne!(hub_secret("s", &one), hub_secret("s", &other));
        assert_ne!(hub_secret("s", &one), hub_secret("t", &one));
        assert_ne!(hub_secret("s", &one), callback_key("s", &one));
    }
}
