//! Answers one question: reads the query, finds its words, gathers the best units, and makes them hits.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;
use tantivy::Searcher;
use tantivy::query::{BooleanQuery, ConstScoreQuery, ExistsQuery, Occur, Query};
use vernal_model::{Page, TopicId};
use vernal_repository::Reader;

use super::answer::{Answer, Asked, Count, DEPTH_MAX, Facets, Hit, LIMIT_MAX, Within};
use super::compiled::{Compiled, QueryMaker, Text, Words, compiled};
use super::current::Shown;
use super::excluded::Excluded;
use super::forms::FormFinder;
use super::gather::{Found, Gather, Gathered, VALUES_MAX, best_first, counts};
use super::matcher::{Part, Region};
use super::{held_at, like, past};
use crate::follow::link_words;
use crate::index::opened::SearchIndex;
use crate::index::schema::{Fields, VERSION, page_of};
use crate::query::expression::{Expression, Filter, Scope};
use crate::query::fault::QueryFault;
use crate::query::parse;
use crate::{Error, Result};

/// The best by their words among which importance decides.
const WEIGHED_MAX: usize = 200;

/// What a question is answered from.
pub struct Searching<'s> {
    pub searcher: &'s Searcher,
    pub fields: &'s Fields,
    pub reader: &'s Reader,
    pub asked: &'s Asked,
}

impl SearchIndex {
    pub fn search(&self, reader: &Reader, asked: &Asked) -> Result<Answer> {
        let (searcher, place) = self.searcher();
        let searching = Searching { searcher: &searcher, fields: self.fields(), reader, asked };
        let answer = searching.answered()?;
        Ok(Answer { cursor: place.cursor.to_string(), ..answer })
    }
}

