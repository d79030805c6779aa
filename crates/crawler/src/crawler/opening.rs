//! The work is taken up where the tables say it is.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use vernal_frontier::{Dispatcher, DispatcherSettings};
use vernal_model::{BudgetAccount, Chance, Moment, PageState, Partition as PartitionId};
use vernal_policy::RateSums;
use vernal_repository::bodies::Bodies;
use vernal_repository::{Reader, Repository};

use super::Crawler;
use super::choosing::saves_up;
use super::companions::Companions;
use super::judging::Books;
use super::sampling::Samples;
use super::second_looks::SecondLooks;
use super::signposts::Signposts;
use super::topics::Topics;
use super::weighing::Weighing;
use super::widening::Widening;
use crate::coordinator::Coordinator;
use crate::group::Group;
use crate::hint_book::HintBook;
use crate::intake::discovery::Recent;
use crate::partition::Partition;
use crate::robots_book::RobotsBook;
use crate::subscription_book::SubscriptionBook;
use crate::wanted::Wanted;
use crate::{Error, Result, Settings};

impl Crawler {
    /// Takes up the work where the tables say it is. Nothing is written before the first tick or act.
    pub fn open(repository: Repository, settings: Settings, now: Moment) -> Result<Crawler> {
        let reader = repository.reader();
        let partitions = (0..PartitionId::COUNT).map(|id| Partition::new(PartitionId(id), &settings, now));
        let partitions: Vec<Partition> = partitions.collect::<Result<_>>()?;
        let mut account = reader.account();
        let begun = BudgetAccount::begun(&settings.budget, reader.totals().held, now);
        if account.filled == Moment::EPOCH {
            account = begun;
        }
        // The budget may have another unit now: neither an old debt nor an old plenty outlives what the purse holds.
        let most = begun.in_hand * (saves_up(&partitions).secs_f64() / BudgetAccount::IN_HAND_MAX.secs_f64());
        account.in_hand = account.in_hand.clamp(-begun.in_hand, most);
        let mut crawler = Crawler {
            partitions,
            home: HashMap::new(),
            coordinator: Coordinator::new(&settings, account),
            dispatcher: dispatcher(&settings, &reader)?,
            seeds_weigh: false,
            promises: false,
            robots: RobotsBook::new(&settings.robots_agent),
            recent: Recent::new(),
            widening: Widening::new(&settings, &reader.seeds()?, reader.scope_mark()),
            topics: Topics::default(),
            weighing: Weighing::new(reader.graph_mark()?),
            wanted: Wanted::default(),
            group: Group::default(),
            in_flight: HashMap::new(),
            new_in_flight: 0,
            out: HashSet::new(),
            chosen: Vec::new(),
            mean_rate: RateSums::default().mean(),
            rates_summed: None,
            belief: None,
            samples: Samples::default(),
            books: Books::default(),
            second_looks: SecondLooks::default(),
            signposts: Signposts::default(),
            hints: HintBook::default(),
            subscriptions: SubscriptionBook::default(),
            companions: Companions::default(),
            files_placed: Moment::EPOCH,
            ticks: 0,
            turn: 0,
            lively: 0,
            retries_saved: 1.0,
            retries_in_vain: Default::default(),
            uncredited: 0.0,
            chance: Chance::new(settings.chance).stream("crawler"),
            started: false,
            paused: reader.paused_all(),
            disk_full: false,
            disk_checked: Moment::EPOCH,
            sieved: Moment::EPOCH,
            spelled: reader.totals().found_pending,
            next_order: 0,
            reports_taken: 0,
            commits: 0,
            settings,
            repository,
            bodies: Bodies::new(reader.dir()),
            older_body: Vec::new(),
            reader,
        };
        crawler.set_seeds(crawler.dispatcher.seeds().to_vec());
        crawler.recall(now)?;
        crawler.recall_hints(now)?;
        crawler.recall_subscriptions(now);
        Ok(crawler)
    }

    fn recall(&mut self, now: Moment) -> Result<()> {
        for row in self.reader.sites() {
            self.home.insert(row.site.clone(), row.partition);
            self.partition(row.partition).recall_site(&row);
        }
        for page in self.reader.pages_after(None) {
            let mut page = page?;
            page.importance = self.importance_of(page.key, &page.url, page.depth)?;
            let promise = self.promise_of(&page.url, page.depth);
            let partition = self.partition(page.key.partition);
            partition.recall_page(&page, promise, now);
            if page.state == PageState::Held {
                let site = partition.site_of_url(page.key, &page.url);
                partition.count_held(&site, 1);
            }
            self.recall_signpost(&page);
        }
        for id in 0..PartitionId::COUNT {
            let next_number = self.reader.next_number(PartitionId(id));
            self.partition(PartitionId(id)).next_number = next_number;
        }
        self.note_lively();
        self.recall_topics(now)
    }
}

fn dispatcher(settings: &Settings, reader: &Reader) -> Result<Dispatcher> {
    let compiled = |patterns: &[String]| -> Result<Vec<_>> {
        let compile = |text: &String| vernal_frontier::pattern(text).map_err(Error::from);
        patterns.iter().map(compile).collect()
    };
    Ok(Dispatcher::new(DispatcherSettings {
        seeds: reader.seeds()?,
        include: compiled(&settings.include)?,
        exclude: compiled(&settings.exclude)?,
        depth_max: settings.depth,
    }))
}
