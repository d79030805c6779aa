//! Opens a PDF file, walks over its pages and writes what it finds.

use hayro_interpret::hayro_syntax::object::{DateTime, Dict, String as PdfString};
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, TransformExt, interpret_page};

use crate::draft::{Block, Draft, Facts, Line};
use crate::fault::Fault;

use super::bands::{Region, regions_of};
use super::frame::{Place, Sheet, frames_of};
use super::letters::{Letter, Letters, Mark};
use super::links::{LinkPlace, link_at, links_of};
use super::paragraphs::{Piece, append, line_of, pieces_of};
use super::rows::{Row, main_size, rows_of};
use super::text_string::text_of;
use super::unicode::UnicodeOfGlyphs;
use super::words::words_of;

/// Further pages are left out, and the text says so.
const PAGES_MAX: usize = 5_000;

/// Letters of a whole file; a longer one is cut.
const LETTERS_MAX: usize = 20_000_000;

/// Letters this much larger than the body's make a heading.
const HEADING_FROM: f32 = 1.16;

/// Longer paragraphs are no headings.
const HEADING_BYTES_MAX: usize = 250;

/// What was found on a page.
struct PageText {
    /// The rows of each direction, the main one first.
    rows: Vec<Vec<Row>>,
    links: Vec<LinkPlace>,
    height: f32,
}

impl PageText {
    /// The rows of the direction that most of the text has.
    fn main(&self) -> &[Row] {
        self.rows.first().map_or(&[], Vec::as_slice)
    }
}

pub fn read_pdf(bytes: &[u8]) -> Result<Draft, Fault> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Fault::Locked,
        LoadPdfError::Decryption(_) => Fault::Locked,
        LoadPdfError::Invalid => Fault::Broken("no PDF that can be opened".into()),
    })?;
    let mut draft = Draft::new(facts_of(&pdf));
    let (pages, pictures) = pages_of(&pdf);
    write(&pages, &mut draft);
    if !draft.has_text() || pages.iter().all(|page| page.rows.is_empty()) {
        let scanned = "no text: the pages are pictures";
        draft.facts.note = Some(if pictures > 0 { scanned } else { "no text" });
    }
    Ok(draft)
}

fn pages_of(pdf: &Pdf) -> (Vec<PageText>, usize) {
    let cache = InterpreterCache::new();
    let mut unicode = UnicodeOfGlyphs::default();
    let (mut pages, mut pictures, mut letters) = (Vec::new(), 0, 0);
    for page in pdf.pages().iter().take(PAGES_MAX) {
        if letters > LETTERS_MAX {
            break;
        }
        let (width, height) = page.render_dimensions();
        let whole = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let start = page.initial_transform(true).to_kurbo();
        let mut context = Context::new(start, whole, &cache, pdf.xref(), InterpreterSettings::default());
        let mut device = Letters::new((width, height), &mut unicode);
        interpret_page(page, &mut context, &mut device);
        pictures += device.pictures;
        letters += device.letters.len();
        let (found, links) = (device.letters, links_of(page));
        let at = |x: f32, y: f32| link_at(&links, x, y);
        let rows = by_turn(found).iter().map(|letters| rows_of(words_of(letters, &at))).collect();
        pages.push(PageText { rows, links, height });
    }
    (pages, pictures)
}

/// The letters of each direction, that with most of them first.
fn by_turn(letters: Vec<Letter>) -> Vec<Vec<Letter>> {
    let mut turns: [Vec<Letter>; 4] = Default::default();
    for letter in letters {
        turns[usize::from(letter.turn.min(3))].push(letter);
    }
    let mut turns: Vec<Vec<Letter>> = turns.into_iter().filter(|letters| !letters.is_empty()).collect();
    turns.sort_by_key(|letters| std::cmp::Reverse(letters.len()));
    turns
}

fn write(pages: &[PageText], draft: &mut Draft) {
    let sheets: Vec<Sheet<'_>> = pages.iter().map(|page| Sheet { rows: page.main(), height: page.height }).collect();
    let frames = frames_of(&sheets);
    let levels = Levels::of(pages, &frames);
    let mut writer = Writer { draft, levels, open: None, waiting: Vec::new() };
    for (number, (page, places)) in pages.iter().zip(&frames).enumerate() {
        writer.page(number + 1, page, places);
        if writer.draft.is_full() {
            break;
        }
    }
    writer.finish();
}

struct Writer<'d> {
    draft: &'d mut Draft,
    levels: Levels,
    /// The last paragraph, which may go on in the next column or on the next page.
    open: Option<Piece>,
    /// The frame that is met while that paragraph is open. It is written behind it.
    waiting: Vec<Framed>,
}

/// What stands around the text of a page.
enum Framed {
    Page(usize),
    Head(String),
    Foot(String),
}

