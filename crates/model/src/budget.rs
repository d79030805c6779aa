//! What may be spent, and what has been spent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Moment, Span};

/// A part of a whole, always within 0 and 1.
#[derive(Copy, Clone, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Share(f64);

impl Share {
    pub fn clamped(value: f64) -> Self {
        Share(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) })
    }

    pub fn value(self) -> f64 {
        self.0
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BudgetUnit {
    /// Requests of any kind.
    Visits,
    /// Bytes on the wire.
    WireBytes,
    /// Visits, as a percentage of the pages held.
    PercentOfHeld,
}

/// An amount per cycle: `5000/day`, `20%/day`, `2GB/day`.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    pub amount: f64,
    pub unit: BudgetUnit,
    pub cycle: Span,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a budget: give for example 5000/day, 200/hour, 2/s, 20%/day or 2GB/day")]
pub struct BudgetError(String);

impl Default for Budget {
    /// A fifth of the held pages a day.
    fn default() -> Self {
        Budget { amount: 20.0, unit: BudgetUnit::PercentOfHeld, cycle: Span::from_days(1) }
    }
}

impl Budget {
    /// The amount that may be spent per second, in visits or in bytes, when so many pages are held.
    pub fn per_second(&self, held: u64) -> f64 {
        let per_cycle = match self.unit {
            BudgetUnit::Visits | BudgetUnit::WireBytes => self.amount,
            BudgetUnit::PercentOfHeld => self.amount / 100.0 * held as f64,
        };
        per_cycle / self.cycle.secs_f64()
    }
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let wrong = || BudgetError(text.to_owned());
        let (amount, cycle) = text.split_once('/').ok_or_else(wrong)?;
        let cycle = match cycle.trim() {
            "s" | "second" => Span::from_secs(1),
            "m" | "min" | "minute" => Span::from_secs(60),
            "h" | "hour" => Span::from_hours(1),
            "d" | "day" => Span::from_days(1),
            "w" | "week" => Span::from_days(7),
            _ => return Err(wrong()),
        };
        let amount = amount.trim();
        let digits_end = amount.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(amount.len());
        let (number, suffix) = amount.split_at(digits_end);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let (unit, factor) = match suffix.trim() {
            "" => (BudgetUnit::Visits, 1.0),
            "%" => (BudgetUnit::PercentOfHeld, 1.0),
            "B" => (BudgetUnit::WireBytes, 1.0),
            "kB" | "KB" => (BudgetUnit::WireBytes, 1e3),
            "MB" => (BudgetUnit::WireBytes, 1e6),
            "GB" => (BudgetUnit::WireBytes, 1e9),
            "TB" => (BudgetUnit::WireBytes, 1e12),
            _ => return Err(wrong()),
        };
        if number <= 0.0 {
            return Err(wrong());
        }
        Ok(Budget { amount: number * factor, unit, cycle })
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            BudgetUnit::Visits => write!(f, "{}", self.amount)?,
            BudgetUnit::PercentOfHeld => write!(f, "{}%", self.amount)?,
            BudgetUnit::WireBytes if self.amount >= 1e9 => write!(f, "{}GB", self.amount / 1e9)?,
            BudgetUnit::WireBytes if self.amount >= 1e6 => write!(f, "{}MB", self.amount / 1e6)?,
            BudgetUnit::WireBytes => write!(f, "{}B", self.amount)?,
        }
        let cycle = match self.cycle {
            c if c == Span::from_secs(1) => "s",
            c if c == Span::from_secs(60) => "minute",
            c if c == Span::from_hours(1) => "hour",
            c if c == Span::from_days(7) => "week",
            _ => "day",
        };
        write!(f, "/{cycle}")
    }
}

/// The budget account: it is credited continuously, holds at most one hour's share unless a policy saves up visits, and is kept
/// across restarts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BudgetAccount {
    /// The balance. A request may overdraw it, because its bytes were not known; then the next one waits.
    pub in_hand: f64,
    /// Until when the account has been credited.
    pub filled: Moment,
    /// The sum of everything spent, in the unit of the budget.
    pub spent: f64,
}

impl BudgetAccount {
    /// The account of a new crawl. It begins with an hour's share, so that a small budget does not begin with a long wait.
    pub fn begun(budget: &Budget, held: u64, now: Moment) -> Self {
        let in_hand = (budget.per_second(held) * Self::IN_HAND_MAX.secs_f64()).max(1.0);
        BudgetAccount { in_hand, filled: now, spent: 0.0 }
    }

    /// At most one hour's share is held, so that a long pause is not followed by a burst.
    pub const IN_HAND_MAX: Span = Span::from_hours(1);

    /// Credits what was earned since the last call, up to the share of `most`.
    pub fn fill(&mut self, budget: &Budget, held: u64, most: Span, now: Moment) {
        let passed = now.since(self.filled);
        if passed == Span::ZERO {
            return;
        }
        let per_second = budget.per_second(held);
        // At least one whole unit fits; otherwise a very small budget could never be spent.
        let limit = (per_second * most.secs_f64()).max(1.0);
        self.in_hand = (self.in_hand + per_second * passed.secs_f64()).min(limit.max(self.in_hand));
        self.filled = now;
    }

    pub fn can_spend(&self) -> bool {
        self.in_hand >= 1.0
    }

    pub fn spend(&mut self, amount: f64) {
        self.in_hand -= amount;
        self.spent += amount;
    }

    /// When the balance will be one whole unit.
    pub fn next(&self, budget: &Budget, held: u64) -> Moment {
        if self.can_spend() {
            return self.filled;
        }
        let per_second = budget.per_second(held);
        if per_second <= 0.0 {
            return Moment::NEVER;
        }
        self.filled + Span::from_secs_f64((1.0 - self.in_hand) / per_second) + Span::from_micros(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_written() {
        for text in ["5000/day", "200/hour", "2/s", "20%/day", "2GB/day"] {
            assert_eq!(text.parse::<Budget>().unwrap().to_string(), text);
        }
        for text in ["", "5000", "/day", "-3/day", "0/day", "5x/day", "5/fortnight", "NaN/day"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_purse_never_holds_more_than_an_hours_share() {
        let budget: Budget = "2400/day".parse().unwrap();
        let mut account = BudgetAccount::default();
        account.fill(&budget, 0, BudgetAccount::IN_HAND_MAX, Moment::from_secs(30 * 86_400));
        assert!((account.in_hand - 100.0).abs() < 1e-9);
    }

    #[test]
    fn who_saves_up_its_visits_has_those_of_so_long_in_hand_and_no_more() {
        let budget: Budget = "2400/day".parse().unwrap();
        let mut account = BudgetAccount::default();
        account.fill(&budget, 0, Span::from_days(1), Moment::from_secs(30 * 86_400));
        assert!((account.in_hand - 2_400.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_spent_over_a_long_time_never_exceeds_the_budget_by_more_than_the_purse() {
        let budget: Budget = "48/day".parse().unwrap();
        let mut account = BudgetAccount { filled: Moment::from_secs(0), ..BudgetAccount::default() };
        let (mut now, mut visits) = (Moment::from_secs(0), 0);
        while now < Moment::from_secs(10 * 86_400) {
            account.fill(&budget, 0, BudgetAccount::IN_HAND_MAX, now);
            if account.can_spend() {
                account.spend(1.0);
                visits += 1;
            } else {
                now = account.next(&budget, 0);
            }
        }
        assert!((479..=482).contains(&visits), "{visits}");
    }
}
