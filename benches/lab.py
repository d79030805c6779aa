"""The laboratory's speed: visits per CPU second of policies alone and of the whole crawler in virtual time, one replay of a
recording with five policies, and with --huge the scheduler at 100 million pages.

CPU is user plus system time of the whole process, from wait4; what it takes to take up the pages is measured apart and
taken off.
"""
import os, shutil, subprocess, sys, tempfile, time

BUILT = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release", "examples")
SCALE, LAB, CRAWL = (os.path.join(BUILT, name) for name in ("scale", "lab", "crawl"))
POLICIES = ["vernal", "bayes", "index", "round-robin", "proportional", "greedy", "adaptive", "hybrid", "correlated"]
PAGES, SITES, VISITS = 100_000, 1_000, 300_000
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


def decided(policy, pages, sites, visits):
    """Microseconds of CPU for each visit, and megabytes."""
    taken_up = measured(SCALE, policy, pages, sites, 0)[0]
    cpu, megabytes, _, _ = measured(SCALE, policy, pages, sites, visits)
    return (cpu - taken_up) / visits * 1e6, megabytes


def policies_alone():
    print(f"policies alone, {PAGES:,} pages on {SITES:,} sites, {VISITS:,} visits, a tenth of the pages a day")
    for policy in POLICIES:
        micros, megabytes = min(decided(policy, PAGES, SITES, VISITS) for _ in range(3))
        print(f"  {policy:14} {1e6 / micros:12,.0f} visits per CPU second {megabytes:8.0f} MB")


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
    small, _ = decided("vernal", PAGES, SITES, VISITS)
    micros, megabytes = decided("vernal", 100_000_000, 1_000_000, 1_000_000)
    print(f"vernal, 100,000,000 pages on 1,000,000 sites: {megabytes:,.0f} MB, {micros:.1f} µs a decision, {micros / small:.2f} times that at {PAGES:,} pages")


if "--huge" in sys.argv:
    huge()
else:
    policies_alone()
    whole_crawler()
    if "--trace" in sys.argv:
        replay(sys.argv[sys.argv.index("--trace") + 1])
