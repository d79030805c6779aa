//! The words of a paragraph with wildcards where it varies.
//!
//! ```text
//! Views: # today        `#` inside of a word: a number; what stands around it is fixed, so `€#` is no `$#`
//! Updated # @ ago       `@`: a word of time (a month, a weekday, minutes, yesterday)
//! Request ~             `~`: a token, letters and digits mixed
//! Newest member: *      `*`: any one word
//! Seen ** here          `**`: none to six words
//! =31:9f86d081884c7d65  so many fixed words, by their digest: only the first and last of a long run are spelled out
//! \#1                   a letter that is meant as it is
//! ```
//!
//! A shape holds the fixed words to the letter: a real edit beside a counter does not match it.

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

use super::times::{STAYING, is_time};

/// Words of a paragraph that may be held against a shape; longer ones have none.
pub(super) const WORDS_MAX: usize = 2_000;
/// What `**` may stand for.
const RUN_WORDS_MAX: usize = 6;
/// Free words, beyond which nothing but the place is left of a paragraph. `**` counts as two.
const FREE_WORDS_MAX: usize = 3;
/// Wildcards of a shape.
const WILDCARDS_MAX: usize = 24;
/// A longer run of fixed words keeps so many at each end spelled out.
const SPELLED_WORDS: usize = 5;
/// The largest table of the longest common subsequence of words.
const CELLS_MAX: usize = 250_000;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Word(Box<str>),
    /// Words by count and digest.
    Fixed(usize, u64),
    /// A word with numbers in it, by what stands around them.
    Numbered(Box<str>),
    Time,
    Token,
    Any,
    Run,
}

/// A paragraph's words, fixed and free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(Vec<Piece>);

/// What two texts of one paragraph have in common.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Generalised {
    pub shape: Shape,
    /// Words vary that the shape before held fixed.
    pub grown: bool,
    /// Some of what varies is a number, or a word of time.
    pub numbers: bool,
}

impl Shape {
    /// Reads the written form; every text is some shape.
    pub fn parse(text: &str) -> Shape {
        Shape(text.split_whitespace().take(WORDS_MAX).map(Piece::parse).collect())
    }

    pub fn text(&self) -> Box<str> {
        let mut text = String::new();
        for piece in &self.0 {
            if !text.is_empty() {
                text.push(' ');
            }
            piece.write(&mut text);
        }
        text.into()
    }

    pub fn matches(&self, text: &str) -> bool {
        // Most paragraphs of a page begin otherwise, and every one of them is asked.
        if let Some(Piece::Word(first)) = self.0.first()
            && text.split_whitespace().next() != Some(&**first)
        {
            return false;
        }
        let words = words(text);
        words.len() <= WORDS_MAX && self.masks(&words).is_some()
    }

    /// Whether no word is fixed, so that only the place tells which paragraph is meant.
    pub fn is_bare(&self) -> bool {
        !self.0.iter().any(|piece| matches!(piece, Piece::Word(_) | Piece::Fixed(..)))
    }

    pub(super) fn is_token_only(&self) -> bool {
        self.wildcards().all(|piece| *piece == Piece::Token)
    }

    pub(super) fn has_numbers(&self) -> bool {
        self.wildcards().any(|piece| matches!(piece, Piece::Numbered(_) | Piece::Time))
    }

    /// Whether enough is fixed for the shape to say which paragraph is meant and what of it varies.
    fn is_telling(&self) -> bool {
        let free: usize = self.0.iter().map(Piece::freedom).sum();
        let wildcards = self.wildcards().count();
        let bare_and_free = self.is_bare() && free > 0;
        (1..=WILDCARDS_MAX).contains(&wildcards) && free <= FREE_WORDS_MAX && !bare_and_free
    }

    fn wildcards(&self) -> impl Iterator<Item = &Piece> {
        self.0.iter().filter(|piece| !matches!(piece, Piece::Word(_) | Piece::Fixed(..)))
    }

    /// For each word the wildcard that covers it, if the words match.
    fn masks(&self, words: &[&str]) -> Option<Vec<Option<Piece>>> {
        let mut masks = vec![None; words.len()];
        self.mask_from(0, words, 0, &mut masks).then_some(masks)
    }

