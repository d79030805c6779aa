//! Templates without logic: `{{field}}`, `{{#field}}…{{/field}}` and `{{^field}}…{{/field}}`, and nothing else: no code, no
//! files, no partials, no change of the delimiters. A dot leads into a field: `{{excerpt.before}}`.

use serde_json::Value;

use super::fields::NAMES;

pub const TEMPLATE_BYTES_MAX: usize = 16 << 10;
/// What a template may write.
pub const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Sections within sections.
const DEPTH_MAX: usize = 8;
/// Pieces that one template writes; sections over long lists end here.
const STEPS_MAX: usize = 200_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Field(Vec<String>),
    Section { field: Vec<String>, inverted: bool, pieces: Vec<Piece> },
}

/// How the values of fields are written, so that they cannot end what they stand in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Escape {
    None,
    Html,
    /// As the inside of a JSON string.
    Json,
}

impl Template {
    pub fn parse(text: &str) -> Result<Template, String> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(format!("a template has at most {TEMPLATE_BYTES_MAX} bytes"));
        }
        let mut open: Vec<(Vec<String>, bool, Vec<Piece>)> = Vec::new();
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let line = text[..text.len() - behind.len()].matches('\n').count() + 1;
            let wrong = |what: String| format!("line {line} of the template: {what}");
            push_text(&mut pieces, before);
            let (tag, behind) = behind.split_once("}}").ok_or_else(|| wrong("a tag has no end `}}`".into()))?;
            rest = behind;
            match tag.chars().next() {
                Some(sign @ ('#' | '^')) => {
                    if open.len() >= DEPTH_MAX {
                        return Err(wrong(format!("more than {DEPTH_MAX} sections within each other")));
                    }
                    open.push((name(&tag[1..]).map_err(wrong)?, sign == '^', std::mem::take(&mut pieces)));
                }
                Some('/') => {
                    let closed = name(&tag[1..]).map_err(wrong)?;
                    let (field, inverted, outer) =
                        open.pop().ok_or_else(|| wrong(format!("`{}` closes nothing", closed.join("."))))?;
                    if field != closed {
                        return Err(wrong(format!("`{}` is closed by `{}`", field.join("."), closed.join("."))));
                    }
                    let inner = std::mem::replace(&mut pieces, outer);
                    pieces.push(Piece::Section { field, inverted, pieces: inner });
                }
                _ => pieces.push(Piece::Field(name(tag).map_err(wrong)?)),
            }
        }
        push_text(&mut pieces, rest);
        match open.pop() {
            Some((field, ..)) => Err(format!("the section `{}` of the template has no end", field.join("."))),
            None => Ok(Template { pieces }),
        }
    }

    /// Writes the template with these fields. What is longer than the limit is cut.
    pub fn write(&self, fields: &Value, escape: Escape) -> String {
        let mut writing = Writing { out: String::new(), steps: 0, escape };
        writing.pieces(&self.pieces, &mut vec![fields]);
        writing.out.truncate(writing.out.floor_char_boundary(OUTPUT_BYTES_MAX.min(writing.out.len())));
        writing.out
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
}

fn name(tag: &str) -> Result<Vec<String>, String> {
    let parts: Vec<String> = tag.trim().split('.').map(str::to_owned).collect();
    match parts.iter().find(|part| !NAMES.contains(&part.as_str())) {
        None => Ok(parts),
        Some(part) => {
            let shown: String = part.chars().take(40).collect();
            Err(format!("there is no field `{}`; there are {}", shown.escape_debug(), NAMES.join(", ")))
        }
    }
}

struct Writing {
    out: String,
    steps: usize,
    escape: Escape,
}

