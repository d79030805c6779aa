//! What people do to an article, one edit at a time.

use serde::Serialize;
use vernal_model::{Chance, Operation};

use super::article::{Article, Block};
use super::draw;
use super::sentences::{Figure, Sentence, other_price, title};
use super::themes::Theme;

const SECTIONS: (usize, usize) = (2, 8);
const ITEMS: (usize, usize) = (3, 8);
const SENTENCES_MAX: usize = 8;
/// A typing error is found and corrected by one edit in so many.
const TYPO_SEEN: f64 = 0.4;

/// One change of a page, on record.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// The version that it made.
    pub version: u32,
    pub kind: EditKind,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// One word became another.
    Word,
    Number,
    Price,
    Date,
    SentenceAdded,
    SentenceRemoved,
    ParagraphMoved,
    ParagraphSplit,
    ParagraphsJoined,
    /// With its heading.
    SectionAdded,
    SectionRemoved,
    ListReordered,
    ItemAdded,
    ItemRemoved,
    /// Two letters the wrong way round, and later put right.
    Typo,
    TypoCorrected,
    /// The edit before is undone.
    TakenBack,
    /// The same words in another design.
    Redesigned,
    /// Paragraphs of a page, or a whole file, became others.
    Replaced,
}

impl EditKind {
    pub const ALL: [EditKind; 19] = [
        EditKind::Word,
        EditKind::Number,
        EditKind::Price,
        EditKind::Date,
        EditKind::SentenceAdded,
        EditKind::SentenceRemoved,
        EditKind::ParagraphMoved,
        EditKind::ParagraphSplit,
        EditKind::ParagraphsJoined,
        EditKind::SectionAdded,
        EditKind::SectionRemoved,
        EditKind::ListReordered,
        EditKind::ItemAdded,
        EditKind::ItemRemoved,
        EditKind::Typo,
        EditKind::TypoCorrected,
        EditKind::TakenBack,
        EditKind::Redesigned,
        EditKind::Replaced,
    ];

    /// What a crawler that saw nothing else in between should report; `None` where no single operation says it.
    pub fn operation(self) -> Option<Operation> {
        Some(match self {
            EditKind::Word | EditKind::Number | EditKind::Price | EditKind::Date => Operation::Edited,
            EditKind::SentenceAdded | EditKind::SentenceRemoved => Operation::Edited,
            EditKind::Typo | EditKind::TypoCorrected | EditKind::TakenBack => Operation::Edited,
            EditKind::ParagraphMoved | EditKind::ListReordered => Operation::Moved,
            EditKind::ParagraphSplit => Operation::Split,
            EditKind::ParagraphsJoined => Operation::Merged,
            EditKind::SectionAdded | EditKind::ItemAdded => Operation::Added,
            EditKind::SectionRemoved | EditKind::ItemRemoved => Operation::Removed,
            EditKind::Redesigned | EditKind::Replaced => return None,
        })
    }
}

/// How often each kind is met, out of their sum. Small corrections are the most frequent, redesigns rare.
const WEIGHTS: [(EditKind, u64); 17] = [
    (EditKind::Word, 14),
    (EditKind::Number, 12),
    (EditKind::Price, 10),
    (EditKind::Date, 8),
    (EditKind::SentenceAdded, 11),
    (EditKind::SentenceRemoved, 8),
    (EditKind::ParagraphMoved, 7),
    (EditKind::ParagraphSplit, 3),
    (EditKind::ParagraphsJoined, 2),
    (EditKind::SectionAdded, 5),
    (EditKind::SectionRemoved, 4),
    (EditKind::ListReordered, 5),
    (EditKind::ItemAdded, 4),
    (EditKind::ItemRemoved, 3),
    (EditKind::Typo, 4),
    (EditKind::TakenBack, 3),
    (EditKind::Redesigned, 2),
];

/// A sentence by its section, its block there, and its place in that.
type Place = (usize, usize, usize);

/// Edits one article again and again.
#[derive(Default)]
pub(super) struct Editor {
    /// What stood where the last edit changed one sentence.
    undo: Option<(Place, Sentence)>,
}

