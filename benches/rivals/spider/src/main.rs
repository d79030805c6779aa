//! Crawls one site with the spider crate, 16 requests at a time and without a delay: `bench-spider SEED`. Every page is
//! taken as it comes and given up again; nothing is kept. Prints how many pages came, and their bytes.

use spider::tokio;
use spider::tokio::sync::broadcast::error::RecvError;
use spider::website::Website;

/// As many requests at a time as the others have.
const CONCURRENCY: usize = 16;
/// Pages that may wait for the counter.
const PAGES_WAITING_MAX: usize = 1_024;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed = std::env::args().nth(1).ok_or("usage: bench-spider SEED")?;
    let mut website = Website::new(&seed);
    website.with_delay(0).with_limit(0).with_depth(0).with_concurrency_limit(Some(CONCURRENCY));
    let mut arriving = website.subscribe(PAGES_WAITING_MAX);
    let counting = tokio::spawn(async move {
        let (mut pages, mut bytes) = (0, 0);
        loop {
            match arriving.recv().await {
                Ok(page) => {
                    pages += 1;
                    bytes += page.get_html_bytes_u8().len();
                }
                Err(RecvError::Lagged(missed)) => pages += missed,
                Err(RecvError::Closed) => return (pages, bytes),
            }
        }
    });
    website.crawl().await;
    website.unsubscribe();
    let (pages, bytes) = counting.await?;
    println!("{pages} {bytes}");
    Ok(())
}
