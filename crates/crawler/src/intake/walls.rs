//! A page that redirects to a login page is behind a wall, whatever the URL of the login page looks like. That is known once the
//! target was visited.

use vernal_model::{Moment, Outcome, Page, Report, Wall};

use crate::Result;
use crate::core::Core;

/// A redirect to a page that was found to be a login page is a wall in front of the page that redirects.
pub(crate) fn see_through_redirect(core: &Core, report: &mut Report) -> Result<()> {
    let Outcome::Moved { status, to: Some(to), .. } = &report.outcome else { return Ok(()) };
    if core.work.page_by_url(to)?.is_none_or(|target| !is_login(&target)) {
        return Ok(());
    }
    let evidence = format!("status {status} to {to}, which is behind a login");
    report.outcome = Outcome::Blocked { wall: Wall::Login, status: *status, evidence };
    Ok(())
}

/// When a redirect has led to a login page, the page that redirected is asked once more, and is then known to be blocked.
pub(crate) fn look_again_at_redirect(core: &mut Core, before: Option<&Page>, page: &Page, now: Moment) -> Result<()> {
    let Some(from) = page.found_on.filter(|_| is_login(page) && !before.is_some_and(is_login)) else { return Ok(()) };
    let Some(from) = core.work.page(from)? else { return Ok(()) };
    if matches!(&from.last_outcome, Outcome::Moved { to: Some(to), .. } if *to == page.url) {
        core.partitions.of_mut(from.key.partition).retries.place_again(&from, now);
    }
    Ok(())
}

fn is_login(page: &Page) -> bool {
    matches!(page.last_outcome, Outcome::Blocked { wall: Wall::Login, .. })
}

#[cfg(test)]
mod tests {
    use vernal_model::{Event, EventKind, Failure, PageState, Span, Url};

    use super::*;
    use crate::testing::{Bench, Web, html, unhindered, url};

    const PAGE: &str = "http://a.example/x";
    /// Nothing in its URL says that it is a login.
    const GATE: &str = "http://a.example/welcome";

    fn bench() -> Bench {
        let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
        bench.admit(&[PAGE]);
        bench
    }

    fn events(bench: &mut Bench) -> Vec<Event> {
        bench.commit();
        let key = bench.page(PAGE).unwrap().key;
        bench.crawler.reader().page_events(key).unwrap().into_iter().map(|(_, _, event)| event).collect()
    }

    fn kinds(bench: &mut Bench) -> Vec<&'static str> {
        events(bench).iter().map(|event| event.kind.name()).collect()
    }

    fn login() -> Outcome {
        Outcome::Blocked { wall: Wall::Login, status: 200, evidence: "a form".into() }
    }

    fn to_gate() -> Outcome {
        Outcome::Moved { status: 302, to: Url::parse(GATE).ok(), permanent: false }
    }

    fn down() -> Outcome {
        Outcome::Failed(Failure::Connect("no".into()))
    }

    fn a_day_later(bench: &mut Bench) {
        bench.now += Span::from_days(1);
    }

    #[test]
    fn a_block_is_told_once_and_has_an_end() {
        let words = html("These are the words.", &[]);
        for is_committed in [false, true] {
            let mut bench = bench();
            bench.read(PAGE, &words);
            for outcome in [login(), login(), down(), login(), Outcome::Gone { status: 404 }] {
                a_day_later(&mut bench);
                bench.meet(PAGE, outcome);
                if is_committed {
                    bench.commit();
                }
            }
            a_day_later(&mut bench);
            bench.read(PAGE, &words);
            assert_eq!(kinds(&mut bench), ["new", "blocked", "unblocked"]);
            let last = events(&mut bench).pop().unwrap();
            assert_eq!((&*last.detail, last.change.paragraphs.len()), ("no longer blocked", 0));
            a_day_later(&mut bench);
            bench.read(PAGE, &words);
            assert_eq!(kinds(&mut bench).len(), 3, "the end of a block is told once");
        }
    }

    #[test]
    fn a_page_that_changed_behind_its_wall_is_told_as_a_change_that_ends_the_block() {
        let mut bench = bench();
        bench.read(PAGE, &html("These are the words.", &[]));
        a_day_later(&mut bench);
        bench.meet(PAGE, login());
        a_day_later(&mut bench);
        bench.read(PAGE, &html("These are other words altogether.", &[]));
        let last = events(&mut bench).pop().unwrap();
        assert_eq!((last.kind, &*last.detail), (EventKind::Changed, "no longer blocked"));
        assert!(!last.change.paragraphs.is_empty());
        assert_eq!((last.previous, last.version), (Some(1), Some(2)));
    }

    #[test]
    fn a_redirect_to_a_page_that_is_known_as_a_login_blocks_and_keeps_the_version() {
        let mut bench = bench();
        bench.read(PAGE, &html("These are the words.", &[]));
        bench.admit(&[GATE]);
        bench.meet(GATE, login());
        a_day_later(&mut bench);
        bench.meet(PAGE, to_gate());
        let page = bench.page(PAGE).unwrap();
        assert_eq!((page.state, page.version.map(|version| version.number)), (PageState::Held, Some(1)));
        assert_eq!(page.last_outcome.detail(), format!("login wall: status 302 to {GATE}, which is behind a login"));
        assert_eq!(kinds(&mut bench), ["new", "blocked"]);
    }

    #[test]
    fn a_page_that_redirects_is_asked_again_once_its_target_turns_out_to_be_a_login() {
        let mut bench = bench();
        bench.read(PAGE, &html("These are the words.", &[]));
        a_day_later(&mut bench);
        bench.meet(PAGE, to_gate());
        assert_eq!(bench.page(PAGE).unwrap().state, PageState::Moved);
        let mut web = Web::default();
        web.put_as("http://a.example/robots.txt", "text/plain", "");
        web.answers("http://a.example/", Outcome::Gone { status: 404 });
        web.answers(GATE, login());
        web.answers(PAGE, to_gate());
        bench.run_until_idle(&web);
        assert!(bench.times_asked(PAGE) > 0);
        let page = bench.page(PAGE).unwrap();
        assert_eq!((page.state, page.last_outcome.name()), (PageState::Held, "blocked"));
        assert_eq!(bench.crawler.core.partitions.held(), 1);
        assert_eq!(bench.page(url(GATE).as_str()).unwrap().state, PageState::Blocked);
    }
}
