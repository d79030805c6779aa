//! `vernal compact`

use axum::http::Method;

use super::Context;
use super::listing::copy;
use crate::error::Result;
use crate::output::Sink;
use crate::runtime::folder::Folder;

pub async fn compact(context: &Context) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(Method::POST, "/api/v1/compact", String::new()).await?;
    if context.json {
        copy(answer, &mut Sink::stdout()).await?;
    } else {
        context.log.info("compacted");
    }
    folder.close()
}
