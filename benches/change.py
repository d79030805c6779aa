"""Change detection beside its peers, in one run over the shared pairs: ./x bench change.

Peers run in a Python environment of their own below target/: lxml's htmldiff, and the text step that page watchers use
(text taken out with lxml, compared by difflib). What cannot be installed is left out and said.
"""
import difflib, json, os, statistics, subprocess, sys, tarfile, tempfile, time

PAIRS = os.environ.get("BENCH_PAIRS", "../shared/pairs/pairs.tar.zst")
BENCH = os.environ.get("BENCH_CHANGE", os.environ.get("CARGO_TARGET_DIR", "target") + "/release/bench-change")
# htmldiff needs seconds for some pages; a sample of the pairs is enough for a median.
PEER_PAIRS = int(os.environ.get("BENCH_PEER_PAIRS", "60"))


def percentile(times, share):
    times = sorted(times)
    return times[round((len(times) - 1) * share)]


def peers(folder):
    try:
        from lxml import html as lxml_html
        try:
            from lxml.html.diff import htmldiff
        except ImportError:
            htmldiff = None
    except ImportError:
        print("lxml is missing, so there is nothing beside us", file=sys.stderr)
        return {}
    names = sorted(name[: -len(".before.html")] for name in os.listdir(folder) if name.endswith(".before.html"))
    step = max(1, len(names) // PEER_PAIRS)
    seen = {}

    def text(page):
        tree = lxml_html.document_fromstring(page)
        for gone in tree.xpath("//script|//style|//noscript|//template"):
            gone.drop_tree()
        return [line.strip() for line in tree.text_content().splitlines() if line.strip()]

    def timed(name, work):
        started = time.perf_counter()
        try:
            work()
        except Exception as why:  # a peer that stumbles over a page is not timed on it
            print(f"{name}: {type(why).__name__}", file=sys.stderr)
            return
        seen.setdefault(name, []).append((time.perf_counter() - started) * 1000)

    for name in names[::step]:
        before, after = (open(f"{folder}/{name}.{side}.html", "rb").read() for side in ("before", "after"))
        if htmldiff and len(before) < 200_000:
            old, new = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
            timed("lxml htmldiff", lambda: htmldiff(old, new))
        timed("lxml text + difflib", lambda: list(difflib.unified_diff(text(before), text(after), n=0)))
    return {name: {"p50_ms": statistics.median(times), "p99_ms": percentile(times, 0.99), "pages": len(times)}
            for name, times in seen.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "--zstd", "-xf", PAIRS, "-C", folder], check=True)
        folder += "/html"
        ours = json.loads(subprocess.check_output([BENCH, folder]))
        theirs = peers(folder)
    print(f"{ours['pairs']} pairs, {ours['bytes'] / 1e6:.1f} MB; one thread")
    wanted = {"signature_mb_per_s": "at least 250, goal 500", "compare_unchanged_us": "at most 5",
              "compare_changed_p50_us": "", "compare_changed_p99_us": "at most 50", "diff_p50_ms": "at most 1",
              "diff_p99_ms": "at most 20", "signature_bytes_mean": "300 + 16 per paragraph", "paragraphs_mean": ""}
    for name, want in wanted.items():
        print(f"| {name} | {ours[name]} | {want} |")
    for name, peer in theirs.items():
        ratio = peer["p50_ms"] / max(ours["diff_p50_ms"], 1e-9)
        print(f"| {name} ({peer['pages']} pages) | p50 {peer['p50_ms']:.2f} ms, p99 {peer['p99_ms']:.1f} ms | {ratio:.0f} times ours (p50, pages already parsed by us) |")


main()
