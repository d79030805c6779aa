//! WARC into a folder, a file per segment. Segments are only ever appended to, so that they are read beside a running crawl; the
//! cursor is asked for first, and everything up to it is in the export.

use std::path::Path;

use serde_json::json;
use vernal_model::{Moment, Site, Url};
use vernal_repository::Record;
use vernal_repository::archive::{self, ExportTo};

use super::arguments::Arguments;
use super::run::Exported;
use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::runtime::clock::wall;
use crate::runtime::folder::Folder;

pub async fn export(context: &Context, folder: &Folder, arguments: &Arguments) -> Result<Exported> {
    if arguments.tag.is_some() {
        return Err(Error::usage("--tag is for an export into one file: give a path without a slash"));
    }
    let is_cursor = |text: &&String| text.starts_with('c');
    if arguments.since.as_ref().filter(is_cursor).is_some() {
        return Err(Error::usage("a folder of segments is taken since a time, or give a path without a slash"));
    }
    let status = folder.get("/api/v1/status").await?.json().await?;
    let cursor = status["cursor"].as_str().unwrap_or_default().to_owned();
    let site = arguments.site.as_deref().map(vernal_api::seed_entry::site).transpose().or_usage()?;
    let moment = |text: &String| Moment::parse(text, wall()).or_usage();
    let since = arguments.since.as_ref().map(moment).transpose()?;
    let at = arguments.at.as_ref().map(moment).transpose()?;
    let filter = |record: &Record| {
        let is_of_time =
            record.date().is_none_or(|date| since.is_none_or(|since| date > since) && at.is_none_or(|at| date <= at));
        is_of_time && is_of(record, site.as_ref(), arguments.prefix.as_deref())
    };
    let report = archive::export_warc(&context.settings.data, ExportTo::Folder(Path::new(&arguments.out)), &filter);
    let report = report.or_fail()?;
    if report.damaged > 0 {
        tracing::warn!("{} places could not be read and were passed over", report.damaged);
    }
    Ok(Exported {
        cursor,
        out: arguments.out.clone(),
        told: json!({ "records": report.records, "damaged": report.damaged }),
    })
}

fn is_of(record: &Record, site: Option<&Site>, prefix: Option<&str>) -> bool {
    if site.is_none() && prefix.is_none() {
        return true;
    }
    let target = record.target().and_then(|target| Url::parse(target).ok());
    target.is_some_and(|target| {
        site.is_none_or(|site| target.site_text() == site.as_str())
            && prefix.is_none_or(|prefix| target.as_str().starts_with(prefix))
    })
}
