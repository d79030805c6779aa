//! An article before anybody edits it.

use vernal_model::Chance;

use super::article::{Article, Block, Price, Section};
use super::sentences::{self, Sentence};
use super::themes::Theme;

/// Articles in so many designs.
pub(super) const DESIGNS: u8 = 4;

/// Sentences of a paragraph, at least and at most.
pub(super) const SENTENCES: (usize, usize) = (2, 5);

pub(super) fn article(theme: &'static Theme, (least, most): (usize, usize), mut draws: Chance) -> Article {
    let paragraphs = least + draws.below((most - least) as u64 + 1) as usize;
    let mut first = Section { heading: None, blocks: Vec::new() };
    for _ in 0..paragraphs.min(2) {
        first.blocks.push(paragraph(theme, &mut draws));
    }
    let mut article = Article { design: draws.below(u64::from(DESIGNS)) as u8, sections: vec![first] };
    let mut left = paragraphs.saturating_sub(2);
    while left > 0 {
        let section = section(theme, left, &mut draws);
        left -= section.blocks.iter().filter(|block| matches!(block, Block::Prose(_))).count().min(left);
        article.sections.push(section);
    }
    article
}

/// A heading with one to three paragraphs, and perhaps a list or prices.
pub(super) fn section(theme: &'static Theme, paragraphs_max: usize, chance: &mut Chance) -> Section {
    let heading = Some(sentences::title(theme, chance));
    let paragraphs = 1 + chance.below(paragraphs_max.clamp(1, 3) as u64) as usize;
    let mut blocks: Vec<Block> = (0..paragraphs).map(|_| paragraph(theme, chance)).collect();
    match chance.below(5) {
        0 | 1 => blocks.push(Block::List((0..3 + chance.below(4)).map(|_| sentences::title(theme, chance)).collect())),
        2 => blocks.push(Block::Prices((0..3 + chance.below(3)).map(|_| price(theme, chance)).collect())),
        _ => {}
    }
    Section { heading, blocks }
}

pub(super) fn paragraph(theme: &'static Theme, chance: &mut Chance) -> Block {
    let (least, most) = SENTENCES;
    let sentences = least as u64 + chance.below((most - least) as u64 + 1);
    Block::Prose((0..sentences).map(|_| Sentence::draw(theme, chance)).collect())
}

fn price(theme: &'static Theme, chance: &mut Chance) -> Price {
    Price { name: sentences::title(theme, chance), cents: 50 * (3 + chance.below(160) as u32) - 5 }
}
