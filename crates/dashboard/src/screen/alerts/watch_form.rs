//! A watch as a form says it: to the API, back into the form, and as a command.

use serde_json::{Map, Value, json};

use crate::answers::Watch;
use crate::fields::Fields;

/// What can be watched.
pub const OVERS: [(&str, &str); 5] = [
    ("url", "the page"),
    ("prefix", "pages whose URL begins with"),
    ("site", "the site"),
    ("tag", "what has the tag"),
    ("search", "pages that are found by"),
];
/// When a digest is sent where nobody says it.
const DIGEST_HOUR: &str = "07:00";

/// The watch that a form describes, as the API takes it.
pub fn watch(fields: &Fields) -> Value {
    let over = fields.some("over").filter(|over| OVERS.iter().any(|(name, _)| name == over)).unwrap_or("site");
    let mut when = Map::new();
    for name in ["events", "kinds", "roles"] {
        let given: Vec<&str> = fields.all(name).collect();
        when.insert(name.into(), given.into());
    }
    when.insert("words".into(), fields.listed("words").iter().map(|word| word.trim_matches('"')).collect());
    when.insert("in".into(), fields.some("in").unwrap_or("either").into());
    when.insert("not_flapping".into(), fields.some("not_flapping").is_some().into());
    for name in ["min", "regex", "language"] {
        if let Some(value) = fields.some(name) {
            when.insert(name.into(), value.into());
        }
    }
    if let Some(number) = number(fields) {
        when.insert("number".into(), number);
    }
    let mut watch = json!({
        "name": fields.one("name"),
        "owner": fields.one("owner"),
        "over": { over: fields.one("what") },
        "when": when,
        "to": fields.all("to").map(|route| to(fields, route)).collect::<Vec<Value>>(),
        "also": { "region_lost": true },
    });
    if let Some(span) = fields.some("silent_for") {
        watch["also"]["silent_for"] = span.into();
    }
    watch
}

fn number(fields: &Fields) -> Option<Value> {
    let mut number = Map::new();
    for name in ["above", "below"] {
        let given = fields.some(name);
        // What is no number is left to the API to refuse.
        if let Some(text) = given {
            number.insert(name.into(), text.parse::<f64>().map_or_else(|_| text.into(), Value::from));
        }
    }
    if let Some(by) = fields.some("moves_by") {
        number.insert("moves_by".into(), by.into());
    }
    (!number.is_empty()).then_some(Value::Object(number))
}

fn how(fields: &Fields) -> String {
    let at = fields.some("at").unwrap_or(DIGEST_HOUR);
    match fields.one("how") {
        "hourly" => "hourly".into(),
        "daily" => format!("daily {at}"),
        "weekly" => format!("weekly mon {at}"),
        _ => "at-once".into(),
    }
}

fn to(fields: &Fields, route: &str) -> Value {
    let mut to = json!({ "route": route, "how": how(fields) });
    if let Some(most) = fields.some("at_most") {
        let most = most.trim_end_matches("/day").trim();
        to["at_most"] = format!("{most}/day").into();
    }
    to
}

/// A watch as the form would say it.
pub fn written(watch: &Watch) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let (over, what) = watch.over.named();
    query.append_pair("over", over).append_pair("what", what);
    query.append_pair("name", &watch.name).append_pair("owner", &watch.owner);
    let when = &watch.when;
    for (name, values) in [("events", &when.events), ("kinds", &when.kinds), ("roles", &when.roles)] {
        for value in values {
            query.append_pair(name, value);
        }
    }
    query.append_pair("words", &when.words.join(", ")).append_pair("in", &when.r#in);
    for (name, value) in [("min", &when.min), ("regex", &when.regex), ("language", &when.language)] {
        query.append_pair(name, value.as_deref().unwrap_or_default());
    }
    if when.not_flapping {
        query.append_pair("not_flapping", "on");
    }
    if let Some(number) = &when.number {
        let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        query.append_pair("above", &text(number.above)).append_pair("below", &text(number.below));
        query.append_pair("moves_by", number.moves_by.as_deref().unwrap_or_default());
    }
    for to in &watch.to {
        query.append_pair("to", &to.route);
    }
    if let Some(to) = watch.to.first() {
        let (how, at) = to.how.split_once(' ').unwrap_or((&to.how, ""));
        query.append_pair("how", how).append_pair("at", at.trim_start_matches("mon").trim());
        query.append_pair("at_most", to.at_most.as_deref().unwrap_or_default().trim_end_matches("/day"));
    }
    query.append_pair("silent_for", watch.also.silent_for.as_deref().unwrap_or_default());
    query.finish()
}

