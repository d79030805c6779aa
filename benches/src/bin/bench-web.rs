//! Serves one site of the invented web, standing still at one Moment, until it is killed:
//! `bench-web PORT PAGES DAYS validators|none`. Every page changes once a day. It prints a line when it is ready, and for each
//! line it reads how many requests it has answered.

use std::sync::Arc;

use vernal_model::{Moment, Span};
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::serve::{ServeOptions, serve};
use vernal_simulator::web::{Shares, Web, WebSettings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [port, pages, days, validators] = words.as_slice() else {
        return Err("usage: bench-web PORT PAGES DAYS validators|none".into());
    };
    let pages: usize = pages.parse()?;
    let without = if validators == "none" { 1.0 } else { 0.0 };
    let settings = WebSettings {
        pages_per_site: (pages, pages),
        drift: DriftSettings::daily(),
        share: Shares { validator_none: without, ..Shares::none() },
        ..WebSettings::bench()
    };
    let now: Moment = settings.origin + Span::from_days(days.parse()?);
    let options = ServeOptions {
        port: port.parse()?,
        log_requests_max: 0,
        warm: true,
        cache_bytes_max: 1 << 30,
        ..ServeOptions::default()
    };
    let served = serve(&Web::new(settings)?, Arc::new(move || now), &options)?;
    println!("ready {}", served.seeds().join(" "));
    for _ in std::io::stdin().lines() {
        println!("requests {}", served.counts().requests);
    }
    loop {
        std::thread::park();
    }
}
