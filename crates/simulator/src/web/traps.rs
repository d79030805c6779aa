//! Pages without end. What a trap answers depends on the path alone.

use std::fmt::Write;

use vernal_model::Chance;

use super::class::Trap;
use super::words::{self, Language};

/// Ever-deeper paths end here with a 404: real servers have such a limit too.
const PATH_BYTES_MAX: usize = 3_000;

/// The filters of the search page and their values.
const FACETS: [(&str, [&str; 4]); 4] = [
    ("colour", ["red", "green", "blue", "grey"]),
    ("size", ["s", "m", "l", "xl"]),
    ("sort", ["price", "name", "age", "rank"]),
    ("brand", ["acme", "north", "stone", "vale"]),
];

/// The trap that a path lies in.
pub(super) fn trap_at(path: &str) -> Option<Trap> {
    if path.len() > PATH_BYTES_MAX {
        return None;
    }
    if path.starts_with("/calendar/") {
        return month_of(path).map(|_| Trap::Calendar);
    }
    if path.starts_with("/deep/") {
        return Some(Trap::Deep);
    }
    if path.starts_with("/session/") {
        return Some(Trap::Session);
    }
    (path == "/find").then_some(Trap::Facets)
}

pub(super) fn html(trap: Trap, path_and_query: &str, chance: &Chance) -> String {
    match trap {
        Trap::Calendar => calendar(path_and_query),
        Trap::Deep => deep(path_and_query, chance),
        Trap::Session => session(path_and_query, chance),
        Trap::Facets | Trap::Mirror => facets(path_and_query, chance),
    }
}

fn month_of(path: &str) -> Option<(u32, u32)> {
    let mut parts = path.strip_prefix("/calendar/")?.trim_end_matches('/').split('/');
    let year = parts.next()?.parse().ok().filter(|year| (1..=9_999).contains(year))?;
    let month = parts.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
    parts.next().is_none().then_some((year, month))
}

fn calendar(path: &str) -> String {
    let (year, month) = month_of(path.split('?').next().unwrap_or(path)).unwrap_or((2026, 1));
    let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let before = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
    let mut out = open(&format!("Calendar {year}-{month:02}"));
    let _ = writeln!(out, "<a href=\"/calendar/{}/{:02}/\">Previous month</a>", before.0, before.1);
    let _ = writeln!(out, "<a href=\"/calendar/{}/{:02}/\">Next month</a>", next.0, next.1);
    out.push_str("<table><tr>");
    for day in 1..=28 {
        let _ = write!(out, "<td>{day}</td>{}", if day % 7 == 0 { "</tr>\n<tr>" } else { "" });
    }
    out.push_str("</tr></table>\n<p>There are no events in this month.</p>\n");
    close(out)
}

fn deep(path: &str, chance: &Chance) -> String {
    let mut out = open("Further down");
    out.push_str("<p>");
    // The same prose at every depth, as sites with a wrong relative link have it.
    words::push_paragraph(&mut out, Language::English, &mut chance.stream("deep"));
    let folder = if path.ends_with('/') { "" } else { "/" };
    let _ = write!(
        out,
        "</p>\n<a href=\"./{folder}more/\">More</a> <a href=\"details/\">Details</a> <a href=\"more/list/\">List</a>\n"
    );
    close(out)
}

fn session(path_and_query: &str, chance: &Chance) -> String {
    let visit = path_and_query.split_once("visit=").map_or("", |(_, visit)| visit);
    let mut token = chance.stream("session").stream(visit);
    let mut out = open("Your visit");
    out.push_str("<p>");
    words::push_paragraph(&mut out, Language::English, &mut chance.stream("visit"));
    out.push_str("</p>\n");
    for name in ["", "basket", "offers", "help"] {
        let _ = writeln!(out, "<a href=\"/session/{name}?visit={:016x}\">{name} page</a>", token.bits());
    }
    close(out)
}

fn facets(path_and_query: &str, chance: &Chance) -> String {
    let query = path_and_query.split_once('?').map_or("", |(_, query)| query);
    let chosen: Vec<(&str, &str)> = query.split('&').filter_map(|pair| pair.split_once('=')).take(8).collect();
    let mut out = open("Search");
    out.push_str("<ul>\n");
    let mut goods = chance.stream("goods");
    for _ in 0..6 {
        let _ = writeln!(out, "<li>{}</li>", words::title(Language::English, &mut goods));
    }
    out.push_str("</ul>\n");
    for (name, values) in FACETS {
        for value in values {
            let mut link = String::from("/find");
            let kept = chosen.iter().filter(|(other, _)| *other != name).copied();
            for (index, (name, value)) in kept.chain([(name, value)]).enumerate() {
                let _ = write!(link, "{}{name}={value}", if index == 0 { "?" } else { "&amp;" });
            }
            let _ = writeln!(out, "<a href=\"{link}\">{name}: {value}</a>");
        }
    }
    close(out)
}

fn open(title: &str) -> String {
    format!("<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>{title}</title></head>\n<body>\n<h1>{title}</h1>\n")
}

fn close(mut out: String) -> String {
    out.push_str("<p><a href=\"/\">Home</a></p>\n</body>\n</html>\n");
    out
}
