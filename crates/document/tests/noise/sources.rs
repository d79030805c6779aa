//! Things that differ at every visit without meaning.

use vernal_model::Chance;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Source {
    ViewCount,
    Token,
    RelativeTime,
    Clock,
    UsersOnline,
    NewestMember,
    BareNumber,
    CounterInText,
    Quote,
    Related,
    Advertisement,
    Copyright,
}

/// Those that words alone give away.
pub const WORDED: [Source; 8] = [
    Source::ViewCount,
    Source::Token,
    Source::RelativeTime,
    Source::Clock,
    Source::UsersOnline,
    Source::NewestMember,
    Source::BareNumber,
    Source::CounterInText,
];

/// Those that replace whole paragraphs.
pub const REPLACED: [Source; 3] = [Source::Quote, Source::Related, Source::Advertisement];

const NAMES: [&str; 12] =
    ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "niaj"];
pub const QUOTES: [&str; 10] = [
    "Simplicity is a great virtue but it requires hard work.",
    "Premature optimization is the root of all evil in programming.",
    "What I cannot create, I do not understand.",
    "Talk is cheap, show me the code.",
    "Make it work, make it right, make it fast.",
    "Programs must be written for people to read.",
    "There are only two hard things: naming and caches.",
    "The best way out is always through the middle.",
    "An expert is one who made all the mistakes.",
    "Measure twice and cut once, says every carpenter.",
];
const UNITS: [&str; 4] = ["minutes", "hours", "days", "weeks"];

impl Source {
    /// Its HTML at one visit; `visit` grows, and so do counters.
    pub fn html(self, visit: u64, chance: &mut Chance) -> String {
        let count = 1_000 + visit * 37 + chance.below(30);
        match self {
            Source::ViewCount => format!("<p>Views: {},{:03} today</p>", count / 1_000, count % 1_000),
            Source::Token => format!("<p>Request id {:016x} was served by our front door</p>", chance.bits()),
            Source::RelativeTime => {
                let unit = chance.pick(&UNITS).unwrap();
                format!("<p>Last updated {} {unit} ago by the editors</p>", 2 + (visit * 5 + chance.below(4)) % 50)
            }
            Source::Clock => format!(
                "<p>Page generated on {} {} 2027 at {:02}:{:02}:{:02}</p>",
                1 + visit % 28,
                ["January", "February", "March"][(visit / 28 % 3) as usize],
                chance.below(24),
                chance.below(60),
                visit % 60
            ),
            Source::UsersOnline => format!("<p>{} members and {} guests are online</p>", count % 97, count % 89),
            Source::NewestMember => {
                format!("<p>Please welcome our newest member: {}</p>", NAMES[((visit * 5) % 12) as usize])
            }
            Source::BareNumber => format!("<div class=counter>{count}</div>"),
            Source::CounterInText => format!(
                "<p>The committee met again last spring in the old town hall, where after much talk {count} people signed the \
                 letter to the council about the road, the bridge and the school.</p>"
            ),
            Source::Quote => format!("<h3>Thought of the hour</h3><p>{}</p>", QUOTES[(visit * 3 % 10) as usize]),
            Source::Related => {
                let item = |chance: &mut Chance| {
                    let number = chance.below(16);
                    format!(
                        "<li><a href=/story/{number}>{}</a></li>",
                        QUOTES[(number % 10) as usize].replace(' ', " so ")
                    )
                };
                let items: String = (0..4).map(|_| item(chance)).collect();
                format!("<h3>You may also like</h3><ul>{items}</ul>")
            }
            Source::Advertisement => format!(
                "<div class=ad><p>{} now and save with {} today</p></div>",
                ["Buy shoes", "Fly south", "Rent a car", "Learn chess", "Drink tea"][(visit % 5) as usize],
                chance.pick(&NAMES).unwrap()
            ),
            Source::Copyright => format!("<p>Copyright the village press, build {}</p>", visit * 3 + 7),
        }
    }

    /// The same with a real edit of what is fixed in it.
    pub fn edited(self, visit: u64, chance: &mut Chance) -> Option<String> {
        let html = self.html(visit, chance);
        let (from, to) = match self {
            Source::ViewCount => ("today", "since the relaunch"),
            Source::Token => ("our front door", "another front door"),
            Source::RelativeTime => ("by the editors", "by the lawyers"),
            Source::Clock => ("generated", "withdrawn"),
            Source::UsersOnline => ("guests", "moderators"),
            Source::NewestMember => ("newest", "former"),
            Source::CounterInText => ("the bridge and", "the hospital and"),
            Source::Quote => ("Thought of the hour", "Notice of closure"),
            Source::Related => ("You may also like", "Retracted stories"),
            Source::Copyright => ("the village press", "the city press"),
            // Nothing is fixed in them.
            Source::BareNumber | Source::Advertisement => return None,
        };
        Some(html.replace(from, to))
    }
}
