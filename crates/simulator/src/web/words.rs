//! The words that invented pages are written with, in five languages.

use vernal_model::Chance;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    French,
    Russian,
    Japanese,
}

impl Language {
    pub const ALL: [Language; 5] =
        [Language::English, Language::German, Language::French, Language::Russian, Language::Japanese];

    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::German => "de",
            Language::French => "fr",
            Language::Russian => "ru",
            Language::Japanese => "ja",
        }
    }

    fn words(self) -> &'static [&'static str] {
        match self {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
            Language::French => &FRENCH,
            Language::Russian => &RUSSIAN,
            Language::Japanese => &JAPANESE,
        }
    }
}

/// Adds a sentence of 6 to 14 words.
pub(crate) fn push_sentence(out: &mut String, language: Language, chance: &mut Chance) {
    let words = language.words();
    let count = 6 + chance.below(9);
    let (gap, comma, stop) = match language {
        Language::Japanese => ("", "、", "。"),
        _ => (" ", ", ", ". "),
    };
    let mut since_comma = 0;
    for index in 0..count {
        let word = words[chance.below(words.len() as u64) as usize];
        if index == 0 {
            push_capitalised(out, word);
        } else if since_comma > 3 && chance.happens(0.2) {
            out.push_str(comma);
            out.push_str(word);
            since_comma = 0;
        } else {
            out.push_str(gap);
            out.push_str(word);
        }
        since_comma += 1;
    }
    out.push_str(stop);
}

pub(super) fn push_paragraph(out: &mut String, language: Language, chance: &mut Chance) {
    for _ in 0..3 + chance.below(4) {
        push_sentence(out, language, chance);
    }
}

/// A heading of two to five words.
pub(super) fn title(language: Language, chance: &mut Chance) -> String {
    let words = language.words();
    let mut title = String::new();
    for index in 0..2 + chance.below(4) {
        let word = words[chance.below(words.len() as u64) as usize];
        if index == 0 {
            push_capitalised(&mut title, word);
        } else {
            title.push_str(if language == Language::Japanese { "" } else { " " });
            title.push_str(word);
        }
    }
    title
}

/// Two words for a path, in plain letters.
pub(super) fn slug(chance: &mut Chance) -> String {
    let mut draw = || ENGLISH[chance.below(ENGLISH.len() as u64) as usize];
    format!("{}-{}", draw(), draw())
}

/// Invented names lie under `.example`, which nobody can own (RFC 2606).
pub(super) fn site_name(number: usize, chance: &mut Chance) -> String {
    format!("{}{number}.example", ENGLISH[chance.below(ENGLISH.len() as u64) as usize])
}

fn push_capitalised(out: &mut String, word: &str) {
    let mut letters = word.chars();
    if let Some(first) = letters.next() {
        out.extend(first.to_uppercase());
        out.push_str(letters.as_str());
    }
}

#[rustfmt::skip]
const ENGLISH: [&str; 274] = [
    "the", "of", "and", "to", "in", "for", "with", "on", "by", "from", "about", "after", "before", "between", "under",
    "over", "through", "during", "without", "against", "within", "along", "among", "beyond", "toward", "upon",
    "harbour", "river", "mountain", "valley", "forest", "island", "village", "market", "bridge", "station", "garden",
    "library", "museum", "theatre", "school", "hospital", "factory", "workshop", "kitchen", "window", "street",
    "corner", "square", "tower", "castle", "church", "meadow", "orchard", "stream", "shore", "cliff", "desert",
    "winter", "summer", "autumn", "spring", "morning", "evening", "night", "hour", "minute", "season", "century",
    "decade", "history", "future", "moment", "weather", "storm", "thunder", "rain", "snow", "wind", "cloud", "sunlight",
    "shadow", "colour", "silver", "golden", "copper", "amber", "crimson", "violet", "green", "white", "black", "yellow",
    "people", "children", "family", "neighbour", "teacher", "doctor", "farmer", "sailor", "baker", "painter", "writer",
    "engineer", "merchant", "council", "committee", "company", "government", "minister", "president", "citizen",
    "traveller", "visitor", "stranger", "friend", "partner", "expert", "student", "professor", "research", "study",
    "result", "method", "measure", "number", "figure", "table", "chapter", "article", "report", "letter", "message",
    "answer", "question", "problem", "solution", "reason", "purpose", "effect", "cause", "change", "growth", "decline",
    "balance", "budget", "price", "value", "trade", "industry", "energy", "power", "engine", "machine", "vehicle",
    "railway", "airport", "vessel", "cargo", "freight", "journey", "passage", "route", "distance", "direction",
    "journal", "archive", "record", "document", "signal", "network", "system", "program", "device", "screen",
    "is", "was", "were", "has", "had", "will", "would", "could", "should", "may", "must", "became", "remains", "opened",
    "closed", "began", "ended", "grew", "fell", "rose", "moved", "turned", "reached", "crossed", "carried", "brought",
    "gathered", "promised", "announced", "explained", "described", "decided", "offered", "refused", "accepted",
    "discovered", "invented", "repaired", "replaced", "improved", "measured", "compared", "observed", "recorded",
    "published", "translated", "painted", "planted", "harvested", "delivered", "collected", "protected", "restored",
    "quietly", "slowly", "quickly", "carefully", "rarely", "often", "always", "never", "almost", "nearly", "perhaps",
    "certainly", "recently", "finally", "suddenly", "together", "apart", "early", "late", "again", "twice", "once",
    "small", "large", "narrow", "broad", "ancient", "modern", "distant", "local", "common", "unusual", "simple",
    "careful", "bright", "silent", "gentle", "heavy", "light", "deep", "shallow", "warm", "cold", "dry", "fresh",
];

