"""Holds the feed against real sites: releases of published documentation, served one after the other.

Each release of a project is built to HTML with the generator that its authors use, served, and crawled. What changed is read
out of the built pages by BeautifulSoup, which knows nothing of Vernal:

    main     the text of the main element differs
    frame    only the text around it differs (menus, sidebars, footers, the title)
    hidden   no text differs

Then the feed is asked. Each page whose main text differs must have an event with content, pages whose text is the same must
have none, and pages where only the frame differs should be told by one event of the site. A second reader follows
`changes --pages` alone, keeps the paragraphs of all pages, and is compared with `blame` in the end.

    benches/sites.py VERNAL [SITE…] [--keep]
"""
import functools, glob, hashlib, html.parser, http.server, json, os, random, re, shutil, subprocess, sys, tarfile, tempfile
import threading, urllib.parse, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", ROOT + "/target")
WORK = TARGET + "/sites"
TOOLS = WORK + "/tools/bin/"
PACKAGES = ["sphinx==8.2.3", "mkdocs==1.6.1", "beautifulsoup4==4.13.4", "lxml==6.0.0"]

RELEASES = {
    "flask": "1.0.4 1.1.0 1.1.2 1.1.4 2.0.0 2.0.3 2.1.0 2.1.3 2.2.0 2.2.5 2.3.0 2.3.3 3.0.0 3.0.3 3.1.0",
    "attrs": "17.4.0 18.1.0 18.2.0 19.1.0 19.2.0 19.3.0 20.1.0 20.3.0 21.1.0 21.2.0 21.4.0 22.1.0",
    "jinja2": "2.10 2.10.1 2.10.3 2.11.0 2.11.3 3.0.0 3.0.3 3.1.0 3.1.2 3.1.4 3.1.6",
    "starlette": "0.38.4 0.39.0 0.40.0 0.41.0 0.42.0 0.44.0 0.45.0 0.46.0 0.47.0 0.48.0 0.49.0 0.50.0 0.52.0 1.0.0",
}
SPHINX_THEMES = {"flask": "alabaster", "attrs": "classic", "jinja2": "nature"}
# The classic theme then names a date of the build in the footer of every page.
UPDATED = {"attrs": "%b %d, %Y"}
BLOG_STEPS = 12
MONTH = 30 * 86_400
BUILD_EPOCH = 1_500_000_000

CONF = """
project = {name!r}
version = release = {release!r}
extensions = []
html_theme = {theme!r}
root_doc = {root!r}
exclude_patterns = ["_build"]
html_copy_source = False
html_last_updated_fmt = {updated!r}
suppress_warnings = ["*"]
"""


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def install():
    if not os.path.exists(TOOLS + "sphinx-build"):
        say("installing the generators below", WORK)
        subprocess.run([sys.executable, "-m", "venv", WORK + "/tools"], check=True)
        subprocess.run([TOOLS + "pip", "install", "--quiet", *PACKAGES], check=True)


# ---- sources ------------------------------------------------------------------------------------------------------

class Anchors(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes if tag == "a" and name == "href" and value]


