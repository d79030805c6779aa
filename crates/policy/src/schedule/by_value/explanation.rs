//! The reasons of a choice, in words and numbers.

use vernal_model::{Moment, Span};

use super::model::Model;
use super::page::Page;
use super::rule::{Rule, Timing};
use super::time::days;
use crate::schedule::words::{Words, last_visit, word};

/// Why a page is visited when it is, at a price of visits and as likely up to date as this.
pub fn reasons(model: &Model, price: f64, number: u32, fresh: f64, now: Moment) -> Words {
    let page = model.pages.at(number);
    let operational = model.operational(number, page, days(now));
    let last = Moment::from_secs(i64::from(page.last));
    let policy = format!("{}, for {}", policy_words(model.rule()), model.rule().objective.name());
    let mut reasons = vec![word("policy", policy), last_visit(last, now)];
    if page.is_known() {
        reasons.push(word("change rate", format!("{:.4} a day, known", page.rate())));
    } else {
        reasons.extend(belief_words(model, page));
    }
    reasons.extend(clock_words(model, page, operational));
    if let Some(hinted) = model.valuer.hinted(number) {
        reasons.push(word("hints", format!("worth {hinted:.2} days of waiting")));
    }
    let value = model.value(number, page, operational);
    let price_words = match price {
        0.0 => "nothing: there were visits for all".into(),
        price => format!("{price:.4}, the value of the last page chosen"),
    };
    reasons.extend([
        word("up to date", format!("{:.1} % likely", 100.0 * fresh)),
        word("value", format!("{value:.4} (importance {})", page.importance())),
        word("price", price_words),
        word("due", due_words(model, price, number, operational, now)),
    ]);
    reasons
}

fn policy_words(rule: &Rule) -> String {
    let how = match rule.timing {
        Timing::Value if rule.site_clock => "the most valuable visit first, by the clock of its site",
        Timing::Value => "the most valuable visit first",
        Timing::Even(_) => "the share of the budget that is best for its rate, at even intervals",
        Timing::Random(_) => "the share of the budget that is best for its rate, at random intervals",
    };
    format!("{}: {how}", rule.name)
}

/// What is expected of the page, what its own visits say, and what follows from both.
fn belief_words(model: &Model, page: &Page) -> Words {
    let (beliefs, site) = (&model.beliefs, model.sites.at(page.site));
    let belief = beliefs.belief(page, site);
    let from = match () {
        () if site.all.mean == 0.0 && beliefs.topics.ratio(page.site).is_some() => "of its site's topics",
        () if site.all.mean == 0.0 => "of all pages",
        () if site.section_of > 0 => "of its section of the site",
        () if model.rule().path_priors && site.group_prior(page.group).is_some() => "of its path on this site",
        () => "of its site",
    };
    let importance = match beliefs.times_of(page) {
        1.0 => String::new(),
        times => format!(", times {times:.2} as pages of its importance have"),
    };
    // A day of the calendar has several days of a busy site's clock.
    let by_clock = if site.clock.is_some() { " by the clock of its site" } else { "" };
    let history = format!("worth {:.2} changes in {:.1} days{by_clock}", page.shape, page.scale);
    let posterior = format!(
        "{:.4} changes a day{by_clock} (Gamma, shape {:.3}, scale {:.2} days)",
        belief.mean(),
        belief.a,
        belief.b
    );
    vec![
        word("prior", format!("{:.4} changes a day{by_clock}, {from}{importance}", beliefs.prior(page, site))),
        word("history", history),
        word("posterior", posterior),
    ]
}

fn clock_words(model: &Model, page: &Page, operational: f64) -> Option<(String, String)> {
    let site = model.sites.at(page.site);
    let Some(clock) = &site.clock else {
        return model.rule().site_clock.then(|| word("site clock", "none: too few pages, or no change seen yet"));
    };
    let [sharp, middle, mild, none] = clock.weights().map(|weight| 100.0 * weight);
    let within = if site.section_of > 0 { "in its section " } else { "" };
    let trusted = 100.0 - none;
    let text = format!(
        "{operational:.2} days of operational time have passed for it; its siblings {within}are trusted {trusted:.0} % \
         ({sharp:.0} sharp, {middle:.0} middle, {mild:.0} mild)"
    );
    Some(word("site clock", text))
}

/// When it is worth the price, if nothing is heard before.
fn due_words(model: &Model, price: f64, number: u32, operational: f64, now: Moment) -> String {
    let (page, longest_wait) = (model.pages.at(number), model.valuer.longest_wait);
    let longest = match model.valuer.abandons(page) {
        true => "perhaps never: what is not worth its price may be abandoned".into(),
        false => format!("after {longest_wait:.0} days at the latest"),
    };
    if price == 0.0 {
        return format!("as soon as it has rested, while there are visits for all; {longest}");
    }
    let worth = model.worth(number, page);
    let more = worth.time_of(price, operational, worth.curve(operational)) - operational;
    let waited = days(now) - page.last_day();
    match more {
        more if more <= 0.0 => format!("now; {longest}"),
        more if more + waited > longest_wait => format!("only {longest}: it never is worth the price before"),
        more => {
            let wait = Span::from_secs_f64(more * 86_400.0);
            format!("{}, in {wait}, if nothing is heard of its site before; {longest}", now + wait)
        }
    }
}
