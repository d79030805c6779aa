//! `vernal lab bound`

use std::sync::Arc;

use clap::Args;
use vernal_model::BudgetUnit;
use vernal_simulator::lab::{Bounder, Bounds, ComputedBounds, Options, Source};

use super::trials::{budgets, chances};
use super::worlds::{Invented, Length, Recorded};
use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::output::{Column, Sink, Table};

#[derive(Args)]
pub struct Arguments {
    /// A budget: 5%/day, 500/day; may be repeated [default: 5%/day]
    #[arg(long = "budget", value_name = "BUDGET")]
    budgets: Vec<String>,
    /// The number that invented webs are drawn from; 1..10 are ten of them
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    chance: String,
    #[command(flatten)]
    invented: Invented,
    #[command(flatten)]
    recorded: Recorded,
    #[command(flatten)]
    length: Length,
}

const COLUMNS: [Column; 7] = [
    Column::left("world"),
    Column::left("budget"),
    Column::right("chance"),
    Column::right("optimum"),
    Column::right("in this window"),
    Column::right("change ratio if all is spent"),
    Column::right("clairvoyant"),
];

pub fn bound(context: &Context, arguments: &Arguments) -> Result<()> {
    let (budgets, chances) = (budgets(&arguments.budgets)?, chances(&arguments.chance)?);
    let (recorded, invented) = (arguments.recorded.is_given(), arguments.invented.is_given());
    if recorded && invented {
        return Err(Error::usage(
            "an invented world or a recorded one? Give either --trace or --web, or --worlds, --scenario or --pages",
        ));
    }
    // A folder without a world means the crawl in that folder.
    let is_recorded = recorded || !invented && !context.in_force.is_default("data");
    let sources = if is_recorded {
        vec![Source::Recorded(Arc::new(arguments.recorded.world(context, &arguments.length)?.0))]
    } else {
        arguments.invented.sources(&arguments.length)?
    };
    for budget in budgets.iter().filter(|budget| budget.unit == BudgetUnit::WireBytes) {
        tracing::warn!(
            "{budget} has no bound: bounds are for budgets of visits, such as 500/day or 5%/day, since what a visit costs in bytes \
             is a matter of choice"
        );
    }
    let (mut sink, mut table) = (Sink::stdout(), Table::new(&COLUMNS));
    for source in &sources {
        for &chance in &chances {
            let world = match source {
                Source::Recorded(world) => Arc::clone(world),
                Source::Invented(scenario) => Arc::new(scenario.world(chance).or_fail()?),
            };
            for &budget in &budgets {
                let bounds = ComputedBounds.bounds(&world, &Options { budget, chance, ..Options::default() });
                let Bounds { optimum, window, change_ratio, clairvoyant, .. } = bounds;
                if context.json {
                    let line = serde_json::json!({
                        "world": world.name, "budget": budget.to_string(), "chance": chance, "optimum": optimum,
                        "window": window, "change_ratio": change_ratio, "clairvoyant": clairvoyant,
                    });
                    sink.line(&line.to_string())?;
                    continue;
                }
                let mut cells = vec![world.name.clone(), budget.to_string(), chance.to_string()];
                let shown = |bound: Option<f64>| bound.map_or("-".to_owned(), |bound| format!("{bound:.4}"));
                cells.extend([optimum, window, change_ratio, clairvoyant].map(shown));
                table.row(&mut sink, cells)?;
            }
            if matches!(source, Source::Recorded(_)) {
                break;
            }
        }
    }
    table.end(&mut sink)
}