    fn mask_from(&self, mut at: usize, words: &[&str], mut place: usize, masks: &mut [Option<Piece>]) -> bool {
        while let Some(piece) = self.0.get(at) {
            match piece {
                Piece::Run => {
                    // Shortest first; each run is tried at most seven times, and there is at most one per shape.
                    return (0..=RUN_WORDS_MAX.min(words.len() - place)).any(|taken| {
                        masks[place..].fill(None);
                        masks[place..place + taken].fill(Some(Piece::Run));
                        self.mask_from(at + 1, words, place + taken, masks)
                    });
                }
                Piece::Fixed(count, digest) => {
                    let Some(run) = words.get(place..place + count) else { return false };
                    if digest_of(run) != *digest {
                        return false;
                    }
                    place += count;
                }
                piece => {
                    let Some(word) = words.get(place).filter(|word| piece.covers(word)) else { return false };
                    let _ = word;
                    masks[place] = (!matches!(piece, Piece::Word(_))).then(|| piece.clone());
                    place += 1;
                }
            }
            at += 1;
        }
        place == words.len()
    }
}

/// The shape of two texts, which is wide enough for everything that the shape `before` allowed as well; `None` where too
/// little stays.
pub(super) fn generalise(old: &str, new: &str, known: Option<&Shape>) -> Option<Generalised> {
    let (old, new) = (words(old), words(new));
    if old.is_empty() || new.is_empty() || old.len() > WORDS_MAX || new.len() > WORDS_MAX {
        return None;
    }
    let masks = known.and_then(|shape| shape.masks(&old));
    if let (Some(shape), Some(_)) = (known, &masks)
        && shape.masks(&new).is_some()
    {
        let numbers = shape.has_numbers();
        return Some(Generalised { shape: shape.clone(), grown: false, numbers });
    }
    let mut made = Making { grown: false, numbers: false, pieces: Vec::new(), has_run: false };
    let masks = masks.unwrap_or_else(|| vec![None; old.len()]);
    let (mut i, mut j) = (0, 0);
    for (a, b) in matched(&old, &new)?.into_iter().chain([(old.len(), new.len())]) {
        made.gap(&old[i..a], &masks[i..a], &new[j..b])?;
        if a < old.len() {
            made.pieces.push(masks[a].clone().unwrap_or_else(|| Piece::Word(old[a].into())));
        }
        (i, j) = (a + 1, b + 1);
    }
    let Making { grown, numbers, mut pieces, has_run } = made;
    soften_times(&mut pieces);
    if !has_run {
        join_free(&mut pieces);
    }
    let shape = Shape(packed(pieces));
    let numbers = numbers || shape.has_numbers();
    shape.is_telling().then_some(Generalised { shape, grown: grown && known.is_some(), numbers })
}

/// The shape with its wildcards, its fixed words taken from a text in which some of them changed.
pub(super) fn fixed_anew(shape: &Shape, old: &str, new: &str) -> Option<Shape> {
    let (old, new) = (words(old), words(new));
    let masks = shape.masks(&old)?;
    if old.len() != new.len() {
        return None;
    }
    let pieces = masks.into_iter().zip(&new).map(|(mask, word)| match mask {
        Some(piece) if piece.covers(word) => piece,
        _ => Piece::Word((*word).into()),
    });
    let shape = Shape(packed(pieces.collect()));
    shape.is_telling().then_some(shape)
}

struct Making {
    grown: bool,
    numbers: bool,
    has_run: bool,
    pieces: Vec<Piece>,
}

impl Making {
    /// What stands between words that both have.
    fn gap(&mut self, old: &[&str], masks: &[Option<Piece>], new: &[&str]) -> Option<()> {
        let is_run = masks.contains(&Some(Piece::Run));
        if old.len() == new.len() && !is_run {
            for ((old, mask), new) in old.iter().zip(masks).zip(new) {
                self.word(old, mask.as_ref(), new);
            }
            return Some(());
        }
        if self.has_run || old.len().max(new.len()) > RUN_WORDS_MAX {
            return None;
        }
        self.has_run = true;
        self.grown |= !is_run;
        self.numbers |= old.iter().chain(new).any(|word| is_number(word));
        self.pieces.push(Piece::Run);
        Some(())
    }