impl Writing {
    fn pieces(&mut self, pieces: &[Piece], within: &mut Vec<&Value>) {
        for piece in pieces {
            self.steps += 1;
            if self.steps > STEPS_MAX || self.out.len() > OUTPUT_BYTES_MAX {
                return;
            }
            match piece {
                Piece::Text(text) => self.out.push_str(text),
                Piece::Field(field) => {
                    let text = looked_up(field, within).map(shown).unwrap_or_default();
                    self.out.push_str(&escaped(&text, self.escape));
                }
                Piece::Section { field, inverted, pieces } => {
                    let value = looked_up(field, within).filter(|value| is_something(value));
                    match (value, inverted) {
                        (None, true) => self.pieces(pieces, within),
                        (Some(Value::Array(items)), false) => {
                            for item in items {
                                within.push(item);
                                self.pieces(pieces, within);
                                within.pop();
                            }
                        }
                        (Some(value), false) => {
                            within.push(value);
                            self.pieces(pieces, within);
                            within.pop();
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

/// The first part is looked for from the inside out, the others in what was found.
fn looked_up<'v>(field: &[String], within: &[&'v Value]) -> Option<&'v Value> {
    let (first, rest) = field.split_first()?;
    let found = within.iter().rev().find_map(|value| value.as_object()?.get(first))?;
    rest.iter().try_fold(found, |value, part| value.as_object()?.get(part))
}

fn is_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(_) => String::new(),
        other => other.to_string(),
    }
}

fn escaped(text: &str, escape: Escape) -> String {
    match escape {
        Escape::None => text.to_owned(),
        Escape::Html => super::html_escaped(text),
        Escape::Json => {
            let quoted = Value::String(text.to_owned()).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(template: &str, fields: Value) -> String {
        Template::parse(template).unwrap().write(&fields, Escape::None)
    }

    #[test]
    fn the_worked_example_is_written() {
        let template = "Subject: {{title}}: {{excerpt.before}} → {{excerpt.after}}\n{{site_name}} changed.\n\
            {{#paragraphs}}{{op}}: {{before}} → {{after}}\n{{/paragraphs}}{{^gone}}still there{{/gone}}";
        let fields = json!({ "title": "Prices", "excerpt": { "before": "9", "after": "12" }, "site_name": "A",
            "paragraphs": [{ "op": "edited", "before": "9", "after": "12" }, { "op": "added", "before": null, "after": "x" }],
            "gone": false });
        let wanted = "Subject: Prices: 9 → 12\nA changed.\nedited: 9 → 12\nadded:  → x\nstill there";
        assert_eq!(written(template, fields), wanted);
    }

    #[test]
    fn what_a_site_wrote_is_never_read_as_a_template_and_cannot_end_what_it_stands_in() {
        let fields = json!({ "title": "{{url}} <b>\"\n\\", "url": "u" });
        assert_eq!(written("{{title}}", fields.clone()), "{{url}} <b>\"\n\\");
        let template = Template::parse("{\"text\":\"{{title}}\"}").unwrap();
        let body: Value = serde_json::from_str(&template.write(&fields, Escape::Json)).unwrap();
        assert_eq!(body["text"], fields["title"]);
        assert_eq!(
            Template::parse("<p>{{title}}").unwrap().write(&fields, Escape::Html),
            "<p>{{url}} &lt;b&gt;&quot;\n\\"
        );
    }

    #[test]
    fn a_wrong_template_is_refused_with_its_line() {
        for (wrong, line) in [
            ("a\n{{titel}}", "line 2"),
            ("{{title", "line 1"),
            ("{{#title}}", "no end"),
            ("{{/title}}", "closes nothing"),
            ("{{#title}}{{/url}}", "closed by"),
            ("{{> title}}", "no field"),
            ("{{=<% %>=}}", "no field"),
            ("{{{title}}}", "no field"),
            ("{{&title}}", "no field"),
        ] {
            let told = Template::parse(wrong).unwrap_err();
            assert!(told.contains(line) && !told.contains('\n'), "{wrong}: {told}");
        }
        assert!(Template::parse(&"{{#title}}".repeat(9)).is_err());
        assert!(Template::parse(&"x".repeat(TEMPLATE_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn what_a_template_writes_is_bounded() {
        let many: Vec<Value> = (0..3_000).map(|_| json!({ "before": "xxxxxxxxxx" })).collect();
        let template =
            "{{#paragraphs}}{{#paragraphs}}{{#paragraphs}}{{before}}{{/paragraphs}}{{/paragraphs}}{{/paragraphs}}";
        assert_eq!(written(template, json!({ "paragraphs": many })).len(), OUTPUT_BYTES_MAX);
        let empty: Vec<Value> = (0..3_000).map(|_| json!({})).collect();
        assert_eq!(written(template, json!({ "paragraphs": empty })), "", "and so is its time");
    }
}
