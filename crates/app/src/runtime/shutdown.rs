//! Signals: the first asks for a clean stop, the second ends at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{OrFail, Result};

/// The exit code of a process that was interrupted before it could stop cleanly, as shells count it.
const EXIT_INTERRUPTED: i32 = 130;

pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub fn listen() -> Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt()).or_fail()?,
            terminate: signal(SignalKind::terminate()).or_fail()?,
        })
    }

    /// Waits for SIGINT or SIGTERM and names it.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }

    /// From now on a signal ends the process at once: nothing acknowledged can be lost.
    pub fn end_at_once_on_next(mut self) {
        tokio::spawn(async move {
            self.next().await;
            std::process::exit(EXIT_INTERRUPTED);
        });
    }
}
