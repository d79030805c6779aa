//! Words of time.

/// A month, a weekday, a unit of time, or a day relative to today, in the languages of most pages.
pub(super) fn is_time(word: &str) -> bool {
    const LETTERS_MAX: usize = 16;
    let core = word.trim_matches(|letter: char| !letter.is_alphabetic());
    if core.is_empty() || core.len() > LETTERS_MAX {
        return false;
    }
    let mut letters = [0; LETTERS_MAX];
    if core.is_ascii() {
        let lower = &mut letters[..core.len()];
        lower.copy_from_slice(core.as_bytes());
        lower.make_ascii_lowercase();
        return TIMES.binary_search_by(|time| time.as_bytes().cmp(lower)).is_ok();
    }
    TIMES.binary_search(&core.to_lowercase().as_str()).is_ok()
}

/// Sorted, for binary search.
const TIMES: [&str; 162] = [
    "abril",
    "agosto",
    "am",
    "ans",
    "août",
    "apr",
    "april",
    "aug",
    "august",
    "avril",
    "ayer",
    "año",
    "años",
    "day",
    "days",
    "dec",
    "december",
    "dezember",
    "diciembre",
    "dienstag",
    "dimanche",
    "domingo",
    "donnerstag",
    "décembre",
    "día",
    "días",
    "enero",
    "feb",
    "febrero",
    "februar",
    "february",
    "freitag",
    "fri",
    "friday",
    "février",
    "gestern",
    "heure",
    "heures",
    "heute",
    "hier",
    "hora",
    "horas",
    "hour",
    "hours",
    "hr",
    "hrs",
    "jahr",
    "jahre",
    "jahren",
    "jan",
    "januar",
    "january",
    "janvier",
    "jeudi",
    "jour",
    "jours",
    "jueves",
    "juillet",
    "juin",
    "jul",
    "juli",
    "julio",
    "july",
    "jun",
    "june",
    "juni",
    "junio",
    "lundi",
    "lunes",
    "mai",
    "mar",
    "march",
    "mardi",
    "mars",
    "martes",
    "marzo",
    "may",
    "mayo",
    "mercredi",
    "mes",
    "meses",
    "midnight",
    "min",
    "mins",
    "minute",
    "minuten",
    "minutes",
    "minutos",
    "mittwoch",
    "miércoles",
    "mois",
    "mon",
    "monat",
    "monate",
    "monaten",
    "monday",
    "montag",
    "month",
    "months",
    "märz",
    "noon",
    "nov",
    "november",
    "novembre",
    "noviembre",
    "now",
    "oct",
    "october",
    "octobre",
    "octubre",
    "oktober",
    "pm",
    "samedi",
    "samstag",
    "sat",
    "saturday",
    "sec",
    "second",
    "seconde",
    "secondes",
    "seconds",
    "secs",
    "segundos",
    "sekunde",
    "sekunden",
    "semaine",
    "semaines",
    "semanas",
    "sep",
    "sept",
    "september",
    "septembre",
    "septiembre",
    "sonntag",
    "stunde",
    "stunden",
    "sun",
    "sunday",
    "sábado",
    "tag",
    "tage",
    "tagen",
    "thu",
    "thur",
    "thurs",
    "thursday",
    "today",
    "tomorrow",
    "tue",
    "tues",
    "tuesday",
    "vendredi",
    "viernes",
    "wed",
    "wednesday",
    "week",
    "weeks",
    "woche",
    "wochen",
    "year",
    "years",
    "yesterday",
];

/// Words of time in counts, as in `5 views today`.
pub(super) const STAYING: [&str; 6] = ["today", "Today", "now", "Now", "heute", "Heute"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_time_are_found_in_every_case() {
        assert!(TIMES.is_sorted());
        for time in TIMES {
            assert!(is_time(time) && is_time(&time.to_uppercase()) && is_time(&format!("({time},")), "{time}");
        }
        for other in ["", "5", "mayor", "Augusta", "sunny", "a day or two later on"] {
            assert!(!is_time(other), "{other}");
        }
    }
}