def index_url():
    asked = subprocess.run([TOOLS + "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    return (os.environ.get("PIP_INDEX_URL") or asked.stdout.strip() or "https://pypi.org/simple").rstrip("/")


@functools.cache
def archives(project):
    """The source archives of a project by release."""
    page = f"{index_url()}/{project}/"
    with urllib.request.urlopen(page, timeout=60) as answer:
        anchors = Anchors()
        anchors.feed(answer.read().decode())
    named = {}
    for link in anchors.found:
        name = urllib.parse.urlsplit(link).path.rsplit("/", 1)[-1]
        found = re.fullmatch(rf"{project}-([\d.]+)\.tar\.gz", name, re.I)
        if found:
            named[found[1]] = urllib.parse.urljoin(page, link)
    return named


def source(project, release):
    folder = f"{WORK}/sources/{project}-{release}"
    if not os.path.exists(folder):
        with urllib.request.urlopen(archives(project)[release], timeout=60) as answer:
            with tarfile.open(fileobj=answer, mode="r|gz") as archive:
                archive.extractall(folder + ".part", filter="data")
        os.rename(folder + ".part", folder)
    return glob.glob(folder + "/*/")[0]


def docs_folder(top):
    places = (top + "docs/source", top + "docs", top + "doc")
    return next(place for place in places if glob.glob(place + "/index.*"))


def build(project):
    """The folders of all steps, in order."""
    if project == "blog":
        return blog()
    steps = []
    for number, release in enumerate(RELEASES[project].split()):
        out = f"{WORK}/built/{project}/{release}"
        steps.append((release, out))
        if os.path.exists(out):
            continue
        top, part = source(project, release), out + ".part"
        shutil.rmtree(part, ignore_errors=True)
        settings = tempfile.mkdtemp()
        environment = dict(os.environ, SOURCE_DATE_EPOCH=str(BUILD_EPOCH + number * MONTH))
        if project in SPHINX_THEMES:
            write(settings + "/conf.py", CONF.format(
                name=project, release=release, theme=SPHINX_THEMES[project], root="index", updated=UPDATED.get(project)))
            command = [TOOLS + "sphinx-build", "-q", "-b", "html", "-c", settings, docs_folder(top), part]
        else:
            write(settings + "/mkdocs.yml", f"site_name: {project}\ndocs_dir: {top}docs\nsite_dir: {part}\n"
                  "theme: {name: readthedocs}\nplugins: []\nuse_directory_urls: false\n"
                  "markdown_extensions: [admonition, toc, tables]\n")
            command = [TOOLS + "mkdocs", "build", "-q", "-f", settings + "/mkdocs.yml"]
        built = subprocess.run(command, capture_output=True, text=True, env=environment)
        if not os.path.exists(part + "/index.html"):
            sys.exit(f"sites: build {project} {release}: {built.stderr[-500:]}")
        shutil.rmtree(settings)
        os.rename(part, out)
        say("built", project, release)
    return steps


# ---- a blog: real prose in pages whose frame names the newest posts, counts, related posts and running times --------

def blog():
    folder = WORK + "/built/blog"
    steps = [(str(step), f"{folder}/{step}") for step in range(BLOG_STEPS)]
    if os.path.exists(folder):
        return steps
    prose = []
    for path in sorted(glob.glob(docs_folder(source("flask", "3.0.0")) + "/**/*.rst", recursive=True)):
        blocks = open(path, encoding="utf-8").read().split("\n\n")
        prose += [" ".join(block.split()) for block in blocks if re.match(r"[A-Z][a-z]+ ", block) and "::" not in block]
    chance = random.Random(7)
    posts = [dict(number=number, title=" ".join(prose[number].split()[:6]), tags=chance.sample(TAGS, 2),
                  text=prose[number * 6:number * 6 + 6]) for number in range(len(prose) // 7)]
    posts = posts[:110]
    for step, (_, out) in enumerate(steps):
        there = posts[:40 + step * 6]
        for post in chance.sample(there, 3) if step else []:
            line = chance.randrange(len(post["text"]))
            words = post["text"][line].split()
            words[chance.randrange(len(words))] = chance.choice(["nearly", "always", "seldom", "twice", "42"])
            post["text"][line] = " ".join(words)
        os.makedirs(out)
        for post in there:
            write(f"{out}/post-{post['number']}.html", article(post, there, chance, step))
        newest = there[::-1]
        pages = [newest[first:first + 10] for first in range(0, len(newest), 10)]
        for number, page in enumerate(pages):
            items = "".join(f"<article><h2><a href=post-{p['number']}.html>{p['title']}</a></h2><p>{p['text'][0]}</p></article>"
                            for p in page)
            more = f"<a href=page-{number + 1}.html>Older</a>" if number + 1 < len(pages) else ""
            body = f"<main><h1>Posts</h1>{items}{more}</main>"
            write(f"{out}/{'index' if number == 0 else f'page-{number}'}.html", framed("All posts", body, there, chance, step))
    return steps


TAGS = ["config", "templates", "testing", "deploy", "security", "signals", "views", "errors"]


def article(post, there, chance, step):
    text = "".join(f"<p>{line}</p>" for line in post["text"])
    related = "".join(f"<li><a href=post-{other['number']}.html>{other['title']}</a>" for other in chance.sample(there, 4))
    body = f"<main><article><h1>{post['title']}</h1>{text}</article></main><aside><h3>Related posts</h3><ul>{related}</ul></aside>"
    return framed(post["title"], body, there, chance, step)


def framed(title, body, there, chance, step):
    recent = "".join(f"<li><a href=post-{p['number']}.html>{p['title']}</a>" for p in there[:-6:-1])
    tags = [f"<li>{tag} ({sum(tag in p['tags'] for p in there)})" for tag in TAGS]
    chance.shuffle(tags)
    return (f"<!doctype html><html lang=en><head><title>{title} - Notes</title></head><body><header><a href=index.html>Notes</a>"
            f"</header>{body}<nav class=sidebar><h3>Recent</h3><ul>{recent}</ul><h3>Tags</h3><ul>{''.join(tags)}</ul>"
            f"<p>{len(there)} posts</p></nav><footer><p>Running for {700 + step * 30} days</p>"
            f"<p>Made in {chance.random():.3f} s</p></footer></body></html>")


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# ---- truth --------------------------------------------------------------------------------------------------------

def words(node):
    return " ".join(node.get_text(" ").replace("¶", " ").split()) if node else ""


def truth(folder):
    """By path: the words of the main element, all other words, and the digest of the bytes."""
    from bs4 import BeautifulSoup
    found = {}
    for path in glob.glob(folder + "/**/*.html", recursive=True):
        with open(path, "rb") as file:
            data = file.read()
        soup = BeautifulSoup(data, "lxml")
        for hidden in soup(["script", "style", "noscript", "template"]):
            hidden.decompose()
        main = soup.select_one("[role=main], main")
        main_words = words(main)
        if main:
            main.extract()
        found["/" + os.path.relpath(path, folder)] = (main_words, words(soup), hashlib.sha1(data).digest())
    return found


def difference(old, new):
    if old[0] != new[0]:
        return "main"
    return "frame" if old[1] != new[1] else "hidden" if old[2] != new[2] else "same"


# ---- the crawl ----------------------------------------------------------------------------------------------------

class Server(http.server.SimpleHTTPRequestHandler):
    """Serves the folder of the step, and always with a body, so that every difference is judged."""
    protocol_version = "HTTP/1.1"
    folder = "."

    def translate_path(self, path):
        self.directory = Server.folder
        return super().translate_path(path)

    def send_head(self):
        del self.headers["If-Modified-Since"]
        return super().send_head()

    def log_message(self, *_):
        pass


def vernal(binary, data, *arguments):
    done = subprocess.run([binary, *arguments, "--data", data], capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit(f"sites: {' '.join(arguments)}: {done.stderr[-500:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class Replica:
    """The paragraphs of all pages, known by the feed alone."""

    def __init__(self):
        self.held, self.cursor, self.faults = {}, None, 0

    def follow(self, binary, data):
        since = ["--since", self.cursor] if self.cursor else []
        for event in vernal(binary, data, "changes", "--json", "--pages", *since):
            self.cursor = event["cursor"]
            if event.get("replica") and not event["replica"]["missing"]:
                self.apply(event["url"], event["replica"])

    def apply(self, url, replica):
        operations = replica["operations"]
        page = [] if replica["whole"] else self.held.get(url, [])
        known = dict(page)
        self.faults += sum(one["op"] != "added" and one["id"] not in known for one in operations)
        leaving = {one["id"] for one in operations if one["op"] in ("removed", "moved")}
        page = [pair for pair in page if pair[0] not in leaving]
        for one in operations:
            if one["op"] in ("added", "moved"):
                text = known.get(one["id"]) if one["text"] is None else one["text"]
                page.insert(one["position"], (one["id"], text))
        edited = {one["id"]: one["text"] for one in operations if one["op"] == "edited"}
        self.held[url] = [(number, edited.get(number, text)) for number, text in page]

    def differing(self, binary, data):
        wrong = []
        for url, page in sorted(self.held.items()):
            blamed = vernal(binary, data, "blame", url, "--json")
            if page and [(one["id"], one["text"]) for one in blamed[0]["paragraphs"]] != page:
                wrong.append(url)
        return wrong


def judge(binary, site, keep):
    steps = build(site)
    data = tempfile.mkdtemp(prefix=f"sites-{site}-")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    count = dict.fromkeys(("pages", "main", "found", "quiet", "false", "frame", "frame_events", "site_events"), 0)
    before, cursor, replica, missed = {}, None, Replica(), []
    for release, folder in steps:
        Server.folder = folder
        subprocess.run([binary, "run", "-q", "--allow-private", "--delay", "1ms", "--no-serve", "--until-idle", "--refresh-min",
                        "0s", "--budget", "1000000/s", root + "/index.html", "--data", data], check=True, timeout=900)
        events = vernal(binary, data, "changes", "--json", *(["--since", cursor] if cursor else []))
        cursor = events[-1]["cursor"] if events else cursor
        replica.follow(binary, data)
        told = {}
        for event in events:
            if event["event"] in ("changed", "back"):
                told.setdefault(event["url"][len(root):], []).append(event)
            count["site_events"] += event["event"] == "template"
        # Files that no page links to are not held.
        held = {page["url"][len(root):] for page in vernal(binary, data, "pages", "--json") if page["state"] == "held"}
        now = {path: kept for path, kept in truth(folder).items() if path in held}
        for path in now.keys() & before.keys():
            content = any("content" in event["left"] for event in told.get(path, []))
            kind = difference(before[path], now[path])
            count["pages"] += 1
            if kind == "main":
                count["main"] += 1
                count["found"] += content
                missed += [] if content else [f"{release}{path}"]
            elif kind == "frame":
                count["frame"] += 1
                count["frame_events"] += path in told
            else:
                count["quiet"] += 1
                count["false"] += content
        before = now
    wrong = replica.differing(binary, data)
    server.shutdown()
    row = dict(site=site, steps=len(steps), **count, missed=missed, replica_pages=len(replica.held), replica_differ=len(wrong),
               replica_faults=replica.faults)
    if keep:
        say("kept", data, root)
    else:
        shutil.rmtree(data)
    return row


def main():
    keep = "--keep" in sys.argv
    binary, *sites = [argument for argument in sys.argv[1:] if argument != "--keep"]
    os.makedirs(WORK, exist_ok=True)
    install()
    if not sys.executable.startswith(WORK):
        os.execv(TOOLS + "python", [TOOLS + "python", os.path.abspath(__file__), *sys.argv[1:]])
    print("| site | steps | main text changed | found | only the frame | own events | events of the site | no text | told wrongly | replica |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for site in sites or [*RELEASES, "blog"]:
        row = judge(binary, site, keep)
        print("| {site} | {steps} | {main} | {found} | {frame} | {frame_events} | {site_events} | {quiet} | {false} | "
              "{equal} of {replica_pages} |".format(equal=row["replica_pages"] - row["replica_differ"], **row), flush=True)
        for page in row["missed"]:
            say("missed:", site, page)
        with open(f"{WORK}/{site}.json", "w") as file:
            json.dump(row, file, indent=1)


main()
