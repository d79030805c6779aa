"""Makes a web of real pages out of pairs of page versions, as finished answers that the server `ready-answers` sends.

    answers-0/ answers-1/     the web before and after every page's change
      index                   path, ETag, start and bytes as sent plain, start and bytes as sent packed; by tabs
      answers                 the answers, heads included

Each page is used a few times, under numbers of its own. A link to a page of its own site leads to another number, so that
the site hangs together as the real ones do; links to other sites stay, and everything else that a page loads is said to lie
elsewhere. Every other page is reached by a redirect only, one link in twenty leads to an error, half of the pages are
written in an older charset, and all of it is packed with gzip for those who accept that.
"""
import gzip, os, re, subprocess, zlib

COPIES = 6  # of each of the 535 pages: a few thousand pages, each in memory four times
# No 403, 429 or 5xx: after these a polite crawler leaves the site alone for a while, and that wait is not its speed.
ERRORS = ((404, "Not Found"), (410, "Gone"))
REDIRECTS = ((301, "Moved Permanently"), (302, "Found"), (308, "Permanent Redirect"), (307, "Temporary Redirect"))
# Every other page is said in one of these; letters they lack become character references.
CHARSETS = ("windows-1252", "iso-8859-15", "windows-1251", "shift_jis")
LINKS_ADDED = 12  # two of them make a tree, so that every page is reached

ANCHOR = re.compile(rb"(<a\b[^>]*?\bhref\s*=\s*)(\"[^\"]*\"|'[^']*'|[^\s>]+)", re.I)
ABSOLUTE = re.compile(rb"[a-z][a-z0-9+.-]*:|//|#|$", re.I)
DECLARED = re.compile(rb"(<meta\b[^>]*charset\s*=\s*[\"']?)([\w-]+)", re.I)
BASE = re.compile(rb"<base\b[^>]*>", re.I)
HEAD = re.compile(rb"<head\b[^>]*>", re.I)


class PagesWeb:
    def __init__(self, pairs, port):
        self.root = f"http://127.0.0.1:{port}"
        ids = sorted(name[: -len(".before.html")] for name in os.listdir(pairs) if name.endswith(".before.html"))
        self.pairs, self.ids = pairs, ids
        self.pages = COPIES * len(ids)
        self.errors = self.pages // 20
        self.redirects = self.pages // 2

    def link(self, number):
        """Where a link to this page leads; an odd page is reached by its redirect."""
        return f"/moved/{number}" if number % 2 else self.path(number)

    def path(self, number):
        return f"/page/{number}.html" if number else "/"

    def drawn(self, key):
        """A link drawn by its key: nineteen times in twenty to a page."""
        mark = zlib.crc32(key)
        if mark % 20 == 0:
            return f"/lost/{mark // 20 % self.errors}"
        return self.link(mark // 20 % self.pages)

    def page(self, number, version):
        """The bytes of a page and its charset."""
        copy, pair = divmod(number, len(self.ids))
        name = self.ids[pair]
        with open(f"{self.pairs}/{name}.{version}.html", "rb") as file:
            body = file.read()
        site = f"{copy} {name.rsplit('-', 1)[0]} ".encode()

        def led(found):
            target = found[2].strip(b"\"'").strip()
            if ABSOLUTE.match(target):
                return found[0]
            return found[1] + f'"{self.root}{self.drawn(site + target)}"'.encode()

        body = ANCHOR.sub(led, BASE.sub(b"", body))
        base = b'<base href="http://elsewhere.invalid/">'
        head = HEAD.search(body)
        body = body[: head.end()] + base + body[head.end():] if head else base + body
        links = [self.link(next) for next in (2 * number + 1, 2 * number + 2) if next < self.pages]
        links += [self.drawn(b"%d of %d" % (place, number)) for place in range(LINKS_ADDED - len(links))]
        added = f"<nav><p>Page {number} beside " + ", ".join(
            f'<a href="{self.root}{link}">{link.rsplit("/", 1)[1] or "start"}</a>' for link in links) + "</p></nav>"
        end = body.lower().rfind(b"</body>")
        body = body + added.encode() if end < 0 else body[:end] + added.encode() + body[end:]
        return self.said(body, number)

    def said(self, body, number):
        try:
            text, charset = body.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            text, charset = body.decode("windows-1252", "replace"), "windows-1252"
        if number % 2 == 0:
            charset = CHARSETS[number // 2 % len(CHARSETS)]
        body = text.encode(charset, "xmlcharrefreplace")
        return DECLARED.sub(lambda found: found[1] + charset.encode(), body, count=1), charset

    def write(self, folder, version):
        """Writes the web as it is before or after the change."""
        os.makedirs(folder)
        with open(folder + "/answers", "wb") as answers, open(folder + "/index", "w") as index:
            def add(path, status, headers, body, packed=True, etag="-"):
                places = []
                for coded in (False, True):
                    coded = coded and packed
                    sent = gzip.compress(body, 6, mtime=0) if coded else body
                    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(sent)}"]
                    lines += ["Vary: Accept-Encoding"] + ["Content-Encoding: gzip"] * coded if packed else []
                    sent = "\r\n".join(lines).encode() + b"\r\n\r\n" + sent
                    places += [answers.tell(), len(sent)]
                    answers.write(sent)
                print(path, etag, *places, sep="\t", file=index)

            for number in range(self.pages):
                body, charset = self.page(number, version)
                etag = f'"{zlib.crc32(body):08x}"'
                # Every third page leaves it to its own words what its charset is.
                declared = "" if number % 3 == 0 and DECLARED.search(body) else f"; charset={charset}"
                add(self.path(number), "200 OK", [f"Content-Type: text/html{declared}", f"ETag: {etag}"], body, etag=etag)
                if number % 2:
                    code, reason = REDIRECTS[number // 2 % len(REDIRECTS)]
                    where = self.path(number) if number % 4 == 1 else self.root + self.path(number)
                    add(f"/moved/{number}", f"{code} {reason}", [f"Location: {where}"], b"", packed=False)
            for number in range(self.errors):
                code, reason = ERRORS[number % len(ERRORS)]
                body = f"<!doctype html><title>{reason}</title><h1>{reason}</h1><p>There is no {number} here.".encode()
                add(f"/lost/{number}", f"{code} {reason}", ["Content-Type: text/html"], body)
            listed = "".join(f"<url><loc>{self.root}{self.path(number)}</loc></url>\n" for number in range(self.pages))
            listed = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{listed}</urlset>\n'
            add("/sitemap.xml", "200 OK", ["Content-Type: application/xml"], listed.encode())
            add("/robots.txt", "200 OK", ["Content-Type: text/plain"], b"User-agent: *\nDisallow: /private/\n", packed=False)
            robots = f"User-agent: *\nDisallow: /private/\nSitemap: {self.root}/sitemap.xml\n".encode()
            add("/robots.txt with sitemap", "200 OK", ["Content-Type: text/plain"], robots, packed=False)


def pages_web(archive, folder, port):
    """Unpacks the archive of pairs and writes both versions of the web; None where there is no archive."""
    if not os.path.exists(archive):
        return None
    os.makedirs(folder)
    subprocess.run(["tar", "--zstd", "-xf", archive, "-C", folder], check=True)
    web = PagesWeb(folder + "/html", port)
    for day, version in enumerate(("before", "after")):
        web.write(f"{folder}/answers-{day}", version)
    return web
