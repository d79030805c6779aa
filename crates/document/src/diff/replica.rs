//! What a program that holds only the paragraphs of the older version does to hold those of the newer one.
//!
//! The program keeps a list of paragraphs with their numbers. It takes away the removed and the moved ones. Then it puts in
//! the added and the moved ones in the order of their positions, and gives the edited ones their new words.

use foldhash::{HashMap, HashMapExt};
use vernal_model::Role;

/// A paragraph with the number that it has within its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedParagraph {
    pub number: u32,
    pub role: Role,
    pub text: Box<str>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ReplicaOperation {
    Removed,
    Added,
    Moved,
    Edited,
}

impl ReplicaOperation {
    pub fn name(self) -> &'static str {
        match self {
            ReplicaOperation::Removed => "removed",
            ReplicaOperation::Added => "added",
            ReplicaOperation::Moved => "moved",
            ReplicaOperation::Edited => "edited",
        }
    }
}

/// One step from the older list to the newer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaStep {
    pub operation: ReplicaOperation,
    pub number: u32,
    pub role: Role,
    /// Its index in the newer version, from 0; for a removed one, in the older version.
    pub position: u32,
    /// Its words, where they are new: of every added and edited one, and of a moved one that was edited too.
    pub text: Option<Box<str>>,
}

/// All steps: the removed paragraphs first, then the added and the moved ones by position, then the edited ones.
/// `None` if a number is missing or occurs twice.
pub fn replica_steps(old: &[NumberedParagraph], new: &[NumberedParagraph]) -> Option<Vec<ReplicaStep>> {
    let (old_places, new_places) = (places(old)?, places(new)?);
    let mut steps = Vec::new();
    for (place, one) in old.iter().enumerate().filter(|(_, one)| !new_places.contains_key(&one.number)) {
        steps.push(step(ReplicaOperation::Removed, one, place, None));
    }
    let common: Vec<usize> = new.iter().filter_map(|one| old_places.get(&one.number).copied()).collect();
    let mut stays = longest_rise(&common).into_iter();
    let mut edited = Vec::new();
    for (place, one) in new.iter().enumerate() {
        let text = Some(one.text.clone());
        let Some(&from) = old_places.get(&one.number) else {
            steps.push(step(ReplicaOperation::Added, one, place, text));
            continue;
        };
        let is_edited = (&old[from].text, old[from].role) != (&one.text, one.role);
        match (stays.next().unwrap_or(false), is_edited) {
            (false, is_edited) => steps.push(step(ReplicaOperation::Moved, one, place, text.filter(|_| is_edited))),
            (true, true) => edited.push(step(ReplicaOperation::Edited, one, place, text)),
            (true, false) => {}
        }
    }
    steps.append(&mut edited);
    Some(steps)
}

/// Does what the steps say. `None` if they are not steps from these paragraphs.
pub fn replay(held: &[NumberedParagraph], steps: &[ReplicaStep]) -> Option<Vec<NumberedParagraph>> {
    let mut left: HashMap<u32, NumberedParagraph> = HashMap::new();
    let leaves = |step: &&ReplicaStep| matches!(step.operation, ReplicaOperation::Removed | ReplicaOperation::Moved);
    let leaving: HashMap<u32, ()> = steps.iter().filter(leaves).map(|step| (step.number, ())).collect();
    let mut made = Vec::with_capacity(held.len());
    for one in held {
        match leaving.contains_key(&one.number) {
            true => _ = left.insert(one.number, one.clone()),
            false => made.push(one.clone()),
        }
    }
    if left.len() != leaving.len() {
        return None;
    }
    for step in steps {
        let ReplicaStep { operation, number, role, position, text } = step;
        let words = |known: Option<Box<str>>| text.clone().or(known);
        match operation {
            ReplicaOperation::Removed => {}
            ReplicaOperation::Added | ReplicaOperation::Moved => {
                let known = left.remove(number).map(|one| one.text);
                let one = NumberedParagraph { number: *number, role: *role, text: words(known)? };
                let place = *position as usize;
                if place > made.len() {
                    return None;
                }
                made.insert(place, one);
            }
            ReplicaOperation::Edited => {
                let known = made.iter_mut().find(|one| one.number == *number)?;
                (known.role, known.text) = (*role, words(None)?);
            }
        }
    }
    Some(made)
}

