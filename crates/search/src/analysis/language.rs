//! The language of a page: as the page names it, else as its words show.

use whatlang::Lang;

/// So much text is looked at to tell a language.
const SAMPLE_BYTES: usize = 2 << 10;
/// Shorter texts show no language.
const SAMPLE_BYTES_MIN: usize = 80;

/// The first part of a BCP 47 tag: two or three letters, or nothing.
pub fn language_of(named: &str, text: &str) -> String {
    let first = named.split(['-', '_']).next().unwrap_or_default();
    if (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return first.to_ascii_lowercase();
    }
    let mut end = text.len().min(SAMPLE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end < SAMPLE_BYTES_MIN {
        return String::new();
    }
    let found = whatlang::detect(&text[..end]).filter(|info| info.is_reliable());
    found.map_or_else(String::new, |info| code(info.lang()).to_owned())
}

/// The code that pages use for a language: two letters where there are.
fn code(language: Lang) -> &'static str {
    let long = language.code();
    SHORT.iter().find(|(three, _)| *three == long).map_or(long, |(_, two)| two)
}

const SHORT: [(&str, &str); 68] = [
    ("afr", "af"),
    ("aka", "ak"),
    ("amh", "am"),
    ("ara", "ar"),
    ("aze", "az"),
    ("bel", "be"),
    ("ben", "bn"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cmn", "zh"),
    ("dan", "da"),
    ("deu", "de"),
    ("ell", "el"),
    ("eng", "en"),
    ("epo", "eo"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("guj", "gu"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("hye", "hy"),
    ("ind", "id"),
    ("ita", "it"),
    ("jav", "jv"),
    ("jpn", "ja"),
    ("kan", "kn"),
    ("kat", "ka"),
    ("khm", "km"),
    ("kor", "ko"),
    ("lat", "la"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("mal", "ml"),
    ("mar", "mr"),
    ("mkd", "mk"),
    ("mya", "my"),
    ("nep", "ne"),
    ("nld", "nl"),
    ("nob", "nb"),
    ("ori", "or"),
    ("pan", "pa"),
    ("pes", "fa"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("sin", "si"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("sna", "sn"),
    ("spa", "es"),
    ("srp", "sr"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tel", "te"),
    ("tgl", "tl"),
    ("tha", "th"),
    ("tuk", "tk"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("urd", "ur"),
    ("uzb", "uz"),
    ("vie", "vi"),
    ("zul", "zu"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_its_language_or_its_words_show_it() {
        assert_eq!(language_of("en-GB", ""), "en");
        assert_eq!(language_of("", "short"), "");
        let german =
            "Die Verwaltung hat gestern beschlossen, dass die Strassen der Stadt im nächsten Jahr erneuert werden.";
        assert_eq!(language_of("x<script>", german), "de");
    }
}
