//! The expression with its words, as a query of the index.

use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use tantivy::query::doc_predicate_query::{DocPredicateQuery, FunctionPredicate};
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, PhraseQuery, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, Term};
use vernal_model::{Moment, PageKey, Seed, TopicId};
use vernal_repository::Reader;

use super::answer::RoleAsked;
use super::excluded::Excluded;
use super::forms::FormFinder;
use crate::Result;
use crate::index::schema::{Fields, OF, number_of, page_of};
use crate::query::expression::{Expression, Filter, Form, Scope, TextAsked};

/// Words that are asked for, with what each stands for.
#[derive(Clone, Debug)]
pub struct Words {
    pub scope: Scope,
    pub form: Form,
    pub forms: Vec<Vec<String>>,
}

/// An expression whose words are known.
#[derive(Clone, Debug)]
pub enum Compiled {
    Every(Vec<Compiled>),
    Either(Vec<Compiled>),
    Not(Box<Compiled>),
    Words(Words),
    Filter(Filter),
    /// This one page.
    Page(PageKey),
}

/// A field with the weight of its words. A title names the page; a menu stands on every page of a site.
type WeightedField = (Field, f32);

const TITLE_WEIGHT: f32 = 4.0;
const HEADINGS_WEIGHT: f32 = 2.0;
const BODY_WEIGHT: f32 = 1.0;
const FRAME_WEIGHT: f32 = 0.25;
const URL_WEIGHT: f32 = 1.5;
/// Others name the page, in their own words: more than a heading of its own, less than its title.
const ANCHOR_WEIGHT: f32 = 2.5;

/// The text that words are looked for in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Current,
    Removed,
    /// What stands in the place of removed words.
    After,
}

pub fn compiled(expression: &Expression, finder: &mut FormFinder<'_>) -> Result<Compiled> {
    let all = |parts: &[Expression], finder: &mut FormFinder<'_>| -> Result<Vec<Compiled>> {
        parts.iter().map(|part| compiled(part, finder)).collect()
    };
    Ok(match expression {
        Expression::Every(parts) => Compiled::Every(all(parts, finder)?),
        Expression::Either(parts) => Compiled::Either(all(parts, finder)?),
        Expression::Not(part) => Compiled::Not(Box::new(compiled(part, finder)?)),
        Expression::Text(asked) => Compiled::Words(words(asked, finder)?),
        Expression::Filter(filter) => Compiled::Filter(filter.clone()),
    })
}

fn words(asked: &TextAsked, finder: &mut FormFinder<'_>) -> Result<Words> {
    Ok(Words { scope: asked.scope, form: asked.form, forms: finder.forms(asked)? })
}

impl Compiled {
    /// All words that are asked for, those within a `Not` left out.
    pub fn each_words<'c>(&'c self, each: &mut impl FnMut(&'c Words)) {
        match self {
            Compiled::Every(parts) | Compiled::Either(parts) => parts.iter().for_each(|part| part.each_words(each)),
            Compiled::Words(words) => each(words),
            Compiled::Not(_) | Compiled::Filter(_) | Compiled::Page(_) => {}
        }
    }

    pub fn all_words(&self) -> Vec<&Words> {
        let mut all = Vec::new();
        self.each_words(&mut |words| all.push(words));
        all
    }
}

/// Makes queries of the index.
pub struct QueryMaker<'m> {
    pub fields: &'m Fields,
    pub role: Option<RoleAsked>,
    pub reader: &'m Reader,
    pub seeds: &'m Arc<Vec<Seed>>,
}