fn step(operation: ReplicaOperation, one: &NumberedParagraph, place: usize, text: Option<Box<str>>) -> ReplicaStep {
    ReplicaStep { operation, number: one.number, role: one.role, position: place as u32, text }
}

fn places(paragraphs: &[NumberedParagraph]) -> Option<HashMap<u32, usize>> {
    let mut places = HashMap::with_capacity(paragraphs.len());
    for (place, one) in paragraphs.iter().enumerate() {
        if one.number == 0 || places.insert(one.number, place).is_some() {
            return None;
        }
    }
    Some(places)
}

/// Which items belong to a longest rising run, so that as few as possible have to move.
fn longest_rise(items: &[usize]) -> Vec<bool> {
    // The index of the last item of the best run of each length, and for each item the one before it in its run.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::with_capacity(items.len()));
    for (place, item) in items.iter().enumerate() {
        let length = ends.partition_point(|&end| items[end] < *item);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut stays = vec![false; items.len()];
    let mut next = ends.last().copied();
    while let Some(place) = next {
        stays[place] = true;
        next = before[place];
    }
    stays
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(numbers: &[(u32, u8)]) -> Vec<NumberedParagraph> {
        let paragraph = |&(number, words): &(u32, u8)| NumberedParagraph {
            number,
            role: Role::Main,
            text: format!("w{words}").into(),
        };
        numbers.iter().map(paragraph).collect()
    }

    #[test]
    fn as_few_as_possible_move_and_words_come_only_where_they_are_new() {
        let (old, new) = (list(&[(1, 0), (2, 0), (3, 0), (4, 0)]), list(&[(4, 0), (1, 0), (2, 7), (5, 0)]));
        let steps = replica_steps(&old, &new).unwrap();
        let told: Vec<(&str, u32, u32, bool)> =
            steps.iter().map(|step| (step.operation.name(), step.number, step.position, step.text.is_some())).collect();
        let expected =
            [("removed", 3, 2, false), ("moved", 4, 0, false), ("added", 5, 3, true), ("edited", 2, 2, true)];
        assert_eq!(told, expected);
        assert_eq!(replay(&old, &steps), Some(new));
        assert_eq!(replay(&list(&[(1, 0)]), &steps), None, "these are not the paragraphs that it begins with");
    }

    #[test]
    fn a_list_with_a_number_twice_or_without_one_has_no_steps() {
        let good = list(&[(1, 0)]);
        assert_eq!(replica_steps(&good, &list(&[(2, 0), (2, 1)])), None);
        assert_eq!(replica_steps(&list(&[(0, 0)]), &good), None);
        assert_eq!(replica_steps(&good, &good), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn steps_lead_from_any_list_to_any_other(
            old in proptest::collection::btree_map(1u32..30, 0u8..4, 0..30),
            new in proptest::collection::btree_map(1u32..30, 0u8..4, 0..30),
            order in proptest::collection::vec(any::<u64>(), 60),
        ) {
            let shuffled = |all: std::collections::BTreeMap<u32, u8>, keys: &[u64]| {
                let mut all: Vec<(u32, u8)> = all.into_iter().collect();
                all.sort_by_key(|(number, _)| keys[*number as usize]);
                list(&all)
            };
            let (old, new) = (shuffled(old, &order[..30]), shuffled(new, &order[30..]));
            let steps = replica_steps(&old, &new).unwrap();
            prop_assert_eq!(replay(&old, &steps), Some(new));
        }
    }
}
