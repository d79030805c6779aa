//! Rules that a person gives, allows or forgets. Each function returns the rows to write.

use vernal_model::{
    Looks, Moment, NoiseBook, NoisePattern, NoiseRows, NoiseRule, RuleForce, RuleReach, RuleState, Site, TextClass,
};

/// Adds a rule of a person. `None` when the site has too many such rules.
pub fn add(
    site: &Site,
    book: &NoiseBook,
    what: NoisePattern,
    on: RuleReach,
    reason: &str,
    moment: Moment,
) -> Option<NoiseRows> {
    let mut rows = NoiseRows::new(site.clone());
    if book.rules.len() >= NoiseBook::RULES_MAX {
        let learned = |rule: &&NoiseRule| !matches!(rule.standing, RuleState::Added | RuleState::Allowed);
        let oldest = book.rules.iter().filter(learned).min_by_key(|rule| (rule.last, rule.id))?;
        rows.forgotten.push(oldest.id);
    }
    let id = book.last_id.checked_add(1)?;
    rows.last_id = Some(id);
    rows.rules.push(NoiseRule {
        id,
        what,
        on,
        class: TextClass::Figure,
        standing: RuleState::Added,
        since: moment,
        last: moment,
        force: RuleForce::since(moment),
        differed: 0,
        compared: 0,
        looks: Looks::default(),
        quiet: 0,
        pages: 0,
        template: if let RuleReach::Template(template) = on { template } else { 0 },
        before: "".into(),
        after: "".into(),
        reason: reason.into(),
        seen: Vec::new(),
    });
    Some(rows)
}

/// Marks a rule as wrong: its differences matter, are never suppressed and never learned again.
pub fn allow(site: &Site, book: &NoiseBook, id: u32, reason: &str, moment: Moment) -> Option<NoiseRows> {
    let mut rule = book.rule(id)?.clone();
    if rule.force.holds_at(moment) {
        rule.force.until = Some(moment);
    }
    rule.standing = RuleState::Allowed;
    rule.reason = reason.into();
    let mut rows = NoiseRows::new(site.clone());
    rows.rules.push(rule);
    Some(rows)
}

/// Removes a rule with its evidence. It may be learned again.
pub fn forget(site: &Site, book: &NoiseBook, id: u32) -> Option<NoiseRows> {
    let rule = book.rule(id)?;
    let mut rows = NoiseRows::new(site.clone());
    rows.forgotten.push(rule.id);
    Some(rows)
}
