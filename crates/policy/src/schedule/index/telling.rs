//! The reasons of a choice, in words and numbers.

use vernal_model::{Moment, Span};

use super::page::days;
use super::policy::Index;
use super::rule::Timing;

impl Index {
    pub(super) fn reasons(&self, number: u32, now: Moment) -> Vec<(String, String)> {
        let page = self.pages.at(number);
        let site = &self.sites[page.site as usize];
        let today = days(now);
        let last = Moment::from_secs(i64::from(page.last));
        let o = self.operational_alone(number, page, today);
        let mut reasons = vec![
            ("policy".into(), format!("{}, for {}", self.words(), self.rule.objective.name())),
            ("last visit".into(), format!("{last}, {} ago", now.since(last))),
        ];
        if page.is_known() {
            reasons.push(("change rate".into(), format!("{:.4} a day, known", page.rate())));
        } else {
            let belief = self.belief_of(page);
            let from = match () {
                () if site.all.mean == 0.0 && self.topics.ratio(page.site).is_some() => "of its site's topics",
                () if site.all.mean == 0.0 => "of all pages",
                () if site.whole > 0 => "of its section of the site",
                () if self.rule.path_priors && site.group(page.group).is_some_and(|group| group.mean > 0.0) => {
                    "of its path on this site"
                }
                () => "of its site",
            };
            let importance = match self.times_of(page) {
                1.0 => String::new(),
                times => format!(", times {times:.2} as pages of its importance have"),
            };
            let prior = format!("{:.4} changes a day, {from}{importance}", self.prior_of(page));
            reasons.push(("prior".into(), prior));
            reasons.push((
                "history".into(),
                format!("worth {:.2} changes in {:.1} days of its own", page.shape, page.scale),
            ));
            reasons.push((
                "posterior".into(),
                format!(
                    "{:.4} changes a day (Gamma, shape {:.3}, scale {:.2} days)",
                    belief.mean(),
                    belief.a,
                    belief.b
                ),
            ));
        }
        if let Some(clock) = &site.clock {
            let [sharp, middle, mild, none] = clock.weights();
            let text = format!(
                "{o:.2} days of operational time have passed for it; its siblings {}are trusted {:.0} % ({:.0} sharp, {:.0} \
                 middle, {:.0} mild)",
                if site.whole > 0 { "in its section " } else { "" },
                100.0 * (1.0 - none),
                100.0 * sharp,
                100.0 * middle,
                100.0 * mild
            );
            reasons.push(("site clock".into(), text));
        } else if self.rule.site_clock {
            reasons.push(("site clock".into(), "none: too few pages, or no change seen yet".into()));
        }
        if let Some(&hinted) = self.hints.get(&number) {
            reasons.push(("hints".into(), format!("worth {hinted:.2} days of waiting")));
        }
        let fresh = self.fresh_now(page, o);
        reasons.push(("up to date".into(), format!("{:.1} % likely", 100.0 * fresh)));
        reasons.push((
            "value".into(),
            format!("{:.4} (importance {})", self.value_of(number, page, o), page.importance()),
        ));
        let price = match self.price {
            0.0 => "nothing: there were visits for all".into(),
            price => format!("{price:.4}, the value of the last page chosen"),
        };
        reasons.push(("price".into(), price));
        reasons.push(("due".into(), self.due_words(number, o, now)));
        reasons
    }

    fn words(&self) -> String {
        let how = match self.rule.timing {
            Timing::Value if self.rule.site_clock => "the most valuable visit first, by the clock of its site",
            Timing::Value => "the most valuable visit first",
            Timing::Even(_) => "the share of the budget that is best for its rate, at even intervals",
            Timing::Random(_) => "the share of the budget that is best for its rate, at random intervals",
        };
        format!("{}: {how}", self.rule.name)
    }

    /// When it is worth the price, if nothing is heard before.
    fn due_words(&self, number: u32, o: f64, now: Moment) -> String {
        let page = self.pages.at(number);
        let longest = match self.abandons(page) {
            true => "perhaps never: what is not worth its price may be abandoned".into(),
            false => format!("after {:.0} days at the latest", self.longest_wait),
        };
        if self.price == 0.0 {
            return format!("as soon as it has rested, while there are visits for all; {longest}");
        }
        let more = self.time_of(number, page, self.price, o) - o;
        let waited = days(now) - page.last_day();
        match more {
            more if more <= 0.0 => format!("now; {longest}"),
            more if more + waited > self.longest_wait => format!("only {longest}: it never is worth the price before"),
            more => {
                let wait = Span::from_secs_f64(more * 86_400.0);
                format!("{}, in {wait}, if nothing is heard of its site before; {longest}", now + wait)
            }
        }
    }
}