    fn word(&mut self, old: &str, mask: Option<&Piece>, new: &str) {
        let piece = match mask {
            Some(piece) if piece.covers(new) => piece.clone(),
            mask => {
                self.grown = true;
                if mask.is_some() { Piece::Any } else { Piece::of_both(old, new) }
            }
        };
        self.numbers |= is_number(old) || is_number(new);
        self.pieces.push(piece);
    }
}

impl Piece {
    /// The narrowest wildcard for two words.
    fn of_both(one: &str, other: &str) -> Piece {
        let frame = frame(one);
        let tokens = (is_token(one) || is_token(other)) && may_be_token(one) && may_be_token(other);
        match () {
            () if tokens => Piece::Token,
            () if frame.contains('#') && frame == self::frame(other) => Piece::Numbered(frame.into()),
            () if is_time(one) && is_time(other) => Piece::Time,
            () => Piece::Any,
        }
    }

    fn covers(&self, word: &str) -> bool {
        match self {
            Piece::Word(fixed) => **fixed == *word,
            Piece::Numbered(around) => frame(word) == **around,
            Piece::Time => is_time(word),
            Piece::Token => may_be_token(word),
            Piece::Any => true,
            Piece::Fixed(..) | Piece::Run => false,
        }
    }

    fn freedom(&self) -> usize {
        match self {
            Piece::Any => 1,
            Piece::Run => 2,
            _ => 0,
        }
    }

    fn parse(word: &str) -> Piece {
        match word {
            "@" => return Piece::Time,
            "~" => return Piece::Token,
            "*" => return Piece::Any,
            "**" => return Piece::Run,
            _ => {}
        }
        let fixed = word.strip_prefix('=').and_then(|rest| rest.split_once(':'));
        if let Some((Ok(count), Ok(digest))) =
            fixed.map(|(count, digest)| (count.parse::<u16>(), u64::from_str_radix(digest, 16)))
            && count > 0
        {
            return Piece::Fixed(usize::from(count), digest);
        }
        let (mut plain, mut numbered, mut letters) = (String::new(), false, word.chars());
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => plain.extend(letters.next()),
                '#' => {
                    numbered = true;
                    plain.push('#');
                }
                letter => plain.push(letter),
            }
        }
        if numbered { Piece::Numbered(plain.into()) } else { Piece::Word(plain.into()) }
    }

    fn write(&self, text: &mut String) {
        let escape = |text: &mut String, word: &str, special: &[char]| {
            for letter in word.chars() {
                if special.contains(&letter) {
                    text.push('\\');
                }
                text.push(letter);
            }
        };
        match self {
            Piece::Word(word) => escape(text, word, &['#', '@', '~', '*', '=', '\\']),
            Piece::Numbered(frame) => escape(text, frame, &['\\', '=']),
            Piece::Fixed(count, digest) => {
                let _ = write!(text, "={count}:{digest:016x}");
            }
            Piece::Time => text.push('@'),
            Piece::Token => text.push('~'),
            Piece::Any => text.push('*'),
            Piece::Run => text.push_str("**"),
        }
    }
}

pub(super) fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().take(WORDS_MAX + 1).collect()
}

/// Pairs of places of words that both have, in order; `None` when that would take too long to find.
fn matched(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    let in_place: Vec<(usize, usize)> =
        (0..old.len().min(new.len())).filter(|&place| old[place] == new[place]).map(|place| (place, place)).collect();
    // Words that keep their places are no accident; the longest run in common may pair a counter with its neighbour.
    if old.len() == new.len() && in_place.len() * 2 >= old.len() {
        return Some(in_place);
    }
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if a.len() * b.len() > CELLS_MAX {
        return None;
    }
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|place| (place, place)).collect();
    pairs.extend(common(a, b).into_iter().map(|(x, y)| (head + x, head + y)));
    pairs.extend((0..tail).rev().map(|back| (old.len() - 1 - back, new.len() - 1 - back)));
    Some(pairs)
}

