//! Signatures of the Standard Webhooks form: HMAC-SHA-256 over id, time and body, so that its libraries verify them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// One signature.
pub fn signature(key: &[u8], id: &str, seconds: i64, body: &[u8]) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(format!("{id}.{seconds}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    /// The published example of the Standard Webhooks libraries.
    #[test]
    fn the_published_example_has_its_published_signature() {
        let secret = Secret::try_from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()).unwrap();
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
        let signed = signature(&secret.key().unwrap(), id, 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn another_key_time_id_or_body_has_another_signature() {
        let base = signature(b"key", "a", 1, b"x");
        for other in [
            signature(b"kez", "a", 1, b"x"),
            signature(b"key", "b", 1, b"x"),
            signature(b"key", "a", 2, b"x"),
            signature(b"key", "a", 1, b"y"),
        ] {
            assert_ne!(base, other);
        }
    }
}
