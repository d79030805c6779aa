//! Where alerts go. Nothing secret is shown, but for a new secret, once.

use askama::Template;
use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};

use super::watches::Tabs;
use crate::answers::{AlertRoute, Status};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::problem::Told;
use crate::question::{Question, segment};
use crate::reader::Reader;
use crate::screen::page::{drawn, leads_to, unknown_act};

#[derive(Template)]
#[template(path = "alert_routes.html")]
struct Routes {
    frame: Frame,
    tabs: Tabs,
    rows: Vec<Row>,
    /// What was just done, and a new secret.
    done: Option<(&'static str, String)>,
    secret: Option<String>,
}

struct Row {
    name: String,
    target: String,
    link: String,
    state: (&'static str, String),
    is_off: bool,
    is_webhook: bool,
    from: Option<String>,
}

pub async fn list(reader: Reader) -> Told<Response> {
    screen(&reader, None, None).await
}

async fn screen(reader: &Reader, done: Option<(&'static str, String)>, secret: Option<String>) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let routes = reader.list::<AlertRoute>(Question::of("routes")).await?.rows;
    drawn(&Routes {
        frame: Frame { address: "/routes".into(), ..Frame::of(reader, "Routes", Place::Watches, &status) },
        tabs: Tabs::of(&status, "routes"),
        rows: routes.into_iter().map(row).collect(),
        done,
        secret,
    })
}

fn row(route: AlertRoute) -> Row {
    let mut target = vec![route.target.clone()];
    target.extend(route.signed.then(|| "signed with HMAC-SHA-256".into()));
    target.extend(route.time_zone.clone());
    target.extend(route.quiet.as_ref().map(|quiet| format!("quiet {quiet}")));
    Row {
        link: format!("/deliveries?route={}", segment(&route.name)),
        target: target.join(", "),
        state: match (&route.disabled, route.failures, route.waiting) {
            (Some(why), ..) => ("bad", format!("off: {why}")),
            (None, 0, 0) => ("", "well".into()),
            (None, 0, waiting) => ("warn", format!("{waiting} wait")),
            (None, failures, waiting) => ("warn", format!("failed {failures} times, {waiting} wait")),
        },
        is_off: route.disabled.is_some(),
        is_webhook: route.kind == "webhook",
        name: route.name,
        from: route.from,
    }
}

/// Test, enable, rotate, remove and add. The screen comes at once, because a new secret is told in this answer alone.
pub async fn act(reader: Reader, fields: Fields) -> Told<Response> {
    let name = fields.one("name").to_owned();
    let own = format!("routes/{}", segment(&name));
    let post = |deed: &str| reader.send(Method::POST, Question::of(&format!("{own}/{deed}")), None);
    match fields.one("act") {
        "test" => {
            let told = post("test").await?;
            let taken = told["taken"].as_bool().unwrap_or(false);
            let answer = told["answer"].as_str().unwrap_or_default();
            let status = told["status"].as_u64().map_or_else(String::new, |status| format!(" ({status})"));
            let class = if taken { "calm" } else { "bad" };
            let words = if taken { "took the test" } else { "did not take the test" };
            screen(&reader, Some((class, format!("{name} {words}{status}. {answer}"))), None).await
        }
        "enable" => {
            post("enable").await?;
            Ok(leads_to("/routes"))
        }
        "rotate" => made(&reader, &name, &post("rotate").await?).await,
        "remove" => {
            reader.send(Method::DELETE, Question::of(&own), None).await?;
            Ok(leads_to("/routes"))
        }
        "add" => {
            let told = reader.send(Method::POST, Question::of("routes"), Some(&route(&fields))).await?;
            made(&reader, &name, &told).await
        }
        other => Err(unknown_act(other)),
    }
}

async fn made(reader: &Reader, name: &str, told: &Value) -> Told<Response> {
    let secret = told["secret"].as_str().map(str::to_owned);
    screen(reader, Some(("calm", format!("{name} is ready."))), secret).await
}

/// The route that a form describes.
fn route(fields: &Fields) -> Value {
    let to = match fields.one("kind") {
        "mail" => {
            let mut mail = json!({
                "server": fields.one("server"),
                "from": fields.one("from"),
                "to": fields.listed("to"),
                "plain": fields.some("plain").is_some(),
            });
            for name in ["user", "password"] {
                if let Some(value) = fields.some(name) {
                    mail[name] = value.into();
                }
            }
            json!({ "mail": mail })
        }
        _ => json!({ "webhook": { "url": fields.one("url"), "body": fields.some("body").unwrap_or("json") } }),
    };
    json!({ "name": fields.one("name"), "to": to, "time_zone": fields.some("time_zone") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_a_route() {
        let read = |text: &str| route(&Fields::read(text.as_bytes()));
        assert_eq!(
            read("name=desk&kind=webhook&url=https%3A%2F%2Fa.example%2F&body=chat"),
            json!({"name": "desk", "to": {"webhook": {"url": "https://a.example/", "body": "chat"}}, "time_zone": null})
        );
        assert_eq!(
            read("name=post&kind=mail&server=smtps://m.example&from=a@b.example&to=c@d.example,+e@f.example&password="),
            json!({"name": "post", "time_zone": null, "to": {"mail": {
                "server": "smtps://m.example", "from": "a@b.example", "to": ["c@d.example", "e@f.example"], "plain": false
            }}})
        );
    }
}
