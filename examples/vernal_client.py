#!/usr/bin/env python3
"""A client of Vernal's API in one file, with nothing but Python's standard library:

    export API=http://127.0.0.1:8376       # and TOKEN=vernal_... where one is needed, CA=chain.pem for a certificate of your own
    python3 examples/vernal_client.py status
    python3 examples/vernal_client.py pages site=example.org
    python3 examples/vernal_client.py search 'q="exact words" begin*'
    python3 examples/vernal_client.py changes since=7d kind=content
    python3 examples/vernal_client.py follow place.json       # every change from where the last call stopped, without end
    python3 examples/vernal_client.py seeds
    python3 examples/vernal_client.py add-seed https://example.org/

Everything is printed as JSON lines. In a program: `Vernal(base, token).changes(since=cursor)`, and so on.
"""
import http.client
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TRIES_MAX = 5        # of one request while the crawl says that it is busy
WAIT_MAX = 30.0      # seconds between two tries
PATIENCE = 60.0      # seconds without a byte; a stream says every 15 seconds that it is still there


class Refused(Exception):
    """The crawl answered, and not with what was asked for."""

    def __init__(self, status, line, retry_after=None):
        super().__init__(f"{status}: {line}")
        self.status, self.line, self.retry_after = status, line, retry_after


class Vernal:
    def __init__(self, base, token=None, ca=None):
        self.base, self.token = base.rstrip("/"), token
        self.tls = ssl.create_default_context(cafile=ca) if self.base.startswith("https:") else None

    # One value.

    def status(self):
        return self.value("/api/v1/status")

    def page(self, url):
        return self.value("/api/v1/page", url=url)

    # Lists, as they come.

    def pages(self, **query):
        return self.lines("/api/v1/pages", **query)

    def search(self, q, **query):
        """First a line that counts, then the hits."""
        return self.lines("/api/v1/search", q=q, **query)

    def changes(self, **query):
        """The feed up to now. `since` is a cursor of an earlier event, or a time such as 7d."""
        return self.lines("/api/v1/changes", **query)

    def seeds(self, **query):
        return self.lines("/api/v1/seeds", **query)

    def add_seeds(self, *seeds):
        """Each is a URL, or an object with url, tags, weight, scope, depth, at_least_every."""
        seeds = ({"url": seed} if isinstance(seed, str) else seed for seed in seeds)
        body = "".join(json.dumps(seed) + "\n" for seed in seeds)
        return self.value("/api/v1/seeds", method="POST", body=body.encode(), kind="application/x-ndjson")

    def remove_seed(self, url):
        return self.value("/api/v1/seeds", method="DELETE", url=url)

    # The feed without end.

    def follow(self, place, keep=None, **query):
        """Every event after `place`, an object that an earlier call changed; {} begins with the first event. When the crawl
        goes away, it is asked again until it is back, from the same place. `keep(place)` is called after each event was
        taken, so that whoever stops goes on there."""
        wait = 1.0
        while True:
            try:
                for event in self._stream(place.get("cursor"), query):
                    wait = 1.0
                    # Several events may have one cursor, so the place is the last cursor that is behind us.
                    if event["cursor"] != place.get("at"):
                        place.update(cursor=place.get("at"), at=event["cursor"], seen=[])
                    if event["id"] not in place["seen"]:
                        yield event
                        place["seen"].append(event["id"])
                        if keep:
                            keep(place)
            except Refused as refused:
                if refused.status not in (429, 503):
                    raise
                wait = max(wait, refused.retry_after or 0.0)
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(wait)
            wait = min(2.0 * wait, WAIT_MAX)

    def _stream(self, cursor, query):
        headers = {"Accept": "text/event-stream"}
        if cursor:
            headers["Last-Event-ID"] = cursor
        with self._ask("/api/v1/changes/stream", query, headers=headers) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[len(b"data: "):])

    # Requests.

    def value(self, path, method="GET", body=None, kind=None, **query):
        with self._patiently(path, query, method, body, kind) as answer:
            return json.load(answer)

    def lines(self, path, **query):
        """The rows of a list, and of the lists that follow it where the answer names them."""
        after = None
        while True:
            with self._patiently(path, dict(query, after=after), "GET", None, None) as answer:
                after = None
                for line in answer:
                    row = json.loads(line)
                    if set(row) == {"after"}:
                        # Whoever gave a limit wants no more.
                        after = None if "limit" in query else row["after"]
                    else:
                        yield row
            if after is None:
                return

    def _patiently(self, path, query, method, body, kind):
        headers = {"Content-Type": kind} if kind else {}
        for tries in range(1, TRIES_MAX + 1):
            try:
                return self._ask(path, query, method, body, headers)
            except Refused as refused:
                if refused.status not in (429, 503) or tries == TRIES_MAX:
                    raise
                time.sleep(min(refused.retry_after or 1.0, WAIT_MAX))

    def _ask(self, path, query, method="GET", body=None, headers=None):
        given = {name: value for name, value in query.items() if value is not None}
        url = self.base + path + ("?" + urllib.parse.urlencode(given) if given else "")
        request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            return urllib.request.urlopen(request, timeout=PATIENCE, context=self.tls)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read().decode(errors="replace")
                after = error.headers.get("Retry-After", "")
            raise Refused(error.code, line_of(text), float(after) if after.isdigit() else None) from None


def line_of(text):
    """What an error says."""
    try:
        told = json.loads(text)
        return told.get("detail") or told.get("error") or text.strip()
    except (ValueError, AttributeError):
        return text.strip()


def follow_by_file(vernal, path, query):
    try:
        with open(path, encoding="utf-8") as file:
            place = json.load(file)
    except FileNotFoundError:
        place = {}

    def keep(place):
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(place, file)
        os.replace(path + ".new", path)

    return vernal.follow(place, keep, **query)


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    vernal = Vernal(os.environ.get("API", "http://127.0.0.1:8376"), os.environ.get("TOKEN"), os.environ.get("CA"))
    verb, rest = arguments[0], arguments[1:]
    named = dict(argument.split("=", 1) for argument in rest if verb not in ("add-seed", "remove-seed") and "=" in argument)
    answers = {
        "status": lambda: [vernal.status()],
        "page": lambda: [vernal.page(**named)],
        "pages": lambda: vernal.pages(**named),
        "search": lambda: vernal.search(**named),
        "changes": lambda: vernal.changes(**named),
        "follow": lambda: follow_by_file(vernal, rest[0], named),
        "seeds": lambda: vernal.seeds(**named),
        "add-seed": lambda: [vernal.add_seeds(*rest)],
        "remove-seed": lambda: [vernal.remove_seed(rest[0])],
    }
    if verb not in answers:
        sys.exit(f"there is no `{verb}`: give one of {', '.join(answers)}")
    try:
        for row in answers[verb]():
            print(json.dumps(row), flush=True)
    except Refused as refused:
        sys.exit(f"the crawl refused this with {refused}")
    except OSError as error:
        sys.exit(f"{vernal.base} cannot be reached: {error}")
    except (KeyboardInterrupt, BrokenPipeError):
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
