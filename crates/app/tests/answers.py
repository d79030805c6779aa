"""Holds every answer of a crawl that runs against its schema in the description of the routes.

answers.py URL PAGE SITE TOKEN: asks each GET of the description with what there is, and prints how many values were held.
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import jsonschema_rs

URL, PAGE, SITE, TOKEN = sys.argv[1:5]
# What parameters without which a route says nothing are given.
GIVEN = {"url": PAGE, "q": "the OR a OR of", "site": SITE, "format": "jsonl"}
# A stream has no end while the crawl runs.
# and a TimeGate leads to archived bytes, which are on another origin.
LEFT_OUT = {"/api/v1/changes/stream", "/timegate/{url}"}


def ask(path):
    request = urllib.request.Request(URL + path, headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers.get_content_type(), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get_content_type(), error.read()


def values(kind, body):
    if kind == "application/x-ndjson":
        return [json.loads(line) for line in body.splitlines()]
    if kind in ("application/json", "application/problem+json"):
        return [json.loads(body)]
    return []


def main():
    document = json.loads(ask("/api/v1/openapi.json")[2])
    schemas = {"components": document["components"]}
    held, asked, wrong = 0, 0, []
    for path, methods in document["paths"].items():
        # What is named in a path is made by other tests, but for pages.
        if "get" not in methods or path in LEFT_OUT or "{" in path.replace("{url}", ""):
            continue
        operation = methods["get"]
        names = {one["name"]: one["in"] for one in operation["parameters"]}
        wanted = {name: GIVEN[name] for name in ("url", "q", "format") if name in names}
        questions = [wanted, {**wanted, "site": SITE}, {**wanted, "limit": "2"}, {**wanted, "back": "true"},
                     {**wanted, "pages": "true", "with_noise": "true"}, {**wanted, "full": "true"}, {"no_such": "thing"}]
        for question in questions:
            if any(name not in names for name in question) and "no_such" not in question:
                continue
            below = path.replace("{url}", urllib.parse.quote(PAGE, safe=""))
            query = urllib.parse.urlencode({name: value for name, value in question.items() if names.get(name) != "path"})
            status, kind, body = ask(below + ("?" + query if query else ""))
            asked += 1
            responses = operation["responses"]
            content = responses.get(str(status), responses["default"])["content"]
            if kind not in content:
                wrong.append(f"{path} {question}: {status} {kind} is not described")
                continue
            if status >= 500 or (status != 200 and "no_such" not in question and path != "/api/v1/diff" and not path.endswith("/diff")):
                wrong.append(f"{path} {question}: {status} {body[:300]}")
            schema = content[kind].get("schema", True)
            if schema is True:
                continue
            validator = jsonschema_rs.Draft202012Validator({**schemas, **schema})
            for value in values(kind, body):
                held += 1
                wrong.extend(f"{path} {question}: {error}"[:600] for error in list(validator.iter_errors(value))[:3])
    print(json.dumps({"asked": asked, "held": held, "wrong": wrong[:20]}))
    sys.exit(1 if wrong else 0)


main()
