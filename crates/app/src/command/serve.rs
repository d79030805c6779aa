//! `vernal serve`: the API and the dashboard of a stopped folder, for looking only.

use clap::Args;

use super::Context;
use crate::config::Flags;
use crate::error::{Error, Result};
use crate::runtime::folder::Folder;
use crate::runtime::network;
use crate::runtime::shown;
use crate::runtime::shutdown::Signals;

#[derive(Args)]
#[command(
    after_help = "Nothing is visited and nothing is changed. Where a crawl runs in the folder, its own address shows it."
)]
pub struct Arguments {
    #[command(flatten)]
    pub flags: Flags,
}

pub fn serve(context: &Context) -> Result<()> {
    let checked = shown::check(context)?;
    let runtime = network::runtime(2)?;
    let served = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let folder = Folder::open(context, false).await?;
        let Folder::Stopped { router, .. } = &folder else {
            let dir = context.settings.data.display();
            return Err(Error::Failed(format!(
                "a crawl runs in {dir} and serves it already; ask for its address there"
            )));
        };
        let shown = shown::show(context, checked, router.clone())?;
        tracing::info!("serving on {}", shown.url);
        signals.next().await;
        shown.close().await;
        folder.close()
    });
    runtime.shutdown_timeout(std::time::Duration::from_millis(100));
    served
}