impl Editor {
    /// Makes the next edit, and says what it was. A kind that does not fit this article becomes a corrected word.
    pub fn edit(&mut self, article: &mut Article, theme: &'static Theme, chance: &mut Chance) -> EditKind {
        let typo = article.sentences(Sentence::has_typo).first().copied();
        let kind = match typo {
            Some(_) if chance.happens(TYPO_SEEN) => EditKind::TypoCorrected,
            _ => draw_kind(chance),
        };
        let undo = self.undo.take();
        let is_done = match kind {
            EditKind::Word => false,
            EditKind::TakenBack => undo.is_some_and(|(place, sentence)| {
                *article.sentence(place) = sentence;
                true
            }),
            EditKind::TypoCorrected => typo.is_some_and(|place| {
                article.sentence(place).correct_spelling();
                true
            }),
            EditKind::Number => self.change(
                article,
                chance,
                |one| one.has(Figure::Number),
                |one, chance| one.change_figure(Figure::Number, chance),
            ),
            EditKind::Date => self.change(
                article,
                chance,
                |one| one.has(Figure::Date),
                |one, chance| one.change_figure(Figure::Date, chance),
            ),
            EditKind::Price => {
                article.change_listed_price(chance)
                    || self.change(
                        article,
                        chance,
                        |one| one.has(Figure::Price),
                        |one, chance| one.change_figure(Figure::Price, chance),
                    )
            }
            EditKind::Typo => self.change(article, chance, |one| !one.has_typo(), Sentence::misspell),
            other => article.rebuild(other, theme, chance),
        };
        if is_done {
            return kind;
        }
        self.change(article, chance, |_| true, |one, chance| one.change_word(theme, chance));
        EditKind::Word
    }

    /// Changes one of the sentences that fit; whether there is one.
    fn change(
        &mut self,
        article: &mut Article,
        chance: &mut Chance,
        fits: impl Fn(&Sentence) -> bool,
        change: impl FnOnce(&mut Sentence, &mut Chance),
    ) -> bool {
        let Some(&place) = chance.pick(&article.sentences(fits)) else { return false };
        let sentence = article.sentence(place);
        self.undo = Some((place, *sentence));
        change(sentence, chance);
        true
    }
}

fn draw_kind(chance: &mut Chance) -> EditKind {
    let mut drawn = chance.below(WEIGHTS.iter().map(|(_, weight)| weight).sum());
    for (kind, weight) in WEIGHTS {
        if drawn < weight {
            return kind;
        }
        drawn -= weight;
    }
    EditKind::Word
}

impl Article {
    fn sentences(&self, fits: impl Fn(&Sentence) -> bool) -> Vec<Place> {
        let mut places = Vec::new();
        for (at, section) in self.sections.iter().enumerate() {
            for (block, prose) in section.blocks.iter().enumerate() {
                let Block::Prose(sentences) = prose else { continue };
                let fitting = sentences.iter().enumerate().filter(|(_, sentence)| fits(sentence));
                places.extend(fitting.map(|(sentence, _)| (at, block, sentence)));
            }
        }
        places
    }

    fn sentence(&mut self, (section, block, sentence): Place) -> &mut Sentence {
        match &mut self.sections[section].blocks[block] {
            Block::Prose(sentences) => &mut sentences[sentence],
            Block::List(_) | Block::Prices(_) => unreachable!("only prose has sentences"),
        }
    }

    /// The blocks that fit, by section and place.
    fn blocks(&self, fits: impl Fn(&Block) -> bool) -> Vec<(usize, usize)> {
        let sections = self.sections.iter().enumerate();
        let blocks = sections.flat_map(|(at, section)| {
            section.blocks.iter().enumerate().map(move |(place, block)| ((at, place), block))
        });
        blocks.filter(|(_, block)| fits(block)).map(|(place, _)| place).collect()
    }

    fn change_listed_price(&mut self, chance: &mut Chance) -> bool {
        let lists = self.blocks(|block| matches!(block, Block::Prices(_)));
        let Some(&(section, block)) = chance.pick(&lists).filter(|_| chance.happens(0.7)) else { return false };
        let Block::Prices(rows) = &mut self.sections[section].blocks[block] else { return false };
        let row = chance.below(rows.len() as u64) as usize;
        rows[row].cents = other_price(rows[row].cents, chance);
        true
    }