/// What the form says, over what it does not ask.
pub fn merged(known: &Value, mut watch: Value) -> Value {
    for name in ["enabled", "template", "quiet"] {
        if let Some(value) = known.get(name) {
            watch[name] = value.clone();
        }
    }
    for name in ["not_roles", "magnitude"] {
        watch["when"][name] = known["when"][name].clone();
    }
    if let Some(paragraph) = known["when"]["number"]["paragraph"].as_str()
        && watch["when"]["number"].is_object()
    {
        watch["when"]["number"]["paragraph"] = paragraph.into();
    }
    if !known["also"]["region_lost"].is_null() {
        watch["also"]["region_lost"] = known["also"]["region_lost"].clone();
    }
    // Each route keeps its own time where only others were changed.
    let empty = Vec::new();
    let routes = known["to"].as_array().unwrap_or(&empty);
    if let Some(to) = watch["to"].as_array_mut() {
        for one in to {
            let before = routes.iter().find(|before| before["route"] == one["route"]);
            if let Some(then) = before.map(|before| &before["then"]).filter(|then| !then.is_null()) {
                one["then"] = then.clone();
            }
        }
    }
    watch
}

/// The same as a command.
pub fn command(fields: &Fields) -> String {
    let mut words = vec!["vernal watch add".to_owned()];
    let mut add = |flag: &str, value: &str| words.push(format!("--{flag} {}", quoted(value)));
    if let Some(what) = fields.some("what") {
        add(fields.some("over").unwrap_or("site"), what);
    }
    for kind in fields.all("kinds") {
        add("kind", kind);
    }
    for event in fields.all("events") {
        add("event", event);
    }
    for (flag, name) in
        [("min", "min"), ("regex", "regex"), ("lang", "language"), ("above", "above"), ("below", "below")]
    {
        if let Some(value) = fields.some(name) {
            add(flag, value);
        }
    }
    for word in fields.listed("words") {
        add("word", word.trim_matches('"'));
    }
    if let Some(side) = fields.some("in").filter(|side| *side != "either") {
        add("in", side);
    }
    for role in fields.all("roles") {
        add("role", role);
    }
    for route in fields.all("to") {
        let how = how(fields);
        add("to", &if how == "at-once" { route.to_owned() } else { format!("{route}={how}") });
    }
    if let Some(most) = fields.some("at_most") {
        add("at-most", &format!("{}/day", most.trim_end_matches("/day")));
    }
    if fields.some("not_flapping").is_some() {
        words.push("--not-flapping".into());
    }
    words.extend(fields.some("name").map(quoted));
    words.join(" ")
}

/// One word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=*%+@".contains(letter);
    match !text.is_empty() && text.chars().all(|letter| is_plain(letter) && letter != '*') {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &[u8] =
        b"over=tag&what=policy&kinds=content&min=moderate&words=Regierung%2C+%22a+b%22&in=either&roles=heading\
        &roles=table-row&to=press-desk&how=daily&at=08%3A00&at_most=20&not_flapping=on&silent_for=7d&name=O%27Neill";

    #[test]
    fn a_form_becomes_a_watch_and_a_command() {
        let fields = Fields::read(FORM);
        let made = watch(&fields);
        assert_eq!(made["over"], json!({ "tag": "policy" }));
        assert_eq!(made["when"]["words"], json!(["Regierung", "a b"]));
        assert_eq!(made["to"], json!([{ "route": "press-desk", "how": "daily 08:00", "at_most": "20/day" }]));
        assert_eq!(
            command(&fields),
            "vernal watch add --tag policy --kind content --min moderate --word Regierung --word 'a b' --role heading \
             --role table-row --to 'press-desk=daily 08:00' --at-most 20/day --not-flapping 'O'\\''Neill'"
        );
    }

    #[test]
    fn a_watch_that_is_read_and_written_again_stays_the_same() {
        let made = watch(&Fields::read(FORM));
        let read: Watch = serde_json::from_value(made.clone()).unwrap();
        assert_eq!(watch(&Fields::read(written(&read).as_bytes())), made);
    }

    #[test]
    fn what_the_form_does_not_ask_is_kept() {
        let known = json!({ "enabled": false, "template": "{{line}}", "when": { "not_roles": ["footer"], "magnitude": 0.2 },
            "also": { "region_lost": false }, "to": [{ "route": "press-desk", "then": "weekly mon 07:00" }] });
        let made = merged(&known, watch(&Fields::read(FORM)));
        assert_eq!((&made["enabled"], &made["template"]), (&json!(false), &json!("{{line}}")));
        assert_eq!((&made["when"]["not_roles"], &made["also"]["region_lost"]), (&json!(["footer"]), &json!(false)));
        assert_eq!(made["to"][0]["then"], "weekly mon 07:00");
    }
}
