//! Hours by days: the changes of a site in each hour of the week.

use super::calendar::shade;
use super::svg::Svg;

const WIDE: f64 = 22.0;
const TALL: f64 = 15.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 16.0;
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// One figure for each hour of the week from Monday on; `None` where nothing is known of the hour.
pub fn heat(hours: &[Option<f64>; 168], label: &str) -> Svg {
    let most = hours.iter().flatten().copied().fold(0.0, f64::max);
    let mut svg = Svg::new();
    let (width, height) = (LEFT + 24.0 * (WIDE + 2.0), TOP + 7.0 * (TALL + 2.0));
    let frame = [
        ("class", "heat".into()),
        ("width", width.into()),
        ("height", height.into()),
        ("role", "img".into()),
        ("aria-label", label.into()),
    ];
    svg.begin("svg", &frame);
    for hour in (0..24u32).step_by(3) {
        let x = LEFT + f64::from(hour) * (WIDE + 2.0);
        svg.word("text", &[("x", x.into()), ("y", 10.0.into())], &format!("{hour:02}"));
    }
    for (place, amount) in hours.iter().enumerate() {
        let (day, hour) = (place / 24, place % 24);
        let (x, y) = (LEFT + hour as f64 * (WIDE + 2.0), TOP + day as f64 * (TALL + 2.0));
        if hour == 0 {
            svg.word("text", &[("x", 0.0.into()), ("y", (y + 12.0).into())], DAYS[day]);
        }
        let class = amount.map_or_else(|| "none".to_owned(), |amount| format!("h{}", shade(amount, most)));
        let place = [
            ("class", (&class).into()),
            ("x", x.into()),
            ("y", y.into()),
            ("width", WIDE.into()),
            ("height", TALL.into()),
            ("rx", 2.0.into()),
        ];
        let figure = amount
            .map_or_else(|| "nothing known".to_owned(), |amount| crate::numbers::counted(amount as u64, "change"));
        svg.begin("rect", &place).word("title", &[], &format!("{} {hour:02} h: {figure}", DAYS[day])).end("rect");
    }
    svg.end("svg");
    svg
}
