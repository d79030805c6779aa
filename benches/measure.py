"""CPU milliseconds per page and peak memory of whole crawls, side by side, on loopback.

CPU is user plus system time of the whole process, from wait4; passes are interleaved, and of the rounds the median, the
least and the most are told.
"""
import json, os, shutil, statistics, subprocess, sys, tempfile, time

RELEASE = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release")
VERNAL, WEB, FARM = (os.path.join(RELEASE, name) for name in ("vernal", "bench-web", "link-farm"))
# The spider crate, if it could be built (benches/run says so).
SPIDER = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "rivals", "release", "bench-spider")
PORT = 18500
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))


def served(*words):
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    line = child.stdout.readline()
    if not line.startswith("ready"):
        raise SystemExit("the server did not start: " + " ".join(words))
    return child, line.split()[1]


def measured(words, **more):
    """CPU seconds and peak resident megabytes of a command."""
    os.sync()  # Nobody pays for writing what another has left.
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more)
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 8):
        raise SystemExit("failed: " + " ".join(words))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out


# As fast as the machine goes: nobody else's machine is asked.
FREE = ["--delay", "0s", "--per-site", "16", "--concurrency", "16", "--per-address-rate", "1000000",
        "--per-address", "1000", "--max-pages", "100000000"]


def vernal(seed, data, *more, hints="off"):
    return measured([VERNAL, "run", seed, "--data", data, "--until-idle", "--no-serve", "--allow-private", "-q",
                     "--hints", hints, *FREE, *more])


def totals(data):
    return json.loads(subprocess.check_output([VERNAL, "status", "--json", "--data", data]))


AGAIN = ["--refresh-min", "0s", "--budget", "1000000/s"]


def crawl(pages):
    """First visit, unchanged by 304, changed, unchanged by bytes, and wget2 and spider beside us. The crawl alone, and then
    with the site's sitemap heard as well (a file of all its pages, which is fetched, read and held against what was found)."""
    seen = {}
    heard = ", hints heard"

    def note(name, cpu, rss, count=pages):
        seen.setdefault(name, []).append((cpu * 1000 / count, rss))

    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            data, data_heard = folder + "/a", folder + "/h"
            server, seed = served(WEB, str(PORT), str(pages), "0", "validators")
            try:
                note("first visit", *vernal(seed, data)[:2])
                note("(a run with nothing to do)", *vernal(seed, data)[:2])
                note("unchanged, 304", *vernal(seed, data, *AGAIN)[:2])
                note("first visit" + heard, *vernal(seed, data_heard, hints="on")[:2])
                note("unchanged, 304" + heard, *vernal(seed, data_heard, *AGAIN, hints="on")[:2])
                # The sitemap is a page too, where it is heard.
                for where, expected in ((data, pages), (data_heard, pages + 1)):
                    if (held := totals(where)["held"]) != expected:
                        raise SystemExit(f"held {held} pages, not {expected}")
                if shutil.which("wget2"):
                    cpu, rss, _ = measured(["wget2", "-q", "-r", "-l", "inf", "--no-verbose", "--max-threads=16",
                                            "-P", folder + "/w", seed])
                    got = sum(len(files) for _, _, files in os.walk(folder + "/w"))
                    note(f"wget2 ({got} files)", cpu, rss)
                if os.access(SPIDER, os.X_OK):
                    cpu, rss, out = measured([SPIDER, seed])
                    note(f"spider ({int(out.split()[0])} pages)", cpu, rss)
            finally:
                server.kill(); server.wait()
            # Once changed, as pages in life are (half of them in less than a hundredth of their words); then, after
            # twenty changes that nobody saw, most of the prose written anew.
            for name, day in (("changed", "1"), ("changed, most prose anew", "21")):
                server, seed = served(WEB, str(PORT), str(pages), day, "validators")
                try:
                    before = totals(data)["changes"]
                    note(name, *vernal(seed, data, *AGAIN)[:2])
                    print(f"  {totals(data)['changes'] - before} of {pages} pages had changed", file=sys.stderr)
                    if day == "1":
                        note(name + heard, *vernal(seed, data_heard, *AGAIN, hints="on")[:2])
                finally:
                    server.kill(); server.wait()
            server, seed = served(WEB, str(PORT), str(pages), "0", "none")
            try:
                data = folder + "/b"
                note("first visit, no validators", *vernal(seed, data)[:2])
                note("unchanged, same bytes", *vernal(seed, data, *AGAIN)[:2])
            finally:
                server.kill(); server.wait()
    print(f"\n{pages} pages on one site, {ROUNDS} interleaved rounds")
    print(f"{'pass':32} {'CPU ms per page, median':>24} {'least':>7} {'most':>7} {'peak MB':>9}")
    for name, rows in seen.items():
        cpus, peaks = zip(*rows)
        told = f"{statistics.median(cpus):24.3f} {min(cpus):7.3f} {max(cpus):7.3f} {statistics.median(peaks):9.1f}"
        print(f"{name:32} {told}")


def frontier(waiting=10_000_000, fan=1_000):
    """Fills the frontier in one process, and compares what a page costs at the end with what it cost at the start."""
    server, seed = served(FARM, str(PORT + 1), str(fan))
    pages, ticks = waiting // fan, os.sysconf("SC_CLK_TCK")
    samples, peak = [], 0
    with tempfile.TemporaryDirectory() as folder:
        data = folder + "/d"
        child = subprocess.Popen([VERNAL, "run", seed, "--data", data, "--no-serve", "--allow-private", "-q", *FREE,
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
            child.kill(); server.kill(); server.wait()
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
        crawl(4_711)
    if what in ("crawl-37k", "all"):
        crawl(37_000)
    if what in ("frontier", "all"):
        frontier()
