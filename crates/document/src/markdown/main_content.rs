//! Which pieces of a page are its main content.
//!
//! What stands around the content is known by its element, its role, the name that the author gave it, or because it is nearly all
//! links. Of the rest, the part counts that the author marked as the main one; without a mark, the part that holds most of the
//! prose.

use vernal_model::Role;

use super::containers::{Container, Containers, Kind};
use super::pieces::{Piece, Shape};

/// An element that holds less than this share of the words is not the main part, whatever it is called.
const MAIN_SHARE_MIN: f64 = 0.25;
/// The part with the prose holds at least this share of it.
const PROSE_SHARE_MIN: f64 = 0.7;
/// A list of which more is links is a menu.
const LINKED_SHARE_MAX: f64 = 0.7;
/// A paragraph alone of which more is links is one too.
const LINKED_LINE_SHARE_MAX: f64 = 0.85;
/// With fewer words, the tests were too strict for this page.
const LETTERS_MIN: usize = 100;

/// For each piece whether it is of the main content.
pub fn main_content(pieces: &[Piece], containers: &Containers) -> Vec<bool> {
    let clean: Vec<bool> = pieces.iter().map(|piece| is_clean(piece, containers)).collect();
    let all = letters(pieces, &clean);
    let root = root(pieces, &clean, containers, all);
    let inside: Vec<bool> = pieces
        .iter()
        .zip(&clean)
        .map(|(piece, clean)| {
            *clean
                && containers.contains(root, piece.container)
                && !containers.is_in(piece.container, Kind::Boilerplate, root)
        })
        .collect();
    let chosen: Vec<bool> =
        pieces.iter().zip(&inside).map(|(piece, inside)| *inside && !is_linked(piece, containers, root)).collect();
    let chosen = without_lonely_headings(pieces, chosen);
    let enough = |chosen: &[bool]| letters(pieces, chosen) >= LETTERS_MIN;
    match () {
        () if enough(&chosen) => chosen,
        () if enough(&inside) => inside,
        () if enough(&clean) || all > 0 => clean,
        // Where everything looks like boilerplate, nothing is.
        () => vec![true; pieces.len()],
    }
}

fn letters(pieces: &[Piece], chosen: &[bool]) -> usize {
    pieces.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(piece, _)| piece.letters).sum()
}

fn is_clean(piece: &Piece, containers: &Containers) -> bool {
    !matches!(piece.role, Role::Navigation | Role::Footer) && !containers.is_in(piece.container, Kind::Boilerplate, 0)
}

/// The container with the main content.
fn root(pieces: &[Piece], clean: &[bool], containers: &Containers, all: usize) -> usize {
    // Clean words, and those of prose, of each container with all that it contains.
    let count = containers.all.len();
    let (mut letters, mut prose) = (vec![0; count], vec![0; count]);
    for (piece, _) in pieces.iter().zip(clean).filter(|(_, clean)| **clean) {
        letters[piece.container] += piece.letters;
        if matches!(piece.shape, Shape::Text) {
            prose[piece.container] += piece.letters.saturating_sub(piece.linked);
        }
    }
    for at in (1..count).rev() {
        let parent = containers.all[at].parent;
        letters[parent] += letters[at];
        prose[parent] += prose[at];
    }
    let of_kind = |kind: Kind| {
        let marked = containers.all.iter().enumerate().filter(|(_, container)| container.kind == kind);
        marked.map(|(at, _)| at).max_by_key(|&at| (letters[at], std::cmp::Reverse(at)))
    };
    let is_enough = |at: &usize| letters[*at] as f64 >= MAIN_SHARE_MIN * all as f64 && letters[*at] > 0;
    let main = of_kind(Kind::Main).filter(is_enough).unwrap_or(0);
    let article = of_kind(Kind::Article).filter(|&at| containers.contains(main, at));
    // An index shows many articles, and none of them alone is the page.
    let article = article.filter(|&at| letters[at] as f64 >= ARTICLE_SHARE_MIN * letters[main] as f64);
    match (article, main) {
        (Some(article), _) => article,
        (None, 0) => most_prose(&containers.all, &prose),
        (None, main) => main,
    }
}

/// An article that holds less of the main part is one of several.
const ARTICLE_SHARE_MIN: f64 = 0.4;

/// Goes down from the page as long as one child holds most of the prose.
fn most_prose(containers: &[Container], prose: &[usize]) -> usize {
    let all = prose.first().copied().unwrap_or(0);
    let mut best = 0;
    for (at, container) in containers.iter().enumerate().skip(1) {
        // A container comes after the one around it.
        let holds_most = prose[at] as f64 >= PROSE_SHARE_MIN * all as f64;
        if holds_most && prose[at] > 0 && container.parent == best && container.kind != Kind::List {
            best = at;
        }
    }
    best
}

/// Whether it is one of a list of links, or a line that is nearly all links.
fn is_linked(piece: &Piece, containers: &Containers, root: usize) -> bool {
    if matches!(piece.shape, Shape::Heading(_) | Shape::Code(_) | Shape::Rule) {
        return false;
    }
    let share = |letters: usize, linked: usize| linked as f64 / letters.max(1) as f64;
    let mut next = piece.container;
    while next != root && next != 0 {
        let container = &containers.all[next];
        if container.kind == Kind::List && share(container.letters, container.linked) > LINKED_SHARE_MAX {
            return true;
        }
        next = container.parent;
    }
    let holder = &containers.all[piece.container];
    share(piece.letters, piece.linked) > LINKED_LINE_SHARE_MAX
        && share(holder.letters, holder.linked) > LINKED_SHARE_MAX
}

/// A heading whose whole part was left out has nothing to say.
fn without_lonely_headings(pieces: &[Piece], mut chosen: Vec<bool>) -> Vec<bool> {
    // The level of the last heading with nothing under it yet, read backwards.
    let mut dropped_since = false;
    let mut kept_since = false;
    for at in (0..pieces.len()).rev() {
        match pieces[at].shape {
            Shape::Heading(_) => {
                if chosen[at] && dropped_since && !kept_since {
                    chosen[at] = false;
                }
                (dropped_since, kept_since) = (false, chosen[at]);
            }
            Shape::Rule => {}
            // Images without words.
            _ if pieces[at].letters == 0 => {}
            _ if chosen[at] => kept_since = true,
            _ => dropped_since = true,
        }
    }
    chosen
}
