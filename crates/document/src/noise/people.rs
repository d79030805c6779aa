//! Rules that a person gives, allows or forgets. Each answers with the rows to be written; nothing else changes a book.

use vernal_model::{Moment, NoiseBook, NoiseRows, NoiseRule, Reach, RuleStanding, Site, Volatile};

/// Adds a rule in a person's name, or `None` when the book is full of such rules.
pub fn add(
    site: &Site,
    book: &NoiseBook,
    what: Volatile,
    on: Reach,
    reason: &str,
    moment: Moment,
) -> Option<NoiseRows> {
    let mut rows = NoiseRows::new(site.clone());
    if book.rules.len() >= NoiseBook::RULES_MAX {
        let learned = |rule: &&NoiseRule| !matches!(rule.standing, RuleStanding::Added | RuleStanding::Allowed);
        let oldest = book.rules.iter().filter(learned).min_by_key(|rule| (rule.last, rule.id))?;
        rows.forgotten.push(oldest.id);
    }
    let id = book.last_id.checked_add(1)?;
    rows.last_id = Some(id);
    rows.rules.push(NoiseRule {
        id,
        what,
        on,
        standing: RuleStanding::Added,
        since: moment,
        last: moment,
        differed: 0,
        compared: 0,
        quiet: 0,
        pages: 0,
        template: if let Reach::Template(template) = on { template } else { 0 },
        before: "".into(),
        after: "".into(),
        reason: reason.into(),
        seen: Vec::new(),
    });
    Some(rows)
}

/// Says that a rule is wrong: what it speaks of means something, is never set aside and never learned again.
pub fn allow(site: &Site, book: &NoiseBook, id: u32, reason: &str) -> Option<NoiseRows> {
    let mut rule = book.rule(id)?.clone();
    rule.standing = RuleStanding::Allowed;
    rule.reason = reason.into();
    let mut rows = NoiseRows::new(site.clone());
    rows.rules.push(rule);
    Some(rows)
}

/// Takes a rule away with its evidence; what it spoke of may be learned anew.
pub fn forget(site: &Site, book: &NoiseBook, id: u32) -> Option<NoiseRows> {
    let rule = book.rule(id)?;
    let mut rows = NoiseRows::new(site.clone());
    rows.forgotten.push(rule.id);
    Some(rows)
}
