//! Chosen methods of change detection on two files: what each found alone, and what it cost.

use serde::Serialize;
use vernal_document::Input;
use vernal_document::methods::{Method, MethodVerdict};
use vernal_model::Url;

use super::bodies::{Body, inputs};
use crate::command::Context;
use crate::error::{OrFail, Result};
use crate::output::{Sink, bytes_shown, method_lines};
use crate::runtime::clock::cpu_seconds;

/// What may be asked for.
pub const NAMES: [&str; 6] = ["tree", "fingerprint", "rms", "checksum", "vernal", "all"];

/// A verdict, and the CPU time that it took.
#[derive(Serialize)]
pub struct Measured {
    #[serde(flatten)]
    pub verdict: MethodVerdict,
    pub cpu_us: f64,
}

impl Measured {
    pub fn of(method: Method, old: &Input<'_>, new: &Input<'_>) -> Measured {
        let started = cpu_seconds();
        let verdict = method.compare(old, new);
        Measured { verdict, cpu_us: (cpu_seconds() - started) * 1e6 }
    }
}

/// What several methods say; one method is shown as it is.
#[derive(Serialize)]
struct Several<'a> {
    /// Whether any of them found a change.
    changed: bool,
    methods: &'a [Measured],
}

/// The methods that were named, each once and in their order.
pub fn chosen(names: &[String]) -> Vec<Method> {
    let is_named = |method: &Method| names.iter().any(|name| name == "all" || name == method.name());
    Method::ALL.into_iter().filter(is_named).collect()
}

/// Shows what the methods found. Returns whether any of them found a change.
pub fn run(context: &Context, methods: &[Method], (url, old, new): (&Url, &Body, &Body)) -> Result<bool> {
    let (old, new) = inputs(url, old, new);
    let measured: Vec<Measured> = methods.iter().map(|&method| Measured::of(method, &old, &new)).collect();
    let changed = measured.iter().any(|one| one.verdict.changed);
    let mut sink = Sink::stdout();
    if context.json {
        let text = match measured.as_slice() {
            [one] => serde_json::to_string(one),
            several => serde_json::to_string(&Several { changed, methods: several }),
        };
        sink.line(&text.or_fail()?)?;
    } else {
        for one in &measured {
            method_lines(&one.verdict).into_iter().chain([cost(one)]).try_for_each(|line| sink.line(&line))?;
        }
    }
    sink.flush()?;
    Ok(changed)
}

fn cost(one: &Measured) -> String {
    let cost = &one.verdict.cost;
    let what = match one.verdict.method {
        Method::Tree => "nodes",
        Method::Fingerprint => "tags",
        Method::Rms | Method::Checksum | Method::Vernal => "paragraphs",
    };
    format!(
        "    cost: {} read, {} {what}, {} to keep, {:.3} ms of CPU time",
        bytes_shown(cost.bytes_read as u64),
        cost.items,
        bytes_shown(cost.kept_bytes as u64),
        one.cpu_us / 1e3
    )
}
