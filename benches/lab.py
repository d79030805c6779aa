"""The laboratory's speed: visits per CPU second of policies alone and of the whole crawler in virtual time, one replay of a
recording with five policies, and with --huge the scheduler at 10 million pages.

CPU is user plus system time; what it takes to take up the pages and to choose for the first hour is told apart. The whole
crawler is measured in the very binary that people have, by what it says of itself: from the empty repository to the last
request held against the truth, without drawing the world and without the policy alone beside it.
"""
import json, os, statistics, subprocess, sys, time

RELEASE = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release")
VERNAL = os.path.join(RELEASE, "vernal")
SCALE, LAB = (os.path.join(RELEASE, "examples", name) for name in ("scale", "lab"))
POLICIES = ["vernal", "bayes", "index", "round-robin", "proportional", "greedy", "adaptive", "hybrid", "correlated"]
PAGES, SITES, VISITS = 100_000, 1_000, 300_000
RING_POLICIES, RING_DAYS = ["vernal", "round-robin"], 21
HUGE_PAGES, HUGE_SITES, HUGE_VISITS = 10_000_000, 100_000, 30_000_000
REPLAYED = "round-robin,hindsight,bayes,vernal,greedy"


def measured(*words):
    """CPU seconds, peak resident megabytes, wall seconds and the output of a command."""
    begun = time.monotonic()
    child = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit("failed: " + " ".join(map(str, words)))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, time.monotonic() - begun, out


def scaled(policy, pages, sites, visits):
    """CPU seconds to take up the pages, microseconds of CPU for each visit after the first hour, and megabytes."""
    taken_up, counted, spent, megabytes = measured(SCALE, policy, pages, sites, visits)[3].split()[-4:]
    return float(taken_up), float(spent) / int(counted) * 1e6, int(megabytes)


def policies_alone():
    print(f"policies alone, {PAGES:,} pages on {SITES:,} sites, {VISITS:,} visits, a tenth of the pages a day")
    for policy in POLICIES:
        rounds = [scaled(policy, PAGES, SITES, VISITS) for _ in range(3)]
        taken_up, micros, megabytes = sorted(rounds, key=lambda told: told[1])[1]
        print(f"  {policy:14} {1e6 / micros:12,.0f} visits per CPU second, taken up in {taken_up:.2f} s, {megabytes} MB", flush=True)


def crawled(policy, days):
    """Requests, CPU seconds and megabytes of one crawl of a world, as the binary tells them."""
    _, megabytes, _, out = measured(
        VERNAL, "lab", "crawl", "--json", "--quiet", "--policy", policy, "--pages", PAGES, "--days", days,
        "--warm-up", f"{days * 6}h", "--budget", "10%/day", "--noise", 0.02, "--misses", 0.02, "--errors", 0.002)
    told = json.loads(out)
    return told["requests"] + told["robots_requests"], told["cpu_s"], megabytes


def whole_crawler():
    """The whole crawler on a world of the laboratory, its repository in memory: all requests, and those after the first day
    alone, when every page is held."""
    print(f"whole crawler in virtual time, repository in memory, {PAGES:,} pages of world w1, a tenth of them a day, 2 % noise, 2 % misses")
    for policy in RING_POLICIES:
        first, first_cpu, _ = crawled(policy, 1)
        all_, all_cpu, megabytes = crawled(policy, RING_DAYS)
        print(f"  {policy:14} {all_:9,} requests {all_ / all_cpu:9,.0f} per CPU second, {(all_ - first) / (all_cpu - first_cpu):9,.0f} after the first day, {first / first_cpu:9,.0f} in it {megabytes:6.0f} MB", flush=True)


def replay(trace):
    _, _, wall, out = measured(LAB, "pub,ota,stalker", REPLAYED, "5%/day", 1, trace)
    print(out, end="")
    print(f"one replay of three webs with five policies, one after the other: {wall:.0f} s")


def huge():
    """The cost of a decision is met with that of the same days at fewer pages, for it falls while priors settle. Those take
    two hundredths of a second, so that a neighbour hits some of them whole: the median of many, before and after."""
    few = lambda: [scaled("vernal", PAGES, SITES, PAGES * HUGE_VISITS // HUGE_PAGES)[1] for _ in range(25)]
    smalls = few()
    taken_up, micros, megabytes = scaled("vernal", HUGE_PAGES, HUGE_SITES, HUGE_VISITS)
    smalls += few()
    small = statistics.median(smalls)
    print(f"vernal, {HUGE_PAGES:,} pages on {HUGE_SITES:,} sites: taken up in {taken_up:.0f} CPU s, {megabytes:,} MB,")
    print(f"  {micros:.2f} µs a decision, {micros / small:.2f} times that at {PAGES:,} pages ({small:.2f} µs, {min(smalls):.2f} to {max(smalls):.2f})")


if "--huge" in sys.argv:
    huge()
elif "--ring" in sys.argv:
    whole_crawler()
else:
    policies_alone()
    whole_crawler()
    if "--trace" in sys.argv:
        replay(sys.argv[sys.argv.index("--trace") + 1])