#[rustfmt::skip]
const GERMAN: [&str; 80] = [
    "der", "die", "das", "und", "mit", "für", "über", "unter", "zwischen", "während", "nach", "vor", "bei", "durch",
    "Brücke", "Straße", "Gemüse", "Häuser", "Mädchen", "Bäcker", "Künstler", "Verkäufer", "Gebäude", "Fluss", "Berg",
    "Wald", "Stadt", "Dorf", "Markt", "Schule", "Bücherei", "Jahr", "Monat", "Woche", "Frühling", "Sommer", "Herbst",
    "Winter", "Morgen", "Abend", "Regierung", "Gesellschaft", "Wissenschaft", "Forschung", "Ergebnis", "Lösung",
    "Frage", "Antwort", "Änderung", "Größe", "ist", "war", "wird", "wurde", "hat", "hatte", "kann", "muss", "möchte",
    "öffnet", "schließt", "beginnt", "endet", "wächst", "fällt", "erklärt", "beschreibt", "entdeckt", "verändert",
    "schön", "grün", "weiß", "groß", "klein", "alt", "neu", "spät", "früh", "häufig", "selten",
];

#[rustfmt::skip]
const FRENCH: [&str; 76] = [
    "le", "la", "les", "des", "et", "avec", "pour", "sur", "sous", "entre", "pendant", "après", "avant", "dans",
    "forêt", "rivière", "montagne", "île", "château", "église", "musée", "théâtre", "école", "hôpital", "marché",
    "pont", "gare", "jardin", "bibliothèque", "année", "été", "hiver", "printemps", "automne", "matin", "soirée",
    "société", "gouvernement", "recherche", "résultat", "méthode", "problème", "réponse", "réunion", "écrivain",
    "élève", "médecin", "pêcheur", "boulangère", "voisin", "est", "était", "sera", "fut", "devient", "ouvre", "ferme",
    "commence", "décrit", "découvre", "protège", "préfère", "améliore", "compare", "grand", "petit", "ancien",
    "nouveau", "léger", "français", "très", "souvent", "déjà", "bientôt", "jamais", "peut-être",
];

#[rustfmt::skip]
const RUSSIAN: [&str; 72] = [
    "и", "в", "на", "с", "для", "под", "между", "после", "перед", "через", "около", "река", "гора", "лес", "остров",
    "город", "деревня", "рынок", "мост", "вокзал", "сад", "музей", "театр", "школа", "больница", "завод", "улица",
    "площадь", "башня", "берег", "зима", "лето", "осень", "весна", "утро", "вечер", "ночь", "год", "месяц", "неделя",
    "общество", "правительство", "наука", "исследование", "результат", "вопрос", "ответ", "решение", "причина",
    "журнал", "письмо", "книга", "был", "была", "будет", "стал", "может", "должен", "открыл", "закрыл", "начал",
    "описал", "сравнил", "изменил", "новый", "старый", "большой", "малый", "часто", "редко", "всегда", "никогда",
];

#[rustfmt::skip]
const JAPANESE: [&str; 64] = [
    "は", "が", "を", "に", "で", "と", "から", "まで", "の", "も", "川", "山", "森", "島", "村", "市場", "橋", "駅",
    "庭", "図書館", "博物館", "学校", "病院", "工場", "台所", "窓", "道", "広場", "城", "海岸", "冬", "夏", "秋", "春",
    "朝", "夕方", "夜", "時間", "年", "月", "週間", "社会", "政府", "研究", "結果", "方法", "問題", "答え", "手紙",
    "新聞", "です", "でした", "あります", "なりました", "開きました", "始まります", "終わりました", "変わります",
    "新しい", "古い", "大きい", "小さい", "静かな", "時々",
];