impl Searching<'_> {
    fn answered(&self) -> Result<Answer> {
        let expression = self.expression()?;
        let language = only_language(&expression);
        let mut finder = FormFinder::of(self.searcher, self.fields, language)?;
        let compiled = compiled(&expression, &mut finder)?;
        let compiled = match &self.asked.like {
            Some(url) => Compiled::Every(vec![like::compiled(self, url)?, compiled]),
            None => compiled,
        };
        let answer = match self.asked.within {
            Within::At(at) => held_at::answered(self, &compiled, at)?,
            _ => self.units(&compiled)?,
        };
        Ok(Answer { exact: answer.exact && !finder.is_cut, ..answer })
    }

    /// The query, with what was asked for beside it.
    fn expression(&self) -> Result<Expression> {
        let asked = self.asked;
        let mut expression = parse::parse(&asked.query, asked.now)?;
        if matches!(asked.within, Within::Removed | Within::At(_)) {
            no_anchors(&expression)?;
        }
        let kind = asked
            .kind
            .as_deref()
            .map(|kind| parse::kind(kind, 1).map_err(|fault| Error::Asked(fault.what)))
            .transpose()?;
        let filters = [
            asked.site.clone().map(Filter::Site),
            asked.tag.clone().map(Filter::Tag),
            asked.topic.as_deref().map(parse::topic).map(Filter::Topic),
            asked.language.as_deref().map(parse::language).map(Filter::Language),
            kind.map(Filter::Kind),
            asked.since.map(Filter::After),
            asked.until.map(Filter::Before),
        ];
        for filter in filters.into_iter().flatten() {
            expression = expression.and(filter);
        }
        if asked.skip.saturating_add(asked.limit.min(LIMIT_MAX)) > DEPTH_MAX {
            return Err(Error::Asked(format!("only the first {DEPTH_MAX} hits can be reached")));
        }
        Ok(expression)
    }

    pub fn query_of(&self, compiled: &Compiled) -> Box<dyn Query> {
        let seeds = Arc::new(self.asked.seeds.clone());
        let maker = QueryMaker { fields: self.fields, role: self.asked.role, reader: self.reader, seeds: &seeds };
        // Pages alone have a version.
        let has_version = || Box::new(ExistsQuery::new(VERSION.to_owned(), false));
        let current = || -> Box<dyn Query> {
            let only = Box::new(ConstScoreQuery::new(has_version(), 0.0));
            Box::new(BooleanQuery::intersection(vec![maker.query(compiled, Text::Current), only]))
        };
        let removed = |is_still_there: Option<Box<dyn Query>>| -> Box<dyn Query> {
            let words = (Occur::Must, maker.query(compiled, Text::Removed));
            let is_page: Box<dyn Query> = has_version();
            let others = std::iter::once(is_page)
                .chain(is_still_there)
                .map(|query| -> (Occur, Box<dyn Query>) { (Occur::MustNot, Box::new(Excluded(query))) });
            Box::new(BooleanQuery::new(std::iter::once(words).chain(others).collect()))
        };
        match self.asked.within {
            Within::Now => current(),
            // Where the edited paragraph has what is asked for too, nothing of it was removed.
            Within::Removed if compiled.all_words().is_empty() => removed(None),
            Within::Removed => removed(Some(maker.query(compiled, Text::After))),
            Within::Past | Within::At(_) => Box::new(BooleanQuery::union(vec![current(), removed(None)])),
        }
    }

    pub fn gathered(&self, query: &dyn Query, best: usize) -> Result<Gathered> {
        let gather = Gather { sort: self.asked.sort, now: self.asked.now, best };
        self.searcher.search(query, &gather).map_err(Error::index("ask the search index"))
    }

    fn units(&self, compiled: &Compiled) -> Result<Answer> {
        let limit = self.asked.limit.min(LIMIT_MAX);
        let wanted = self.asked.skip + limit;
        let gathered = self.gathered(&*self.query_of(compiled), wanted.max(WEIGHED_MAX))?;
        let facets = gathered.facets();
        let facets = Facets { by_topic: self.by_topic(&gathered.best)?, ..facets };
        let mut best = self.weighed(gathered.best)?;
        best_first(&mut best);
        let mut hits = Vec::with_capacity(limit);
        for found in best.iter().skip(self.asked.skip).take(limit) {
            hits.extend(self.hit(compiled, found)?);
        }
        let has_more = gathered.total > wanted as u64 && wanted < DEPTH_MAX;
        Ok(Answer { total: gathered.total, exact: true, cursor: String::new(), facets, hits, has_more })
    }

    /// Ranks by words times importance. It grows with its logarithm, so that no page wins by its importance alone.
    fn weighed(&self, mut best: Vec<Found>) -> Result<Vec<Found>> {
        if self.asked.sort == super::answer::Sort::Newest {
            return Ok(best);
        }
        for found in &mut best {
            let importance = self.reader.page(page_of(found.page))?.map_or(1.0, |page| page.importance);
            let weight = f64::from(importance.max(0.0)).ln_1p() + 1.0;
            found.rank *= weight;
            found.score *= weight as f32;
        }
        Ok(best)
    }

    fn hit(&self, compiled: &Compiled, found: &Found) -> Result<Option<Hit>> {
        let Some(page) = self.reader.page(page_of(found.page))? else { return Ok(None) };
        let words = compiled.all_words();
        if let Some(told) = past::told(self.searcher, self.fields, found)? {
            return past::hit(self.reader, (&words, self.asked.role), &page, told, found.score).map(Some);
        }
        let version = self.version_of(found)?;
        let anchors = self.anchors_with(&page, &words)?;
        let shown = Shown { reader: self.reader, asked: words, role: self.asked.role };
        let hit = shown.hit(&page, version, found.score)?;
        Ok(Some(Hit { anchors, ..hit }))
    }

    /// What links to a page say that has some of these words.
    fn anchors_with(&self, page: &Page, asked: &[&Words]) -> Result<Vec<String>> {
        if self.asked.role.is_some() {
            return Ok(Vec::new());
        }
        let mut anchors = link_words::anchors(self.searcher, self.fields, page.url.fingerprint().0)?;
        let is_of_links = |words: &&&Words| matches!(words.scope, Scope::Anywhere | Scope::Anchor);
        anchors.retain(|text| {
            // The words are held against it as against any text.
            let part = Part::of(Region::Main, text);
            asked.iter().filter(is_of_links).any(|words| !part.places(words).is_empty())
        });
        Ok(anchors)
    }

    /// How the best divide by topic. All of them would cost a row each.
    fn by_topic(&self, best: &[Found]) -> Result<Vec<Count>> {
        if self.reader.topic_mark()?.topics == 0 {
            return Ok(Vec::new());
        }
        let pages: BTreeSet<u64> = best.iter().take(WEIGHED_MAX).map(|found| found.page).collect();
        let mut by_id: HashMap<TopicId, u64> = HashMap::default();
        for page in pages {
            for of in self.reader.topics_of(page_of(page))? {
                *by_id.entry(of.topic).or_default() += 1;
            }
        }
        let mut named = HashMap::default();
        for (id, count) in by_id {
            if let Some(row) = self.reader.topic(id)? {
                named.insert(row.word.into_string(), count);
            }
        }
        Ok(counts(&named, VALUES_MAX))
    }

    fn version_of(&self, found: &Found) -> Result<u32> {
        let segment = self.searcher.segment_reader(found.address.segment_ord);
        let column = segment.fast_fields().u64(VERSION).map_err(Error::index("read a unit of the index"))?;
        Ok(column.first(found.address.doc_id).unwrap_or_default() as u32)
    }
}

/// What links said once is not known.
fn no_anchors(expression: &Expression) -> Result<()> {
    let mut column = None;
    expression.each_text(&mut |text| {
        if text.scope == Scope::Anchor {
            column = column.or(Some(text.column));
        }
    });
    let what = "what links say is known of current text alone";
    column.map_or(Ok(()), |column| Err(QueryFault::new(column, what).into()))
}

/// The language that a query names beside everything else, whose stems alone are then tried.
fn only_language(expression: &Expression) -> Option<&str> {
    match expression {
        Expression::Filter(Filter::Language(language)) => Some(language),
        Expression::Every(parts) => parts.iter().find_map(|part| match part {
            Expression::Filter(Filter::Language(language)) => Some(language.as_str()),
            _ => None,
        }),
        _ => None,
    }
}