impl Writer<'_> {
    fn page(&mut self, number: usize, page: &PageText, places: &[Place]) {
        let is_at = |wanted: Place| move |(row, place): (&Row, &Place)| (*place == wanted).then(|| row.text());
        let main = page.main();
        let heads: Vec<String> = main.iter().zip(places).filter_map(is_at(Place::Head)).collect();
        let feet: Vec<String> = main.iter().zip(places).filter_map(is_at(Place::Foot)).collect();
        let body = main.iter().zip(places).filter(|(_, place)| **place == Place::Body).map(|(row, _)| row.clone());
        let mut regions = regions_of(body.collect());
        regions.extend(page.rows.iter().skip(1).flat_map(|rows| regions_of(rows.clone())));
        let links = |number: u32| page.links.get(number as usize).map(|link| link.target.clone());
        let mut begun = false;
        for region in regions {
            match region {
                Region::Text(rows) => {
                    for (place, piece) in pieces_of(&rows, &links).into_iter().enumerate() {
                        let goes_on = place == 0 && self.goes_on(&piece);
                        if !goes_on {
                            self.finish();
                        }
                        if !std::mem::replace(&mut begun, true) {
                            self.begin_page(number, &heads);
                        }
                        match &mut self.open {
                            Some(open) if goes_on => append(&mut open.line, piece.line),
                            open => *open = Some(piece),
                        }
                    }
                }
                Region::Table(rows) => {
                    self.finish();
                    if !std::mem::replace(&mut begun, true) {
                        self.begin_page(number, &heads);
                    }
                    self.draft.end_table();
                    for row in rows {
                        let cell = |cell: &Option<super::rows::WordGroup>| {
                            cell.as_ref().map(|cell| line_of(cell.words.iter(), &links)).unwrap_or_default()
                        };
                        self.draft.row(&row.iter().map(cell).collect::<Vec<Line>>());
                    }
                }
            }
        }
        if !begun {
            self.finish();
            self.begin_page(number, &heads);
        }
        feet.into_iter().for_each(|text| self.framed(Framed::Foot(text)));
    }

    fn begin_page(&mut self, number: usize, heads: &[String]) {
        self.framed(Framed::Page(number));
        heads.iter().for_each(|text| self.framed(Framed::Head(text.clone())));
    }

    fn framed(&mut self, framed: Framed) {
        match framed {
            framed if self.open.is_some() => self.waiting.push(framed),
            Framed::Page(number) => self.draft.place(&format!("page {number}")),
            Framed::Head(text) => self.draft.head(&text),
            Framed::Foot(text) => self.draft.foot(&text),
        }
    }

    /// Whether the open paragraph goes on with this one: it ends within a sentence, and this one begins within one.
    fn goes_on(&self, piece: &Piece) -> bool {
        let Some(open) = &self.open else { return false };
        let same = (open.size - piece.size).abs() < 0.3 && open.mark == piece.mark && !piece.is_item;
        let (before, after) = (open.line.text(), piece.line.text());
        let ends_open = before
            .chars()
            .next_back()
            .is_some_and(|letter| letter.is_alphabetic() || matches!(letter, ',' | '-' | ';'));
        same && ends_open && after.chars().next().is_some_and(char::is_lowercase)
    }

    fn finish(&mut self) {
        let Some(piece) = self.open.take() else { return };
        let block = match self.levels.heading(&piece) {
            Some(level) => Block::Heading(level),
            None if piece.is_item => Block::Item,
            None => Block::Paragraph,
        };
        self.draft.block(block, &piece.line);
        for framed in std::mem::take(&mut self.waiting) {
            self.framed(framed);
        }
    }
}

/// The sizes of letters that make headings, the largest first.
struct Levels {
    body: f32,
    sizes: Vec<f32>,
}

impl Levels {
    fn of(pages: &[PageText], frames: &[Vec<Place>]) -> Levels {
        let rows = || {
            let of_page = |(page, places): (&'_ PageText, &'_ Vec<Place>)| {
                let rows = page.main().iter().zip(places.clone());
                let sizes =
                    rows.filter(|(_, place)| *place == Place::Body).map(|(row, _)| (row.size, row.text().len()));
                sizes.collect::<Vec<_>>()
            };
            pages.iter().zip(frames).flat_map(of_page)
        };
        let body = main_size(rows());
        let mut sizes: Vec<f32> =
            rows().map(|(size, _)| rounded(size)).filter(|size| *size > body * HEADING_FROM).collect();
        sizes.sort_by(|one, other| other.total_cmp(one));
        sizes.dedup();
        sizes.truncate(6);
        Levels { body, sizes }
    }

    fn heading(&self, piece: &Piece) -> Option<u8> {
        let length = piece.line.text().len();
        if length > HEADING_BYTES_MAX || piece.is_item {
            return None;
        }
        let by_size = || {
            let place = self.sizes.iter().position(|size| *size <= rounded(piece.size) + 0.1);
            place.unwrap_or(5).min(5) as u8 + 1
        };
        match piece.mark {
            Mark::Heading(0) => Some(by_size().max(2)),
            Mark::Heading(level) => Some(level),
            _ if piece.size > self.body * HEADING_FROM && piece.lines <= 4 => Some(by_size()),
            _ => None,
        }
    }
}

fn rounded(size: f32) -> f32 {
    (size * 2.0).round() / 2.0
}

fn facts_of(pdf: &Pdf) -> Facts {
    let metadata = pdf.metadata();
    let text = |bytes: &Option<Box<[u8]>>| bytes.as_deref().map(text_of).unwrap_or_default();
    let root: Option<Dict<'_>> = pdf.xref().get(pdf.xref().root_id());
    let language = root.and_then(|root| root.get::<PdfString<'_>>("Lang")).map(|text| text_of(text.as_bytes()));
    Facts {
        title: text(&metadata.title),
        author: text(&metadata.author),
        language: language.filter(|language| is_language(language)).unwrap_or_default(),
        created: metadata.creation_date.map(date).unwrap_or_default(),
        modified: metadata.modification_date.map(date).unwrap_or_default(),
        pages: Some(pdf.pages().len()),
        note: None,
    }
}

fn is_language(text: &str) -> bool {
    (2..=35).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn date(date: DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, utc_offset_hour, utc_offset_minute } = date;
    let sign = if utc_offset_hour < 0 { '-' } else { '+' };
    let offset = utc_offset_hour.unsigned_abs();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{sign}{offset:02}:{utc_offset_minute:02}")
}
