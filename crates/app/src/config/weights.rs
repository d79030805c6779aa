//! What people say of the importance of pages: `pattern:REGEX weight=3`, `file:weights.csv`, or a table of the file.
//!
//! ```toml
//! [[weights]]
//! pattern = "/news/"          # or: file = "weights.csv"
//! weight = 3
//! ```
//!
//! A file of weights has a URL and a weight on each line, separated by a comma. All that speak of a URL multiply.

use std::collections::HashMap;
use std::path::Path;

use vernal_crawler::Weights;
use vernal_model::{Fingerprint, nearest};

const KEYS: [&str; 3] = ["pattern", "weight", "file"];

/// The text that a table of the file means.
pub fn text_of(table: &toml::Table) -> Result<String, String> {
    if let Some(stranger) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let meant = nearest(stranger, KEYS).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("unknown key `{stranger}` of a weight{meant}"));
    }
    let text = |key: &str| table.get(key).and_then(toml::Value::as_str);
    match (text("pattern"), table.get("weight"), text("file")) {
        (Some(pattern), Some(weight), None) => Ok(format!("pattern:{pattern} weight={weight}")),
        (None, None, Some(file)) => Ok(format!("file:{file}")),
        _ => Err("a weight has a pattern and a weight, or names a file".into()),
    }
}

/// All that was given, as one.
pub fn parse(texts: &[String]) -> Result<Weights, String> {
    let mut weights = Weights::default();
    for text in texts {
        match text.trim().split_once(':') {
            Some(("file", path)) => read(Path::new(path), &mut weights.urls)?,
            Some(("pattern", rest)) => {
                let (pattern, weight) = rest
                    .rsplit_once(" weight=")
                    .ok_or_else(|| format!("`{text}` has no weight: end it with weight=NUMBER"))?;
                let pattern = vernal_frontier::pattern(pattern.trim_end()).map_err(|error| error.to_string())?;
                weights.patterns.push((pattern, number(weight)?));
            }
            _ => {
                return Err(format!(
                    "`{text}` does not say of what: begin with pattern:REGEX (and end with weight=NUMBER) or file:PATH"
                ));
            }
        }
    }
    Ok(weights)
}

fn read(path: &Path, urls: &mut HashMap<Fingerprint, f32>) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("read {}: {error}", path.display()))?;
    for (number_of_line, line) in text.lines().enumerate() {
        let line = line.trim();
        let is_head = number_of_line == 0 && line.to_ascii_lowercase().replace(' ', "") == "url,weight";
        if line.is_empty() || line.starts_with('#') || is_head {
            continue;
        }
        let at = |what: String| format!("{} line {}: {what}", path.display(), number_of_line + 1);
        let (url, weight) = line.rsplit_once(',').ok_or_else(|| at("give a URL, a comma and a weight".into()))?;
        let url = crate::seeds::url(url.trim().trim_matches('"')).map_err(|error| at(error.to_string()))?;
        urls.insert(url.fingerprint(), number(weight).map_err(at)?);
    }
    Ok(())
}

fn number(text: &str) -> Result<f32, String> {
    let weight: Option<f32> = text.trim().parse().ok();
    let weight = weight.filter(|weight| weight.is_finite() && *weight >= 0.0);
    weight.ok_or_else(|| format!("`{}` is no weight: give a number from 0", text.trim()))
}

#[cfg(test)]
mod tests {
    use vernal_model::Url;

    use super::*;

    #[test]
    fn patterns_tables_and_files_mean_weights() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("weights.csv");
        std::fs::write(&path, "url,weight\nhttp://a.example/x,4\n# nothing\n\"http://a.example/b,c\", 0.5\n").unwrap();
        let table: toml::Table = "pattern = '/a b/'\nweight = 2".parse().unwrap();
        let texts = [text_of(&table).unwrap(), format!("file:{}", path.display())];
        assert_eq!(texts[0], "pattern:/a b/ weight=2");
        let weights = parse(&texts).unwrap();
        let of = |text: &str| weights.weight_of(&Url::parse(text).unwrap());
        assert_eq!(of("http://a.example/x"), 4.0);
        assert_eq!(of("http://a.example/b,c"), 0.5);
        assert_eq!(of("http://a.example/other"), 1.0);
        assert_eq!(weights.patterns[0].0.as_str(), "/a b/");
    }

    #[test]
    fn what_is_no_weight_is_refused_with_what_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("weights.csv");
        std::fs::write(&path, "http://a.example/x,4\nhttp://a.example/y,much\n").unwrap();
        for (text, told) in [
            ("pattern:/news/".to_owned(), "weight=NUMBER"),
            ("pattern:( weight=2".to_owned(), "("),
            ("/news/ weight=2".to_owned(), "begin with"),
            ("pattern:/news/ weight=-1".to_owned(), "is no weight"),
            ("file:/nowhere/at/all.csv".to_owned(), "read /nowhere"),
            (format!("file:{}", path.display()), "line 2"),
        ] {
            assert!(parse(std::slice::from_ref(&text)).unwrap_err().contains(told), "{text}");
        }
        let table: toml::Table = "pattern = 'a'\nwieght = 1".parse().unwrap();
        assert!(text_of(&table).unwrap_err().contains("did you mean `weight`?"));
    }
}
