//! One try of one delivery.

use vernal_model::Moment;

use super::network::{Network, SendError};
use super::{command, mail, webhook};
use crate::outbox::{ANSWER_BYTES_MAX, Delivery};
use crate::route::{Route, RouteKind};

/// What came of one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub taken: bool,
    pub status: Option<u16>,
    pub answer: String,
    /// The receiver wants nothing more.
    pub gone: bool,
}

/// Tries once. What goes wrong is part of the outcome.
pub async fn send(
    route: &Route,
    delivery: &Delivery,
    network: &dyn Network,
    links: Option<&str>,
    now: Moment,
) -> Outcome {
    let tried = match &route.to {
        RouteKind::Webhook(hook) => webhook::post(hook, route, delivery, (network, links), now).await,
        RouteKind::Mail(mail) => mail::send(mail, route, delivery, (network, links), now).await,
        RouteKind::Command(program) => command::run(program, delivery, links).await,
        // It is in the feed since it was made.
        RouteKind::Atom => {
            Ok(Outcome { taken: true, status: None, answer: "in the feed of the watch".into(), gone: false })
        }
    };
    let mut outcome =
        tried.unwrap_or_else(|error| Outcome { taken: false, status: None, answer: error.0, gone: false });
    outcome.answer.truncate(outcome.answer.floor_char_boundary(ANSWER_BYTES_MAX.min(outcome.answer.len())));
    outcome
}

/// What would be sent, as text.
pub fn written(route: &Route, delivery: &Delivery, links: Option<&str>) -> Result<String, SendError> {
    Ok(match &route.to {
        RouteKind::Webhook(hook) => webhook::body(hook, route, delivery, links)?.1,
        RouteKind::Mail(_) | RouteKind::Atom => {
            let template =
                route.template.as_deref().map(crate::template::Template::parse).transpose().map_err(SendError)?;
            let mail = crate::template::mail(delivery, template.as_ref(), links);
            format!("Subject: {}\n\n{}", mail.subject, mail.text)
        }
        RouteKind::Command(_) => crate::template::json(delivery, links),
    })
}

/// What is kept of the bytes of an answer.
pub(super) fn answer_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(ANSWER_BYTES_MAX)]);
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect::<String>().trim().to_owned()
}
