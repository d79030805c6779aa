//! `vernal plan`

use clap::Args;
use serde_json::Value;
use vernal_model::Span;

use super::Context;
use super::printed_list::{Question, cell, time, value_of};
use crate::config::Flags;
use crate::error::Result;
use crate::output::{Column, Sink, Table};

#[derive(Args)]
pub struct Arguments {
    /// How far ahead [default: 1d]
    #[arg(long = "for", value_name = "SPAN")]
    ahead: Option<String>,
    /// A budget to plan with; may be repeated [default: the one in force]
    #[arg(long = "budget", value_name = "BUDGET")]
    budgets: Vec<String>,
    /// The policy to plan with [default: that of the crawl]
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// List at most N visits; the totals count all of them
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Arguments {
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        if let Some(policy) = &self.policy {
            flags.push("policy", policy.clone());
        }
        flags
    }
}

const FORECASTS: [Column; 7] = [
    Column::left("budget"),
    Column::right("visits"),
    Column::right("pages"),
    Column::right("fresh now"),
    Column::right("at the end"),
    Column::right("in the mean"),
    Column::left("promises"),
];

const VISITS: [Column; 3] = [Column::left("visit"), Column::left("last visit"), Column::address("url")];

/// The usual step of a plan, which is not mentioned.
const HOUR_S: f64 = 3_600.0;

pub async fn plan(context: &Context, arguments: &Arguments) -> Result<()> {
    let budgets = (!arguments.budgets.is_empty()).then(|| arguments.budgets.join(","));
    let question = Question::at("/api/v1/plan")
        .with("for", arguments.ahead.as_ref())
        .with("budget", budgets)
        .with("limit", arguments.limit);
    let Some(plan) = value_of(context, question).await? else { return Ok(()) };
    let mut sink = Sink::stdout();
    let mut table = Table::new(&FORECASTS);
    for forecast in plan["forecasts"].as_array().into_iter().flatten() {
        table.row(&mut sink, forecast_row(forecast))?;
    }
    table.end(&mut sink)?;
    if let Some(slot) = plan["forecasts"][0]["slot_s"].as_f64().filter(|&slot| slot != HOUR_S) {
        let slot = Span::from_secs_f64(slot);
        tracing::info!("planned in steps of {slot}: no page is visited twice in one");
    }
    sink.line("")?;
    let mut table = Table::new(&VISITS);
    for visit in plan["visits"].as_array().into_iter().flatten() {
        let cells = vec![time(context, visit, "at"), time(context, visit, "last_visit"), cell(visit, "url")];
        table.row(&mut sink, cells)?;
    }
    match (plan["visits"].as_array().map_or(0, Vec::len) as u64, &plan["forecasts"][0]) {
        (_, first) if first["visits"] == 0 => tracing::info!("nothing would be visited"),
        (listed, first) if first["visits"].as_u64().is_some_and(|visits| visits > listed) => {
            tracing::info!("{listed} of {} visits are listed", first["visits"]);
        }
        _ => {}
    }
    table.end(&mut sink)
}

fn forecast_row(forecast: &Value) -> Vec<String> {
    let share = |name: &str| forecast[name].as_f64().map_or("-".into(), |share| format!("{:.1} %", share * 100.0));
    let overdue = Span::from_secs_f64(forecast["longest_overdue_s"].as_f64().unwrap_or(0.0));
    let promises = match (forecast["promises"].as_u64().unwrap_or(0), forecast["promises_broken"].as_u64().unwrap_or(0))
    {
        (0, _) => "-".to_owned(),
        (promises, 0) => format!("{promises} kept"),
        (promises, broken) => format!("{promises}, broken {broken} times, by up to {overdue}"),
    };
    let [budget, visits, pages] = ["budget", "visits", "pages_visited"].map(|name| cell(forecast, name));
    let [now, end, mean] = ["freshness_now", "freshness_end", "freshness_mean"].map(share);
    vec![budget, visits, pages, now, end, mean, promises]
}