/// The longest common subsequence by its table.
fn common(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut table = vec![0u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = match a[i] == b[j] {
                true => table[(i + 1) * width + j + 1] + 1,
                false => table[(i + 1) * width + j].max(table[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// A word of time beside a number that varies will vary too: `3 minutes` becomes `1 hour`.
fn soften_times(pieces: &mut [Piece]) {
    for place in 0..pieces.len() {
        let varies = |near: Option<&Piece>| matches!(near, Some(Piece::Numbered(_) | Piece::Time));
        let beside =
            varies(pieces.get(place + 1)) || varies(place.checked_sub(1).and_then(|before| pieces.get(before)));
        if beside && matches!(&pieces[place], Piece::Word(word) if is_time(word) && !STAYING.contains(&&**word)) {
            pieces[place] = Piece::Time;
        }
    }
}

/// Two free words side by side are a name or the like, and the next may have three.
fn join_free(pieces: &mut Vec<Piece>) {
    let Some(start) = pieces.windows(2).position(|pair| pair[0] == Piece::Any && pair[1] == Piece::Any) else { return };
    let end = start + pieces[start..].iter().take_while(|piece| **piece == Piece::Any).count();
    if end - start <= RUN_WORDS_MAX {
        pieces.splice(start..end, [Piece::Run]);
    }
}

/// Long runs of fixed words by their digest.
fn packed(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut packed = Vec::with_capacity(pieces.len());
    let mut run: Vec<Piece> = Vec::new();
    for piece in pieces {
        if !matches!(piece, Piece::Word(_)) {
            pack(&mut run, &mut packed);
            packed.push(piece);
        } else {
            run.push(piece);
        }
    }
    pack(&mut run, &mut packed);
    packed
}

fn pack(run: &mut Vec<Piece>, packed: &mut Vec<Piece>) {
    if run.len() <= SPELLED_WORDS * 2 + 2 {
        packed.append(run);
        return;
    }
    let middle: Vec<&str> = run[SPELLED_WORDS..run.len() - SPELLED_WORDS]
        .iter()
        .map(|piece| if let Piece::Word(word) = piece { word } else { "" })
        .collect();
    let fixed = Piece::Fixed(middle.len(), digest_of(&middle));
    let tail = run.split_off(run.len() - SPELLED_WORDS);
    packed.extend(run.drain(..SPELLED_WORDS));
    packed.push(fixed);
    packed.extend(tail);
    run.clear();
}

fn digest_of(words: &[&str]) -> u64 {
    xxh3_64(words.join(" ").as_bytes())
}

/// The word with `#` for each number in it; a thousands mark, a decimal point and a colon belong to a number.
fn frame(word: &str) -> String {
    let mut frame = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_numeric() {
            frame.push(letter);
            continue;
        }
        while letters.next_if(|next| next.is_numeric() || matches!(next, '.' | ',' | ':' | '\'')).is_some() {}
        frame.push('#');
    }
    frame
}

/// Letters and digits mixed, as no word has them.
fn is_token(word: &str) -> bool {
    const LETTERS_MIN: usize = 8;
    let core = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let digits = core.chars().filter(char::is_ascii_digit).count();
    let letters = core.chars().filter(char::is_ascii_alphabetic).count();
    let separate = core.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mixed = separate.filter(|part| {
        part.bytes().any(|byte| byte.is_ascii_digit()) && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    digits + letters >= LETTERS_MIN && digits >= 2 && letters >= 2 && mixed.count() > 0
}

/// A token in which letters are few by chance, too.
fn may_be_token(word: &str) -> bool {
    const LETTERS_MIN: usize = 12;
    let core = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    is_token(word) || (core.len() >= LETTERS_MIN && core.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A number, or a word that dates are made of.
pub(super) fn is_number(word: &str) -> bool {
    (word.chars().any(char::is_numeric) && !is_token(word)) || is_time(word)
}
