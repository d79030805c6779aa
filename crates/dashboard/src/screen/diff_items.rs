//! A diff in reading order: runs of unchanged paragraphs, headings, and paragraphs with their two sides.

use super::told;
use crate::answers::DiffParagraph;
use crate::words::{self, Piece};

/// Unchanged paragraphs that stay visible around a change, side by side.
const AROUND: usize = 1;

/// One line of the diff.
pub struct Item {
    /// `run`, `heading`, `same` or `para`.
    pub form: &'static str,
    pub class: &'static str,
    pub op: String,
    pub id: Option<String>,
    /// Where a move leads from or to.
    pub joins: Option<String>,
    /// The unchanged paragraphs of a run.
    pub run: Vec<String>,
    pub left: Option<Vec<Piece>>,
    pub right: Option<Vec<Piece>>,
    pub whole: Vec<Piece>,
}

impl Item {
    fn of(form: &'static str) -> Item {
        Item {
            form,
            class: "same",
            op: String::new(),
            id: None,
            joins: None,
            run: Vec::new(),
            left: None,
            right: None,
            whole: Vec::new(),
        }
    }

    /// Whether the other side says the same with everything that changed, so that small screens show one side only.
    pub fn has_twin(&self) -> bool {
        self.joins.is_some() || (self.left.is_some() && self.right.is_some())
    }

    pub fn is(&self, form: &str) -> bool {
        self.form == form
    }

    fn unchanged(one: &DiffParagraph) -> Item {
        let text = words::paragraph(one.after.as_deref().or(one.before.as_deref()).unwrap_or_default());
        let form = if is_heading(one) { "heading" } else { "same" };
        Item { id: one.id.clone(), whole: vec![Piece::new("", text)], ..Item::of(form) }
    }

    fn changed(one: &DiffParagraph) -> Item {
        let (left, right) = sides(one);
        let whole = whole(one, left.as_deref(), right.as_deref());
        let is_move = one.op == "moved" && one.from.is_some();
        Item {
            class: told::class(&one.op),
            op: told::op(&one.op, one.from, one.position),
            id: one.id.clone(),
            joins: one.id.clone().filter(|_| is_move),
            // The place it came from has a line of its own.
            left: if is_move { None } else { left },
            right,
            whole,
            ..Item::of("para")
        }
    }

    /// Where a paragraph stood that stands elsewhere now.
    fn moved_away(one: &DiffParagraph) -> Item {
        let to = format!("moved to place {}", one.position + 1);
        let text = one.before.as_deref().or(one.after.as_deref()).unwrap_or_default();
        let left = sides(one).0.unwrap_or_else(|| vec![Piece::new("", words::paragraph(text))]);
        Item { class: "moved", op: to, joins: one.id.clone(), left: Some(left), ..Item::of("para") }
    }
}

fn is_heading(one: &DiffParagraph) -> bool {
    one.role == "heading"
}

/// The old and the new words, with what went and what came.
fn sides(one: &DiffParagraph) -> (Option<Vec<Piece>>, Option<Vec<Piece>>) {
    let plain = |text: &Option<String>| text.as_deref().map(|text| vec![Piece::new("", words::paragraph(text))]);
    if one.words.is_empty() {
        return match (&one.before, &one.after) {
            (Some(before), Some(after)) if before != after => {
                let (before, after) = words::between(before, after);
                (Some(before), Some(after))
            }
            (before, after) => (plain(before), plain(after)),
        };
    }
    let side = |left_out: &str, mark: &'static str| {
        let stay = one.words.iter().filter(|edit| edit.op != left_out);
        stay.flat_map(|edit| Piece::marked(if edit.op == "same" { "" } else { mark }, &edit.text)).collect()
    };
    (Some(side("added", "del")), Some(side("removed", "ins")))
}

/// Both sides as one text.
fn whole(one: &DiffParagraph, left: Option<&[Piece]>, right: Option<&[Piece]>) -> Vec<Piece> {
    if !one.words.is_empty() {
        let mark = |op: &str| match op {
            "added" => "ins",
            "removed" => "del",
            _ => "",
        };
        return one.words.iter().flat_map(|edit| Piece::marked(mark(&edit.op), &edit.text)).collect();
    }
    match (left, right) {
        (Some(left), Some(right)) if left != right => {
            let gone = left.iter().map(|piece| Piece::new("del", &*piece.text));
            gone.chain([Piece::new("", " ")]).chain(right.iter().map(|piece| Piece::new("ins", &*piece.text))).collect()
        }
        (left, right) => right.or(left).unwrap_or_default().to_vec(),
    }
}

