//! Days in weeks: how many changes were found on each.

use jiff::civil::Date;

use super::svg::Svg;

const SIDE: f64 = 24.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 20.0;

/// What happened on one day.
#[derive(Clone, Copy, Debug)]
pub struct Day {
    pub date: Date,
    pub visits: u64,
    pub changes: u64,
}

/// The shade of an amount among amounts: 0 for none, 4 for the most.
pub(super) fn shade(amount: f64, most: f64) -> usize {
    if amount <= 0.0 || most <= 0.0 { 0 } else { ((amount / most * 4.0).ceil() as usize).clamp(1, 4) }
}

/// Columns are weeks, the last of them has today. Days before the first visit are empty frames.
pub fn calendar(days: &[Day], today: Date, weeks: u32) -> Svg {
    let most = days.iter().map(|day| day.changes).max().unwrap_or_default() as f64;
    let total: u64 = days.iter().map(|day| day.changes).sum();
    let on = |date: Date| days.iter().find(|day| day.date == date);
    let back = i64::from(today.weekday().to_monday_zero_offset()) + 7 * (i64::from(weeks) - 1);
    let first = today.checked_sub(jiff::Span::new().days(back)).unwrap_or(today);
    let label = format!("{total} changes by day since {}", first.strftime("%-d %b %Y"));
    let (width, height) = (LEFT + SIDE * f64::from(weeks), TOP + SIDE * 7.0);
    let mut svg = Svg::new();
    let frame = [
        ("class", "heat".into()),
        ("width", width.into()),
        ("height", height.into()),
        ("role", "img".into()),
        ("aria-label", (&label).into()),
    ];
    svg.begin("svg", &frame);
    for (row, name) in [(0.0, "Mon"), (2.0, "Wed"), (4.0, "Fri"), (6.0, "Sun")] {
        svg.word("text", &[("x", 0.0.into()), ("y", (TOP + SIDE * row + 15.0).into())], name);
    }
    let mut month = None;
    for (place, date) in first.series(jiff::Span::new().days(1)).take_while(|date| *date <= today).enumerate() {
        let (column, row) = ((place / 7) as f64, (place % 7) as f64);
        let (x, y) = (LEFT + SIDE * column, TOP + SIDE * row);
        if place % 7 == 0 && month != Some(date.month()) {
            month = Some(date.month());
            svg.word("text", &[("x", x.into()), ("y", 12.0.into())], &date.strftime("%b").to_string());
        }
        square(&mut svg, (x, y), on(date), most);
        let words = match on(date) {
            Some(day) => format!(
                "{}: {}, {}",
                date.strftime("%-d %b"),
                crate::numbers::counted(day.changes, "change"),
                crate::numbers::counted(day.visits, "visit")
            ),
            None => format!("{}: not held yet, or not visited", date.strftime("%-d %b")),
        };
        svg.word("title", &[], &words).end("rect");
        if let Some(day) = on(date).filter(|day| day.changes > 0) {
            let class = if shade(day.changes as f64, most) > 2 { "on-dark mid-t" } else { "on-light mid-t" };
            let place = [("class", class.into()), ("x", (x + 11.0).into()), ("y", (y + 15.0).into())];
            svg.word("text", &place, &day.changes.to_string());
        }
        if date == today {
            let ring = [
                ("class", "today".into()),
                ("x", x.into()),
                ("y", y.into()),
                ("width", 22.0.into()),
                ("height", 22.0.into()),
                ("rx", 3.0.into()),
            ];
            svg.empty("rect", &ring);
        }
    }
    svg.end("svg");
    svg
}

fn square(svg: &mut Svg, (x, y): (f64, f64), day: Option<&Day>, most: f64) {
    let class = day.map_or_else(|| "none".to_owned(), |day| format!("h{}", shade(day.changes as f64, most)));
    let place = [
        ("class", (&class).into()),
        ("x", x.into()),
        ("y", y.into()),
        ("width", 22.0.into()),
        ("height", 22.0.into()),
        ("rx", 3.0.into()),
    ];
    svg.begin("rect", &place);
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn each_day_has_its_place_in_its_week() {
        // A Wednesday.
        let today = date(2026, 12, 23);
        let days =
            [Day { date: date(2026, 12, 21), visits: 2, changes: 1 }, Day { date: today, visits: 1, changes: 0 }];
        let drawn = calendar(&days, today, 2).to_string();
        assert_eq!(drawn.matches("<rect").count(), 7 + 3 + 1, "a week, three days of the next, and the ring of today");
        assert!(drawn.contains("<title>21 Dec: 1 change, 2 visits</title>"), "{drawn}");
        assert!(drawn.contains("class=\"h4\" x=\"64\" y=\"20\""), "{drawn}");
    }
}