    /// Adds, removes or moves a part; whether there was one to do it to.
    fn rebuild(&mut self, kind: EditKind, theme: &'static Theme, chance: &mut Chance) -> bool {
        match kind {
            EditKind::SentenceAdded => self.with_prose(
                chance,
                |len| len < SENTENCES_MAX,
                |sentences, chance| {
                    let place = chance.below(sentences.len() as u64 + 1) as usize;
                    sentences.insert(place, Sentence::draw(theme, chance));
                },
            ),
            EditKind::SentenceRemoved => self.with_prose(
                chance,
                |len| len > 1,
                |sentences, chance| {
                    sentences.remove(chance.below(sentences.len() as u64) as usize);
                },
            ),
            EditKind::ParagraphMoved => self.move_paragraph(chance),
            EditKind::ParagraphSplit => self.split_paragraph(chance),
            EditKind::ParagraphsJoined => self.join_paragraphs(chance),
            EditKind::SectionAdded if self.sections.len() < SECTIONS.1 => {
                let place = 1 + chance.below(self.sections.len() as u64) as usize;
                self.sections.insert(place, draw::section(theme, 2, chance));
                true
            }
            EditKind::SectionRemoved if self.sections.len() > SECTIONS.0 => {
                self.sections.remove(1 + chance.below(self.sections.len() as u64 - 1) as usize);
                true
            }
            EditKind::ListReordered => self.with_list(
                chance,
                |len| len > 1,
                |items, chance| {
                    let from = chance.below(items.len() as u64) as usize;
                    let to = (from + 1 + chance.below(items.len() as u64 - 1) as usize) % items.len();
                    let item = items.remove(from);
                    items.insert(to, item);
                },
            ),
            EditKind::ItemAdded => self.with_list(
                chance,
                |len| len < ITEMS.1,
                |items, chance| {
                    let place = chance.below(items.len() as u64 + 1) as usize;
                    items.insert(place, title(theme, chance));
                },
            ),
            EditKind::ItemRemoved => self.with_list(
                chance,
                |len| len > ITEMS.0,
                |items, chance| {
                    items.remove(chance.below(items.len() as u64) as usize);
                },
            ),
            EditKind::Redesigned => {
                self.design = (self.design + 1 + chance.below(u64::from(draw::DESIGNS) - 1) as u8) % draw::DESIGNS;
                true
            }
            _ => false,
        }
    }

    fn with_prose(
        &mut self,
        chance: &mut Chance,
        fits: impl Fn(usize) -> bool,
        change: impl FnOnce(&mut Vec<Sentence>, &mut Chance),
    ) -> bool {
        let fitting = self.blocks(|block| matches!(block, Block::Prose(sentences) if fits(sentences.len())));
        let Some(&(section, block)) = chance.pick(&fitting) else { return false };
        let Block::Prose(sentences) = &mut self.sections[section].blocks[block] else { return false };
        change(sentences, chance);
        true
    }

    fn with_list(
        &mut self,
        chance: &mut Chance,
        fits: impl Fn(usize) -> bool,
        change: impl FnOnce(&mut Vec<String>, &mut Chance),
    ) -> bool {
        let fitting = self.blocks(|block| matches!(block, Block::List(items) if fits(items.len())));
        let Some(&(section, block)) = chance.pick(&fitting) else { return false };
        let Block::List(items) = &mut self.sections[section].blocks[block] else { return false };
        change(items, chance);
        true
    }

    /// A paragraph of a section with several goes to where another one stands.
    fn move_paragraph(&mut self, chance: &mut Chance) -> bool {
        let prose = self.blocks(|block| matches!(block, Block::Prose(_)));
        let movable: Vec<(usize, usize)> =
            prose.iter().copied().filter(|&(section, _)| self.sections[section].blocks.len() > 1).collect();
        let Some(&from) = chance.pick(&movable) else { return false };
        let others: Vec<(usize, usize)> = prose.into_iter().filter(|&place| place != from).collect();
        let Some(&to) = chance.pick(&others) else { return false };
        let block = self.sections[from.0].blocks.remove(from.1);
        let place = to.1.min(self.sections[to.0].blocks.len());
        self.sections[to.0].blocks.insert(place, block);
        true
    }

    fn split_paragraph(&mut self, chance: &mut Chance) -> bool {
        let long = self.blocks(|block| matches!(block, Block::Prose(sentences) if sentences.len() > 3));
        let Some(&(section, block)) = chance.pick(&long) else { return false };
        let blocks = &mut self.sections[section].blocks;
        let Block::Prose(sentences) = &mut blocks[block] else { return false };
        let rest = sentences.split_off(sentences.len() / 2);
        blocks.insert(block + 1, Block::Prose(rest));
        true
    }

    fn join_paragraphs(&mut self, chance: &mut Chance) -> bool {
        let prose = self.blocks(|block| matches!(block, Block::Prose(_)));
        let is_prose = |&(section, block): &(usize, usize)| prose.contains(&(section, block + 1));
        let pairs: Vec<(usize, usize)> = prose.iter().copied().filter(is_prose).collect();
        let Some(&(section, block)) = chance.pick(&pairs) else { return false };
        let blocks = &mut self.sections[section].blocks;
        let Block::Prose(second) = blocks.remove(block + 1) else { return false };
        if let Block::Prose(first) = &mut blocks[block] {
            first.extend(second);
        }
        true
    }
}