/// The paragraphs of a diff as lines. Changes alone fold everything else but headings right above a change; side by side a
/// paragraph on each side stays; the whole text folds nothing.
pub fn items(paragraphs: &[DiffParagraph], view: &str) -> Vec<Item> {
    let around = match view {
        "text" => usize::MAX,
        "side" => AROUND,
        _ => 0,
    };
    let is_changed: Vec<bool> = paragraphs.iter().map(|one| one.op != "same").collect();
    let near = |place: usize| {
        let from = place.saturating_sub(around);
        let until = place.saturating_add(around).min(paragraphs.len().saturating_sub(1));
        around == usize::MAX || is_changed[from..=until].contains(&true)
    };
    let leads = |place: usize| is_heading(&paragraphs[place]) && is_changed.get(place + 1) == Some(&true);
    let mut items: Vec<Item> = Vec::new();
    for (place, one) in paragraphs.iter().enumerate() {
        if view == "side" {
            items.extend(moved_away_before(paragraphs, place).map(Item::moved_away));
        }
        match () {
            () if is_changed[place] => items.push(Item::changed(one)),
            () if near(place) || leads(place) => items.push(Item::unchanged(one)),
            () => {
                let text = words::paragraph(one.after.as_deref().unwrap_or_default());
                match items.last_mut().filter(|last| last.is("run")) {
                    Some(run) => run.run.push(text),
                    None => items.push(Item { run: vec![text], ..Item::of("run") }),
                }
            }
        }
    }
    items
}

/// What moved away from right before this unchanged paragraph.
fn moved_away_before(paragraphs: &[DiffParagraph], place: usize) -> impl Iterator<Item = &DiffParagraph> {
    let stays = |one: &&DiffParagraph| one.op == "same";
    let own = paragraphs.get(place).filter(stays).and_then(|one| one.from);
    let last = paragraphs[..place].iter().rev().find(stays).and_then(|one| one.from);
    paragraphs.iter().filter(move |one| {
        let is_between = |from: u32| own.is_some_and(|own| from < own) && last.is_none_or(|last| from > last);
        one.op == "moved" && one.from.is_some_and(is_between)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::Edit;

    fn para(op: &str, from: Option<u32>, position: u32, text: &str) -> DiffParagraph {
        let (before, after) = (from.map(|_| text.to_owned()), (op != "removed").then(|| text.to_owned()));
        DiffParagraph { op: op.into(), role: "main".into(), from, position, before, after, ..DiffParagraph::default() }
    }

    fn forms(items: &[Item]) -> Vec<(&'static str, usize)> {
        items.iter().map(|item| (item.form, item.run.len())).collect()
    }

    #[test]
    fn runs_fold_and_headings_above_a_change_stay() {
        let mut all: Vec<DiffParagraph> = (0..5).map(|at| para("same", Some(at), at, "s")).collect();
        all[4].role = "heading".into();
        all.push(para("added", None, 5, "new"));
        assert_eq!(forms(&items(&all, "changes")), [("run", 4), ("heading", 0), ("para", 0)]);
        assert_eq!(forms(&items(&all, "text")).len(), 6);
        assert_eq!(forms(&items(&all, "side")), [("run", 4), ("heading", 0), ("para", 0)]);
    }

    #[test]
    fn a_move_stands_at_both_places_side_by_side() {
        let mut moved = para("moved", Some(0), 2, "m");
        moved.id = Some("p1".into());
        let all = [para("same", Some(1), 0, "a"), para("same", Some(2), 1, "b"), moved];
        let side = items(&all, "side");
        let joined: Vec<(bool, bool)> = side
            .iter()
            .filter(|item| item.joins.is_some())
            .map(|item| (item.left.is_some(), item.right.is_some()))
            .collect();
        assert_eq!(joined, [(true, false), (false, true)]);
        assert!(side[0].joins.is_some(), "it stood before the first");
    }

    #[test]
    fn words_are_marked_on_their_side() {
        let edit = |op: &str, text: &str| Edit { op: op.into(), text: text.into() };
        let mut one = para("edited", Some(0), 0, "");
        one.words = vec![edit("same", "at least "), edit("removed", "24"), edit("added", "48"), edit("same", " hours")];
        let item = Item::changed(&one);
        let text = |pieces: &[Piece]| {
            pieces.iter().map(|piece| format!("{}:{}", piece.mark, piece.text)).collect::<Vec<_>>().join("|")
        };
        assert_eq!(text(item.left.as_deref().unwrap()), ":at least |del:24|: hours");
        assert_eq!(text(item.right.as_deref().unwrap()), ":at least |ins:48|: hours");
        assert_eq!(text(&item.whole), ":at least |del:24|ins:48|: hours");
    }
}
