//! Two texts of one paragraph become a shape that both have.

use foldhash::{HashMap, HashMapExt};

use super::piece::{Piece, is_number};
use super::shape::{RUN_WORDS_MAX, Shape, WILDCARDS_MAX, WORDS_MAX, digest_of, word_count, words};
use super::times::{STAYING, is_time};

/// A longer run of fixed words keeps so many at each end spelled out.
const SPELLED_WORDS: usize = 5;
/// The largest table of the longest common subsequence of words.
const CELLS_MAX: usize = 250_000;
/// Words of one side alone, beyond which there is no shape: each is a wildcard of its own, but for a run and for free words
/// that become one.
const LONE_WORDS_MAX: usize = WILDCARDS_MAX + 2 * RUN_WORDS_MAX;

/// What two texts of one paragraph have in common.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Generalised {
    pub shape: Shape,
    /// Words vary that the shape before held fixed.
    pub grown: bool,
    /// Some of what varies is a number, or a word of time.
    pub numbers: bool,
}

/// The shape of two texts, which is wide enough for everything that the shape `before` allowed as well; `None` where too
/// little stays.
pub(super) fn generalise(old: &str, new: &str, known: Option<&Shape>) -> Option<Generalised> {
    if known.is_none() && word_count(old).zip(word_count(new)).is_some_and(|(old, new)| is_other_length(old, new)) {
        return None;
    }
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
    if is_other_length(old.len(), new.len()) {
        return None;
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

/// Only a run takes more words on one side than on the other.
fn is_other_length(old: usize, new: usize) -> bool {
    old.abs_diff(new) > RUN_WORDS_MAX
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

/// Pairs of places of words that both have, in order; `None` when that would take too long to find.
fn matched(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    // Words that keep their places are no accident; the longest run in common may pair a counter with its neighbour.
    if old.len() == new.len() {
        let mut in_place = Vec::with_capacity(old.len());
        in_place.extend((0..old.len()).filter(|&place| old[place] == new[place]).map(|place| (place, place)));
        if in_place.len() * 2 >= old.len() {
            return Some(in_place);
        }
    }
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if a.len() * b.len() > CELLS_MAX {
        return None;
    }
    let (a, b, shared) = numbered(a, b);
    if a.len().max(b.len()) - shared > LONE_WORDS_MAX {
        return None;
    }
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|place| (place, place)).collect();
    pairs.extend(common(&a, &b).into_iter().map(|(x, y)| (head + x, head + y)));
    pairs.extend((0..tail).rev().map(|back| (old.len() - 1 - back, new.len() - 1 - back)));
    Some(pairs)
}

/// Equal words by equal numbers, and how many the two have in common, whatever their order.
fn numbered(a: &[&str], b: &[&str]) -> (Vec<u32>, Vec<u32>, usize) {
    let mut numbers: HashMap<&str, u32> = HashMap::with_capacity(a.len());
    let mut left: Vec<u32> = Vec::with_capacity(a.len());
    let mut number = |word| {
        let next = left.len() as u32;
        let number = *numbers.entry(word).or_insert(next);
        if number == next {
            left.push(0);
        }
        left[number as usize] += 1;
        number
    };
    let first = a.iter().map(|word| number(word)).collect();
    let second: Vec<u32> = b.iter().map(|word| numbers.get(word).copied().unwrap_or(u32::MAX)).collect();
    let mut shared = 0;
    for &number in &second {
        if let Some(left) = left.get_mut(number as usize).filter(|left| **left > 0) {
            *left -= 1;
            shared += 1;
        }
    }
    (first, second, shared)
}

/// The longest common subsequence by its table.
fn common(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
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
