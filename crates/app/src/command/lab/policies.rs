//! `vernal lab policies`

use clap::Args;
use vernal_policy::NAMES;
use vernal_policy::parameters::{Parameter, PolicySpec};

use crate::command::Context;
use crate::error::{OrFail, Result};
use crate::output::{Column, Sink, Table};
use crate::runtime::parts;

#[derive(Args)]
#[command(
    after_help = "A parameter is given with the policy's name, as in --policy hybrid:v=4,p=5%, with --parameters hybrid:v=4, \
                  or as v = 4 in the table [policy.hybrid] of vernal.toml. The papers are 000 Al-Qaaideh, 001 Taleghani, \
                  003 Yadav and others, 004 Sharma and Dixit."
)]
pub struct Arguments {
    /// Only these policies; with parameters, what they would be [default: all]
    #[arg(value_name = "POLICY")]
    policies: Vec<String>,
}

const COLUMNS: [Column; 7] = [
    Column::left("policy"),
    Column::left("parameter"),
    Column::left("value"),
    Column::left("range"),
    Column::left("default"),
    Column::left("in the paper"),
    Column::left("meaning"),
];

pub fn policies(context: &Context, arguments: &Arguments) -> Result<()> {
    let names: Vec<String> = match arguments.policies.is_empty() {
        true => NAMES.iter().map(|&name| name.to_owned()).collect(),
        false => arguments.policies.clone(),
    };
    let mut sink = Sink::stdout();
    let mut table = Table::new(&COLUMNS);
    for name in names {
        let spec = PolicySpec::parse(&parts::with_parameters(context, &name)?).or_usage()?;
        let is_bare = spec.in_force().next().is_none();
        if context.json {
            let parameters: Vec<serde_json::Value> =
                spec.in_force().map(|(one, value, is_given)| json(one, &value, is_given)).collect();
            sink.line(&serde_json::json!({"policy": spec.name(), "parameters": parameters}).to_string())?;
        } else if is_bare {
            table.row(&mut sink, row(&spec, ["-", "", "", "", "", ""].map(str::to_owned)))?;
        }
        for (one, value, _) in spec.in_force().filter(|_| !context.json) {
            let in_paper = format!("{} ({})", one.in_paper.unwrap_or("none"), one.paper);
            let cells = [sign(one), value, one.range(), one.default_text(), in_paper, one.help.to_owned()];
            table.row(&mut sink, row(&spec, cells))?;
        }
    }
    if context.json { sink.flush() } else { table.end(&mut sink) }
}

fn row(spec: &PolicySpec, cells: [String; 6]) -> Vec<String> {
    std::iter::once(spec.name().to_owned()).chain(cells).collect()
}

/// The name, and the paper's sign where that is another.
fn sign(parameter: &Parameter) -> String {
    let Parameter { name, sign, .. } = parameter;
    if name == sign { (*name).to_owned() } else { format!("{name} ({sign})") }
}

fn json(parameter: &Parameter, value: &str, is_given: bool) -> serde_json::Value {
    serde_json::json!({
        "name": parameter.name, "sign": parameter.sign, "value": value, "given": is_given,
        "default": parameter.default_text(), "in_paper": parameter.in_paper, "paper": parameter.paper,
        "least": parameter.unit.text(parameter.least), "most": parameter.unit.text(parameter.most),
        "help": parameter.help,
    })
}