impl QueryMaker<'_> {
    pub fn query(&self, compiled: &Compiled, text: Text) -> Box<dyn Query> {
        match compiled {
            Compiled::Every(parts) if parts.is_empty() => constant(Box::new(AllQuery)),
            Compiled::Every(parts) => self.every(parts, text),
            Compiled::Either(parts) => {
                let clauses = parts.iter().map(|part| (Occur::Should, self.query(part, text))).collect();
                Box::new(BooleanQuery::new(clauses))
            }
            Compiled::Not(_) => self.every(std::slice::from_ref(compiled), text),
            Compiled::Words(words) => self.words(words, text),
            Compiled::Filter(filter) => constant(self.filter(filter)),
            Compiled::Page(page) => {
                let term = Term::from_field_u64(self.fields.of, number_of(*page));
                constant(Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
            }
        }
    }

    fn every(&self, parts: &[Compiled], text: Text) -> Box<dyn Query> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::with_capacity(parts.len() + 1);
        for part in parts {
            clauses.push(match part {
                Compiled::Not(inner) => (Occur::MustNot, Box::new(Excluded(self.query(inner, text)))),
                other => (Occur::Must, self.query(other, text)),
            });
        }
        // Nothing can be left out of nothing.
        if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
            clauses.push((Occur::Must, constant(Box::new(AllQuery))));
        }
        Box::new(BooleanQuery::new(clauses))
    }

    fn words(&self, words: &Words, text: Text) -> Box<dyn Query> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (field, weight) in self.weighted_fields(words.scope, text) {
            if words.forms.len() > 1 {
                let terms = words.forms.iter().filter_map(|forms| forms.first());
                let terms: Vec<Term> = terms.map(|word| Term::from_field_text(field, word)).collect();
                clauses.push((Occur::Should, boosted(Box::new(PhraseQuery::new(terms)), weight)));
                continue;
            }
            for form in words.forms.iter().flatten() {
                let term = Term::from_field_text(field, form);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push((Occur::Should, boosted(Box::new(query), weight)));
            }
        }
        match clauses.is_empty() {
            true => Box::new(EmptyQuery),
            false => Box::new(BooleanQuery::new(clauses)),
        }
    }

    /// The fields that words of this scope may stand in.
    pub fn weighted_fields(&self, scope: Scope, text: Text) -> Vec<WeightedField> {
        let Fields { title, headings, body, frame, url, anchors, gone, gone_frame, after, .. } = *self.fields;
        // What other pages say stands in no part of this one.
        if self.role.is_some() && scope == Scope::Anchor {
            return Vec::new();
        }
        let (main, frame): (Vec<WeightedField>, Vec<WeightedField>) = match (text, scope) {
            (Text::Current, Scope::Title) => (vec![(title, TITLE_WEIGHT)], Vec::new()),
            (Text::Current | Text::Removed | Text::After, Scope::Url) => (vec![(url, URL_WEIGHT)], Vec::new()),
            (Text::Current, Scope::Anywhere) => (
                vec![(title, TITLE_WEIGHT), (headings, HEADINGS_WEIGHT), (body, BODY_WEIGHT), (url, URL_WEIGHT)],
                vec![(frame, FRAME_WEIGHT)],
            ),
            (Text::Current, Scope::Anchor) => (vec![(anchors, ANCHOR_WEIGHT)], Vec::new()),
            (Text::Removed | Text::After, Scope::Anchor) => (Vec::new(), Vec::new()),
            (Text::Removed, Scope::Title) => (vec![(title, TITLE_WEIGHT)], Vec::new()),
            (Text::Removed, _) => (vec![(gone, BODY_WEIGHT)], vec![(gone_frame, FRAME_WEIGHT)]),
            (Text::After, _) => (vec![(after, BODY_WEIGHT)], Vec::new()),
        };
        let said = (anchors, ANCHOR_WEIGHT);
        let said = Some(said).filter(|_| (text, scope) == (Text::Current, Scope::Anywhere));
        match self.role {
            None => main.into_iter().chain(frame).chain(said).collect(),
            Some(RoleAsked::Main) => main,
            Some(RoleAsked::Frame) => frame,
        }
    }

    fn filter(&self, filter: &Filter) -> Box<dyn Query> {
        let word = |field: Field, text: &str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic))
        };
        match filter {
            Filter::Site(site) => word(self.fields.site, site),
            Filter::Language(language) => word(self.fields.language, language),
            Filter::Kind(kind) => word(self.fields.kind, kind),
            Filter::Before(moment) => self.times(Bound::Unbounded, Bound::Excluded(*moment)),
            Filter::After(moment) => self.times(Bound::Included(*moment), Bound::Unbounded),
            Filter::Tag(tag) => tagged(self.reader.clone(), self.seeds, tag),
            Filter::Topic(topic) => of_topic(self.reader.clone(), topic),
        }
    }

    fn times(&self, from: Bound<Moment>, to: Bound<Moment>) -> Box<dyn Query> {
        let term = |moment: Moment| Term::from_field_i64(self.fields.time, moment.secs());
        Box::new(RangeQuery::new(from.map(term), to.map(term)))
    }
}

/// Filters choose and give no score.
fn constant(query: Box<dyn Query>) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(query, 0.0))
}

fn boosted(query: Box<dyn Query>, weight: f32) -> Box<dyn Query> {
    Box::new(BoostQuery::new(query, weight))
}

/// Units of pages that a seed with this tag covers. The seeds may change at any time, so that nothing of it is in the index.
fn tagged(reader: Reader, seeds: &[Seed], tag: &str) -> Box<dyn Query> {
    let seeds: Vec<Seed> = seeds.iter().filter(|seed| seed.tags.iter().any(|own| own == tag)).cloned().collect();
    of_pages(move |key| {
        let page = reader.page(key).ok().flatten();
        page.is_some_and(|page| seeds.iter().any(|seed| seed.covers(&page.url, page.depth)))
    })
}

/// Units of pages of this topic, as the last pass over the repository found them.
fn of_topic(reader: Reader, topic: &str) -> Box<dyn Query> {
    let topics: Vec<TopicId> = topic_ids(&reader, topic);
    of_pages(move |key| is_of_topic(&reader, key, &topics))
}

/// The numbers of a topic, by its word.
pub fn topic_ids(reader: &Reader, topic: &str) -> Vec<TopicId> {
    reader.topics().filter_map(std::result::Result::ok).filter(|row| *row.word == *topic).map(|row| row.id).collect()
}

pub fn is_of_topic(reader: &Reader, page: PageKey, topics: &[TopicId]) -> bool {
    !topics.is_empty() && reader.topics_of(page).is_ok_and(|own| own.iter().any(|of| topics.contains(&of.topic)))
}

/// Units of the pages that are chosen. Each page is asked once for each part of the index.
fn of_pages(is_chosen: impl Fn(PageKey) -> bool + Send + Sync + 'static) -> Box<dyn Query> {
    let is_chosen = Arc::new(is_chosen);
    let predicate = move |segment: &SegmentReader| {
        let of = segment.fast_fields().u64(OF)?;
        let is_chosen = Arc::clone(&is_chosen);
        let known: Mutex<HashMap<u64, bool>> = Mutex::default();
        Ok(move |unit: u32| {
            let Some(number) = of.first(unit) else { return false };
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            *known.entry(number).or_insert_with(|| is_chosen(page_of(number)))
        })
    };
    Box::new(DocPredicateQuery::from(FunctionPredicate::from(predicate)))
}
