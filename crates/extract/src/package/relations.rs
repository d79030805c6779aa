//! Which part or address a number stands for, as the `.rels` beside each part says.

use std::collections::HashMap;

use super::parts::Parts;
use super::xml::{Step, walk};
use crate::fault::Fault;

/// Further relations are left out.
const RELATIONS_MAX: usize = 50_000;

#[derive(Clone, Debug, Default)]
pub struct Relations {
    all: HashMap<String, Relation>,
    /// In the order of the file.
    order: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Relation {
    /// The last word of its kind, such as "hyperlink".
    pub kind: String,
    /// An address, or the name of a part.
    pub target: String,
    pub is_outside: bool,
}

impl Relations {
    pub fn of(parts: &mut Parts<'_>, part: &str) -> Result<Relations, Fault> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let Some(xml) = parts.text(&format!("{folder}/_rels/{name}.rels"))? else { return Ok(Relations::default()) };
        let mut relations = Relations::default();
        walk(&xml, |step| {
            let Step::Open(element) = step else { return };
            if element.name != "Relationship" || relations.order.len() >= RELATIONS_MAX {
                return;
            }
            let (Some(id), Some(target)) = (element.value("Id"), element.value("Target")) else { return };
            let is_outside = element.value("TargetMode").is_some_and(|mode| mode.eq_ignore_ascii_case("external"));
            let kind = element.value("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let target = if is_outside { target } else { resolved(folder, &target) };
            relations.order.push(id.clone());
            relations.all.insert(id, Relation { kind, target, is_outside });
        })?;
        Ok(relations)
    }

    pub fn address(&self, id: &str) -> Option<&str> {
        self.all.get(id).filter(|relation| relation.is_outside).map(|relation| relation.target.as_str())
    }

    pub fn part(&self, id: &str) -> Option<&str> {
        self.all.get(id).filter(|relation| !relation.is_outside).map(|relation| relation.target.as_str())
    }

    /// The parts of one kind, in the order of the file.
    pub fn parts_of_kind<'r>(&'r self, kind: &'r str) -> impl Iterator<Item = &'r str> {
        let all = self.order.iter().filter_map(|id| self.all.get(id));
        all.filter(move |relation| relation.kind == kind && !relation.is_outside)
            .map(|relation| relation.target.as_str())
    }
}

/// The name of a part, seen from a folder of the package.
pub fn resolved(folder: &str, target: &str) -> String {
    if let Some(whole) = target.strip_prefix('/') {
        return whole.to_owned();
    }
    let mut steps: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_seen_from_their_part() {
        assert_eq!(resolved("ppt/slides", "../notesSlides/n1.xml"), "ppt/notesSlides/n1.xml");
        assert_eq!(resolved("word", "/word/footer1.xml"), "word/footer1.xml");
        assert_eq!(resolved("", "../../a"), "a");
    }
}
