//! What other budgets would win, and which pages come next. It is reckoned over every held page and takes its time, so it is
//! a screen of its own that others take in as a part.

use askama::Template;
use axum::response::Response;

use super::page::drawn;
use crate::answers::{Forecast, Plan, Status};
use crate::chart::{Budgets, Svg};
use crate::frame::{Frame, Place};
use crate::numbers::{count, counted, percent};
use crate::problem::Told;
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::times::{Time, Times};
use crate::words;

/// Budgets that are compared, as parts of the one in force, which stands at its place among them.
const FACTORS: [f64; 16] =
    [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 4.0];
const NOW: usize = 7;
/// What the screen shows first: twice the budget.
const CHOSEN: usize = 11;
const VISITS_SHOWN: usize = 6;

#[derive(Template)]
#[template(path = "plan.html")]
struct PlanScreen {
    frame: Frame,
    whatif: Option<WhatIf>,
    no_forecast: &'static str,
    next: Vec<Next>,
    queue: String,
}

struct WhatIf {
    budget: String,
    visits: String,
    fresh: String,
    differs: String,
    drawing: Svg,
    last: usize,
    chosen: usize,
    note: String,
}

struct Next {
    at: Time,
    link: String,
    path: String,
    site: String,
    seen: String,
}

pub async fn show(reader: Reader) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let budgets = budgets(&status.budget);
    let asked = Question::of("plan").with("budget", budgets.join(",")).with("limit", VISITS_SHOWN);
    let own = Question::of("plan").with("limit", VISITS_SHOWN);
    // The visits are those of the first budget, which must be the one in force.
    let (all, own) = tokio::join!(reader.one::<Plan>(asked), reader.one::<Plan>(own));
    let (all, own) = (all?, own?);
    let times = Times::new(status.now());
    let next = own.visits.iter().map(|visit| Next {
        at: times.moment(visit.at.as_deref()),
        link: link("/page", &[("url", &visit.url)]),
        path: words::path(&visit.url),
        site: visit.site.clone(),
        seen: times.ago(visit.last_visit.as_deref()),
    });
    drawn(&PlanScreen {
        next: next.collect(),
        whatif: whatif(&all.forecasts),
        no_forecast: "The policy in force has no model of freshness, or no page is held yet, so it cannot say.",
        queue: queue(&status),
        frame: Frame::of(&reader, "The plan", Place::Overview, &status),
    })
}

/// The budget in force and others around it, in its own unit.
fn budgets(text: &str) -> Vec<String> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (amount, unit) = text.split_at(end);
    let Ok(amount) = amount.parse::<f64>() else { return vec![text.to_owned()] };
    let shown = |number: f64| {
        let written = format!("{number:.3}");
        written.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    FACTORS.iter().map(|factor| format!("{}{unit}", shown(amount * factor))).collect()
}

fn whatif(forecasts: &[Forecast]) -> Option<WhatIf> {
    let fresh: Vec<f64> =
        forecasts.iter().map(|one| one.freshness_mean.or(one.freshness_end)).collect::<Option<_>>()?;
    let (now, chosen) = (fresh.get(NOW)?, forecasts.get(CHOSEN)?);
    let gained = (fresh[CHOSEN] - now) * 100.0;
    let per_hundred = |from: usize, to: usize| {
        let visits = forecasts[to].visits as f64 - forecasts[from].visits as f64;
        if visits > 0.0 { (fresh[to] - fresh[from]) / visits * 1e4 } else { 0.0 }
    };
    let drawing = Budgets {
        names: forecasts.iter().map(|one| one.budget.clone()).collect(),
        visits: forecasts.iter().map(|one| one.visits).collect(),
        shares: fresh.clone(),
        now: NOW,
        chosen: CHOSEN,
    };
    Some(WhatIf {
        budget: chosen.budget.clone(),
        visits: count(chosen.visits),
        fresh: percent(fresh[CHOSEN]),
        differs: match gained {
            more if more >= 0.05 => format!("{more:.1} points more than today"),
            less if less <= -0.05 => format!("{:.1} points less than today", -less),
            _ => "the same as today".into(),
        },
        drawing: drawing.svg(),
        last: forecasts.len() - 1,
        chosen: CHOSEN,
        note: format!(
            "At today's budget the next hundred visits a day would win {:.2} points; at the chosen one {:.2}.",
            per_hundred(NOW, NOW + 1),
            per_hundred(CHOSEN, CHOSEN + 1)
        ),
    })
}

fn queue(status: &Status) -> String {
    let Some(crawl) = &status.crawl else {
        return "Nobody crawls; this is what would be visited from the last moment on.".into();
    };
    format!(
        "In the queue: {} for a first visit, {} to try again, {} under way.",
        counted(status.totals.waiting, "URL"),
        counted(crawl.retries_waiting, "page"),
        counted(crawl.in_flight, "request")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_around_the_one_in_force_keep_its_unit() {
        let around = budgets("200%/day");
        assert_eq!((&*around[NOW], &*around[CHOSEN], &*around[0]), ("200%/day", "400%/day", "25%/day"));
        assert_eq!(budgets("5000/day")[1], "1250/day");
        assert_eq!(budgets("none"), ["none"]);
    }
}
