"""CPU milliseconds per request, wall time and peak memory of whole crawls, side by side, on loopback.

CPU is user plus system time of the whole process, from wait4; requests are those that the server counted; passes are
interleaved, and of the rounds the median, the least and the most are told. A flat profile of each pass, taken apart from
what is measured, is written below target/bench/.
"""
import json, os, shutil, statistics, subprocess, sys, tempfile, time

from pages import pages_web

TARGET = os.environ.get("CARGO_TARGET_DIR", "target")
RELEASE = os.path.join(TARGET, "release")
VERNAL, WEB, ANSWERS, FARM = (os.path.join(RELEASE, name) for name in ("vernal", "bench-web", "ready-answers", "link-farm"))
# The spider crate, if it could be built (benches/run says so).
SPIDER = os.path.join(TARGET, "rivals", "release", "bench-spider")
PROFILES = os.path.join(TARGET, "bench")
PAIRS = os.environ.get("BENCH_PAIRS", "../shared/pairs/pairs.tar.zst")
PORT = 18500
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))


class Server:
    """A web in a process of its own, which tells how many requests it has answered."""

    def __init__(self, *words):
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.child.stdout.readline()
        if not line.startswith("ready"):
            raise SystemExit("the server did not start: " + " ".join(words))
        self.seed = line.split()[1]

    def requests(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return int(self.child.stdout.readline().split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


def measured(words):
    """CPU seconds, wall seconds and peak resident megabytes of a command, and what it printed."""
    os.sync()  # Nobody pays for writing what another has left.
    start = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) not in (0, 8):
        raise SystemExit("failed: " + " ".join(words))
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, out


# As fast as the machine goes: nobody else's machine is asked.
FREE = ["--delay", "0s", "--per-site", "32", "--concurrency", "32", "--per-address-rate", "1000000",
        "--per-address", "1000", "--max-pages", "100000000"]
AGAIN = ["--refresh-min", "0s", "--budget", "1000000/s"]


def crawling(seed, data, *more, hints="off", search="off"):
    return [VERNAL, "run", seed, "--data", data, "--until-idle", "--no-serve", "--allow-private", "-q",
            "--hints", hints, "--search", search, *FREE, *more]


def totals(data):
    return json.loads(subprocess.check_output([VERNAL, "status", "--json", "--data", data]))


class InventedWeb:
    """One site of the simulator's invented web."""
    name = "invented"

    def __init__(self, pages):
        self.pages, self.told = pages, f"{pages} invented pages on one site"

    def served(self, day=0, validators="validators", sitemap=False):
        return Server(WEB, str(PORT), str(self.pages), str(day), validators)

    # Once changed, as pages in life are (half of them in less than a hundredth of their words); then, after twenty changes
    # that nobody saw, most of the prose written anew.
    changes = (("changed", 1), ("changed, most prose anew", 21))
    without_validators = True
    held_share_min = 1


class RealWeb:
    """Real pages behind redirects and errors, in several charsets: see pages.py."""
    name = "real"
    changes = (("changed", 1),)
    without_validators = False
    held_share_min = 0.99  # some of the real pages are logins or say that nothing is there

    def __init__(self, folder, web):
        self.folder, self.pages = folder, web.pages
        self.told = f"{web.pages} real pages, {web.redirects} redirects and {web.errors} errors on one site"

    def served(self, day=0, validators="validators", sitemap=False):
        return Server(ANSWERS, str(PORT + 10), f"{self.folder}/answers-{day}", *["sitemap"] * sitemap)


class Passes:
    """What was seen of each pass, round for round."""

    def __init__(self):
        self.seen = {}

    def note(self, name, server, words, requests=None):
        before = server.requests()
        cpu, wall, peak, out = measured(words)
        asked = requests or server.requests() - before
        self.seen.setdefault(name, []).append((cpu * 1000 / asked, wall, peak, asked))
        return out

    def print(self):
        head = ("CPU ms/request", "least", "most", "of wget2", "wall s", "of wget2", "peak MB", "requests")
        print(f"{'pass':38} {head[0]:>14}" + "".join(f"{word:>9}" for word in head[1:]))
        rival = self.seen.get("wget2")
        for name, rows in self.seen.items():
            cpus, walls, peaks, asked = zip(*rows)
            # Held against wget2 round for round, because the machine's speed moves between the rounds.
            shares = ["", ""]
            if rival:
                shares = [f"{statistics.median(ours[at] / theirs[at] for ours, theirs in zip(rows, rival)):.2f}"
                          for at in (0, 1)]
            print(f"{name:38} {statistics.median(cpus):14.3f}{min(cpus):9.3f}{max(cpus):9.3f}{shares[0]:>9}"
                  f"{statistics.median(walls):9.2f}{shares[1]:>9}{statistics.median(peaks):9.1f}{asked[-1]:9}")


def crawl(web):
    """First visit, unchanged by 304, changed, unchanged by bytes, and wget2 and spider beside us. The crawl alone, and then
    with the site's sitemap heard as well (a file of all its pages, which is fetched, read and held against what was found)."""
    passes, heard = Passes(), ", hints heard"
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            one_round(web, passes, folder, heard)
    print(f"\n{web.told}, {ROUNDS} interleaved rounds")
    passes.print()
    profile(web)


def one_round(web, passes, folder, heard):
    data, data_heard = folder + "/a", folder + "/h"
    with web.served() as server:
        passes.note("first visit", server, crawling(server.seed, data))
        passes.note("(a run with nothing to do)", server, crawling(server.seed, data), requests=web.pages)
        passes.note("unchanged, 304", server, crawling(server.seed, data, *AGAIN))
        if shutil.which("wget2"):
            passes.note("wget2", server, ["wget2", "-q", "-r", "-l", "inf", "--no-verbose", "--max-threads=16",
                                          "-P", folder + "/w", server.seed])
        if os.access(SPIDER, os.X_OK):
            passes.note("spider", server, [SPIDER, server.seed])
    with web.served(sitemap=True) as server:
        passes.note("first visit" + heard, server, crawling(server.seed, data_heard, hints="on"))
        passes.note("unchanged, 304" + heard, server, crawling(server.seed, data_heard, *AGAIN, hints="on"))
    # The sitemap is a page too, where it is heard.
    for where, expected in ((data, web.pages), (data_heard, web.pages + 1)):
        if not expected * web.held_share_min <= (held := totals(where)["held"]) <= expected:
            raise SystemExit(f"held {held} pages, not {expected}")
    for name, day in web.changes:
        with web.served(day, sitemap=True) as server:
            before = totals(data)["changes"]
            passes.note(name, server, crawling(server.seed, data, *AGAIN))
            print(f"  {totals(data)['changes'] - before} of {web.pages} pages had changed", file=sys.stderr)
            if name == "changed":
                passes.note(name + heard, server, crawling(server.seed, data_heard, *AGAIN, hints="on"))
    if web.without_validators:
        with web.served(validators="none") as server:
            data = folder + "/b"
            passes.note("first visit, no validators", server, crawling(server.seed, data))
            passes.note("unchanged, same bytes", server, crawling(server.seed, data, *AGAIN))


def profile(web):
    """Where the CPU goes, as a flat list for each pass. Not measured: sampling costs something itself."""
    if not shutil.which("perf"):
        print("perf is missing, so no profile was written; install it with: sudo apt-get install linux-perf")
        return
    os.makedirs(PROFILES, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        samples, data = folder + "/samples", folder + "/a"
        for name, day, more in (("first", 0, ()), ("unchanged", 0, AGAIN), ("changed", 1, AGAIN)):
            with web.served(day) as server:
                taken = subprocess.run(["perf", "record", "-q", "-F", "2999", "-o", samples, "--",
                                        *crawling(server.seed, data, *more)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            flat = subprocess.run(["perf", "report", "-i", samples, "--no-children", "--stdio", "-s", "comm,symbol",
                                   "--percent-limit", "0.3"], capture_output=True, text=True)
            if taken.returncode or flat.returncode:
                print("perf does not work here, so no profile was written:", (taken.stderr or flat.stderr).strip()[:200])
                return
            lines = (line.rstrip(" -") for line in flat.stdout.splitlines() if line and not line.startswith("#"))
            path = os.path.join(PROFILES, f"profile-{web.name}-{name}.txt")
            with open(path, "w") as file:
                file.writelines(line + "\n" for line in lines)
            print("profile:", path)


def indexed(web):
    """The same passes with the text index and without it, beside each other. A crawl does not wait for its index when it ends:
    the first question afterwards takes the rest, and that belongs to the pass."""
    passes, rests = Passes(), {}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            for name, day, more in (("first visit", 0, ()), ("unchanged, 304", 0, AGAIN), ("changed", 1, AGAIN)):
                for search in ("off", "on"):
                    data = f"{folder}/{search}"
                    with web.served(day) as server:
                        passes.note(f"{name}, index {search}", server, crawling(server.seed, data, *more, search=search))
                question = [VERNAL, "--data", data, "search", "garden", "--limit", "1"]
                taking_the_rest, asking = (measured(question)[0] for _ in range(2))
                rests.setdefault(name, []).append(max(taking_the_rest - asking, 0) * 1000)
    print(f"\n{web.told}, {ROUNDS} interleaved rounds")
    passes.print()
    for name, rest in rests.items():
        off, on = (passes.seen[f"{name}, index {search}"] for search in ("off", "on"))
        costs = [on[at][0] + rest[at] / on[at][3] - off[at][0] for at in range(len(rest))]
        shares = [cost / off[at][0] for at, cost in enumerate(costs)]
        print(f"{name}: the index costs {statistics.median(costs):.3f} ms a request, {statistics.median(shares):.0%} more "
              f"({min(shares):.0%} to {max(shares):.0%})")


def of_webs(measure):
    """Measures on the invented web, and on the one of real pages where their archive is at hand."""
    measure(InventedWeb(4_711))
    with tempfile.TemporaryDirectory() as folder:
        if real := pages_web(PAIRS, folder + "/web", PORT + 10):
            measure(RealWeb(folder + "/web", real))
        else:
            print(f"{PAIRS} is not there, so the invented web was measured alone (BENCH_PAIRS names another place)")


def frontier(waiting=10_000_000, fan=1_000):
    """Fills the frontier in one process, and compares what a page costs at the end with what it cost at the start."""
    server = Server(FARM, str(PORT + 1), str(fan))
    pages, ticks = waiting // fan, os.sysconf("SC_CLK_TCK")
    samples, peak = [], 0
    with tempfile.TemporaryDirectory() as folder:
        data = folder + "/d"
        child = subprocess.Popen([VERNAL, "run", server.seed, "--data", data, "--no-serve", "--allow-private", "-q", *FREE,
                                  "--visits", str(pages)], stdout=subprocess.DEVNULL)
        try:
            while child.poll() is None:
                time.sleep(1)
                try:
                    told = totals(data)
                    with open(f"/proc/{child.pid}/stat") as stat:
                        fields = stat.read().rsplit(")", 1)[1].split()
                except (OSError, subprocess.CalledProcessError):
                    continue
                samples.append((told["visits"], (int(fields[11]) + int(fields[12])) / ticks))
                with open(f"/proc/{child.pid}/status") as status:
                    peak = max([peak] + [int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")])
                if len(samples) % 30 == 0:
                    print(f"  {told['waiting']:>12} waiting after {told['visits']} pages", flush=True)
            print(f"  {totals(data)['waiting']} URLs wait at the end; peak {peak:.0f} MB")
        finally:
            child.kill(); server.child.kill(); server.child.wait()
    costs = []
    for fifth in range(5):
        inside = [s for s in samples if pages * fifth / 5 <= s[0] <= pages * (fifth + 1) / 5]
        if len(inside) < 2:
            raise SystemExit("too few samples; make the crawl larger")
        (v0, c0), (v1, c1) = inside[0], inside[-1]
        costs.append((c1 - c0) * 1000 / max(v1 - v0, 1))
    print("CPU ms per page of %d links, fifth by fifth: %s" % (fan, " ".join(f"{cost:.2f}" for cost in costs)))
    print(f"last fifth over first {costs[-1] / costs[0]:.2f}, over second {costs[-1] / costs[1]:.2f}")


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "crawl"
    if what in ("crawl", "all"):
        of_webs(crawl)
    if what in ("crawl-37k", "all"):
        crawl(InventedWeb(37_000))
    if what in ("index", "all"):
        of_webs(indexed)
    if what in ("frontier", "all"):
        frontier()
