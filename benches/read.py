"""What readers wait for: search, pages, histories, diffs, the feed from its beginning, and the making of the text index.

benches/run read [--pages N] [--versions N]; the repository is generated (see benches/src/bin/bench-read.rs).
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

QUESTIONS = 400
WARM = 50
WANTED = {
    "search_p95_ms": 50,
    "page_p95_ms": 100,
    "history_p95_ms": 100,
    "diff_p95_ms": 100,
    "feed_events_per_s": -50_000,
    "index_versions_per_s_core": -2_000,
    "index_share_of_bodies": 0.5,
    "markdown_pages_per_s_core": -1_000,
}


class Socket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def p95(values):
    return statistics.quantiles(values, n=20)[-1]


def size_of(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def timed(connection, paths):
    times = []
    for path in paths:
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        times.append((time.perf_counter() - began) * 1e3)
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {body[:200]}")
    return times[WARM:]


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("vernal")
    ask.add_argument("make")
    ask.add_argument("--pages", type=int, default=200_000)
    ask.add_argument("--versions", type=int, default=1_000_000)
    ask.add_argument("--folder", help="keeps the repository here, and uses one that is there")
    asked = ask.parse_args()
    folder = asked.folder or tempfile.mkdtemp(prefix="vernal-read-")
    data = os.path.join(folder, "data")
    found = {"pages": asked.pages, "versions": asked.versions}
    try:
        if not os.path.exists(data):
            made = subprocess.run([asked.make, data, str(asked.pages), str(asked.versions)], check=True, stdout=subprocess.PIPE)
            found["made"] = json.loads(made.stdout)
        measure(asked, data, found)
    finally:
        if not asked.folder:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(found, indent=1))
    for name, wanted in WANTED.items():
        if name in found:
            is_met = found[name] <= wanted if wanted > 0 else found[name] >= -wanted
            print(f"{name:28} {found[name]:12,.2f}   wanted {'at most' if wanted > 0 else 'at least'} {abs(wanted):,}   {'met' if is_met else 'MISSED'}")


def measure(asked, data, found):
    quiet = ["--data", data, "-q"]
    command = [asked.vernal, *quiet, "run", "--no-serve", "--budget", "1/day", "--refresh-min", "1000d", "--search", "on", "--disk-free-min", "0"]
    began = time.perf_counter()
    crawl = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        path = os.path.join(data, "vernal.sock")
        connection = None
        while connection is None:
            try:
                connection = Socket(path)
                connection.connect()
            except OSError:
                connection = None
                if crawl.poll() is not None:
                    sys.exit("the crawl ended")
                time.sleep(0.05)
        status = {}
        cpu = cpu_s(crawl.pid)
        while True:
            connection.request("GET", "/api/v1/status")
            status = json.loads(connection.getresponse().read())
            search = status.get("search")
            if search and search["behind_events"] == 0:
                break
            time.sleep(0.5)
        cpu = cpu_s(crawl.pid) - cpu
        bodies = size_of(os.path.join(data, "bodies"))
        found["index_seconds"] = time.perf_counter() - began
        found["index_versions_per_s_core"] = asked.versions / max(cpu, 0.01)
        found["index_share_of_bodies"] = status["search"]["bytes"] / bodies
        found["bodies_bytes"] = bodies
        found["index_bytes"] = status["search"]["bytes"]
        draw = random.Random(1)
        word = lambda: f"w{int(draw.random() ** 3 * 30_000):04x}"
        questions = lambda: ["/api/v1/search?limit=10&q=" + "+".join(word() for _ in range(draw.choice([1, 2, 2, 3]))) for _ in range(QUESTIONS + WARM)]
        found["search_p95_ms"] = p95(timed(connection, questions()))
        found["search_removed_p95_ms"] = p95(timed(connection, [path + "&in=removed" for path in questions()]))
        def url():
            page = draw.randrange(asked.pages)
            return f"http%3A%2F%2Fs{page % 7}.example-{page % 1000}.org%2Ffolder%2Fpage-{page}"
        for noun in ["page", "history", "diff"]:
            found[f"{noun}_p95_ms"] = p95(timed(connection, [f"/api/v1/{noun}?url={url()}" for _ in range(QUESTIONS + WARM)]))
        began, events = time.perf_counter(), 0
        connection.request("GET", "/api/v1/changes?brief=true")
        answer = connection.getresponse()
        while part := answer.read(1 << 20):
            events += part.count(b"\n")
        found["feed_events"] = events
        found["feed_events_per_s"] = events / (time.perf_counter() - began)
        atom = [f"/feed.atom?site=s{n % 7}.example-{n}.org" for n in range(QUESTIONS // 10 + WARM)]
        found["atom_of_site_p95_ms"] = p95(timed(connection, atom))
        found["peak_mb"] = int([line for line in open(f"/proc/{crawl.pid}/status") if line.startswith("VmHWM")][0].split()[1]) / 1024
    finally:
        crawl.terminate()
        crawl.wait()
    markdown(asked, data, found)


def markdown(asked, data, found):
    """Only where this build can export Markdown."""
    out = os.path.join(os.path.dirname(data), "markdown")
    began = time.perf_counter()
    before = os.times()
    done = subprocess.run([asked.vernal, "--data", data, "-q", "export", "markdown", "--out", out], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    after = os.times()
    if done.returncode == 0:
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        found["markdown_pages_per_s_core"] = asked.pages / max(cpu, 0.01)
        found["markdown_seconds"] = time.perf_counter() - began
    shutil.rmtree(out, ignore_errors=True)


main()
