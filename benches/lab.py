"""The laboratory's speed: visits per CPU second of policies alone and of the whole crawler in virtual time, one replay of a
recording with five policies, and with --huge the scheduler at 100 million pages.

CPU is user plus system time of the whole process; what it takes to take up the pages and to choose for the first hour is
told apart.
"""
import os, shutil, subprocess, sys, tempfile, time

BUILT = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release", "examples")
SCALE, LAB, CRAWL = (os.path.join(BUILT, name) for name in ("scale", "lab", "crawl"))
POLICIES = ["vernal", "bayes", "index", "round-robin", "proportional", "greedy", "adaptive", "hybrid", "correlated"]
PAGES, SITES, VISITS = 100_000, 1_000, 300_000
HUGE_PAGES, HUGE_SITES, HUGE_VISITS = 100_000_000, 1_000_000, 10_000_000
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


def whole_crawler():
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    folder = tempfile.mkdtemp(dir=memory)
    try:
        cpu, megabytes, _, out = measured(CRAWL, folder + "/data", 20, 500, 10)
        visits = int(out.split()[0])
        print(f"whole crawler in virtual time, journal in memory: {visits:,} visits, {visits / cpu:,.0f} per CPU second, {megabytes:.0f} MB")
    finally:
        shutil.rmtree(folder)


def replay(trace):
    _, _, wall, out = measured(LAB, "pub,ota,stalker", REPLAYED, "5%/day", 1, trace)
    print(out, end="")
    print(f"one replay of three webs with five policies, one after the other: {wall:.0f} s")


def huge():
    """The cost of a decision is met with that of the same days at fewer pages, for it falls while priors settle."""
    _, small, _ = scaled("vernal", PAGES, SITES, PAGES * HUGE_VISITS // HUGE_PAGES)
    taken_up, micros, megabytes = scaled("vernal", HUGE_PAGES, HUGE_SITES, HUGE_VISITS)
    print(f"vernal, {HUGE_PAGES:,} pages on {HUGE_SITES:,} sites: taken up in {taken_up:.0f} CPU s, {megabytes:,} MB,")
    print(f"  {micros:.1f} µs a decision, {micros / small:.2f} times that at {PAGES:,} pages")


if "--huge" in sys.argv:
    huge()
else:
    policies_alone()
    whole_crawler()
    if "--trace" in sys.argv:
        replay(sys.argv[sys.argv.index("--trace") + 1])
