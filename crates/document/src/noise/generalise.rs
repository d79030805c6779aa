//! Makes the shape that two texts of one paragraph have in common.

use foldhash::{HashMap, HashMapExt};

use super::shape::{RUN_WORDS_MAX, Shape, WILDCARDS_MAX, WORDS_MAX, digest_of, word_count, words};
use super::shape_word::ShapeWord;
use super::times::{STAYING, is_time};

/// A longer run of fixed words keeps so many words at each end; the rest is a digest.
const SPELLED_WORDS: usize = 5;
/// The largest table of the longest common subsequence of words.
const CELLS_MAX: usize = 250_000;
/// With more words on one side only there is no shape. Each such word becomes a wildcard, except that runs and free words are
/// merged.
const LONE_WORDS_MAX: usize = WILDCARDS_MAX + 2 * RUN_WORDS_MAX;

/// The common shape of two texts of one paragraph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Generalised {
    pub shape: Shape,
    /// Whether words vary that the previous shape had as fixed.
    pub grown: bool,
}

/// The shape of two texts. It also matches everything that the shape `before` matched. `None` where too few words stay.
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
        return Some(Generalised { shape: shape.clone(), grown: false });
    }
    if is_other_length(old.len(), new.len()) {
        return None;
    }
    let mut made = ShapeBuilder { grown: false, pieces: Vec::new(), has_run: false };
    let masks = masks.unwrap_or_else(|| vec![None; old.len()]);
    let (mut i, mut j) = (0, 0);
    for (a, b) in matched(&old, &new)?.into_iter().chain([(old.len(), new.len())]) {
        made.gap(&old[i..a], &masks[i..a], &new[j..b])?;
        if a < old.len() {
            made.pieces.push(masks[a].clone().unwrap_or_else(|| ShapeWord::Word(old[a].into())));
        }
        (i, j) = (a + 1, b + 1);
    }
    let ShapeBuilder { grown, mut pieces, has_run } = made;
    soften_times(&mut pieces);
    if !has_run {
        join_free(&mut pieces);
    }
    let shape = Shape(packed(pieces));
    shape.is_telling().then_some(Generalised { shape, grown: grown && known.is_some() })
}

/// Only a run may match different numbers of words on the two sides.
fn is_other_length(old: usize, new: usize) -> bool {
    old.abs_diff(new) > RUN_WORDS_MAX
}

/// The shape with its wildcards and with the fixed words of a text in which some of them changed.
pub(super) fn fixed_anew(shape: &Shape, old: &str, new: &str) -> Option<Shape> {
    let (old, new) = (words(old), words(new));
    let masks = shape.masks(&old)?;
    if old.len() != new.len() {
        return None;
    }
    let pieces = masks.into_iter().zip(&new).map(|(mask, word)| match mask {
        Some(piece) if piece.covers(word) => piece,
        _ => ShapeWord::Word((*word).into()),
    });
    let shape = Shape(packed(pieces.collect()));
    shape.is_telling().then_some(shape)
}

struct ShapeBuilder {
    grown: bool,
    has_run: bool,
    pieces: Vec<ShapeWord>,
}

impl ShapeBuilder {
    /// The words between two common words.
    fn gap(&mut self, old: &[&str], masks: &[Option<ShapeWord>], new: &[&str]) -> Option<()> {
        let is_run = masks.contains(&Some(ShapeWord::Run));
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
        self.pieces.push(ShapeWord::Run);
        Some(())
    }

    fn word(&mut self, old: &str, mask: Option<&ShapeWord>, new: &str) {
        let piece = match mask {
            Some(piece) if piece.covers(new) => piece.clone(),
            mask => {
                self.grown = true;
                if mask.is_some() { ShapeWord::Any } else { ShapeWord::of_both(old, new) }
            }
        };
        self.pieces.push(piece);
    }
}

/// The pairs of indices of common words, in order. `None` when finding them would take too long.
fn matched(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    // Words at equal positions are matched first: the longest common subsequence may pair a counter with its neighbour.
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

/// Numbers the words so that equal words have equal numbers, and counts the words that both have in any order.
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

/// The longest common subsequence, by dynamic programming.
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

/// A word of time next to a number that varies will vary too: `3 minutes` becomes `1 hour`.
fn soften_times(pieces: &mut [ShapeWord]) {
    for place in 0..pieces.len() {
        let varies = |near: Option<&ShapeWord>| matches!(near, Some(ShapeWord::Numbered(_) | ShapeWord::Time));
        let beside =
            varies(pieces.get(place + 1)) || varies(place.checked_sub(1).and_then(|before| pieces.get(before)));
        if beside && matches!(&pieces[place], ShapeWord::Word(word) if is_time(word) && !STAYING.contains(&&**word)) {
            pieces[place] = ShapeWord::Time;
        }
    }
}

/// Two adjacent free words may be a name, and the next name may have three words.
fn join_free(pieces: &mut Vec<ShapeWord>) {
    let Some(start) = pieces.windows(2).position(|pair| pair[0] == ShapeWord::Any && pair[1] == ShapeWord::Any) else {
        return;
    };
    let end = start + pieces[start..].iter().take_while(|piece| **piece == ShapeWord::Any).count();
    if end - start <= RUN_WORDS_MAX {
        pieces.splice(start..end, [ShapeWord::Run]);
    }
}

/// Replaces long runs of fixed words by their digest.
fn packed(pieces: Vec<ShapeWord>) -> Vec<ShapeWord> {
    let mut packed = Vec::with_capacity(pieces.len());
    let mut run: Vec<ShapeWord> = Vec::new();
    for piece in pieces {
        if !matches!(piece, ShapeWord::Word(_)) {
            pack(&mut run, &mut packed);
            packed.push(piece);
        } else {
            run.push(piece);
        }
    }
    pack(&mut run, &mut packed);
    packed
}

fn pack(run: &mut Vec<ShapeWord>, packed: &mut Vec<ShapeWord>) {
    if run.len() <= SPELLED_WORDS * 2 + 2 {
        packed.append(run);
        return;
    }
    let middle: Vec<&str> = run[SPELLED_WORDS..run.len() - SPELLED_WORDS]
        .iter()
        .map(|piece| if let ShapeWord::Word(word) = piece { word } else { "" })
        .collect();
    let fixed = ShapeWord::Fixed(middle.len(), digest_of(&middle));
    let tail = run.split_off(run.len() - SPELLED_WORDS);
    packed.extend(run.drain(..SPELLED_WORDS));
    packed.push(fixed);
    packed.extend(tail);
    run.clear();
}
