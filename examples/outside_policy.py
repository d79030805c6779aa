#!/usr/bin/env python3
"""A policy of your own, in Python, for the laboratory:

    vernal lab compare --policies "round-robin,exec:python3 examples/outside_policy.py"

It hears JSON objects on standard input, one to a line, and answers each `choose` with one line. This one visits the
page that most probably has changed: its changes per visit so far times the days since its last visit.
"""
import heapq
import json
import sys

DAY = 86400.0


class Page:
    def __init__(self, site):
        self.site, self.last_visit, self.visits, self.changes, self.out = site, 0.0, 0, 0, False

    def value(self, now):
        return (self.changes + 1) / (self.visits + 2) * (now - self.last_visit) / DAY


def main():
    pages = {}  # known by `recall`, until `forget`
    for line in sys.stdin:
        ((word, said),) = json.loads(line).items()
        if word == "choose":
            full = set(said["full"])
            free = ((page.value(said["now"]), -number) for number, page in pages.items()
                    if not page.out and page.site not in full)
            chosen = [-number for _, number in heapq.nlargest(said["visits_left"], free)]
            for number in chosen:
                pages[number].out = True
            print(json.dumps({"pages": chosen}), flush=True)
        elif word == "recall":
            page = pages.setdefault(said["page"], Page(said["site"]))
            page.last_visit = said["last_visit"]
        elif word == "learn" and said["page"] in pages:
            page = pages[said["page"]]
            page.out, page.last_visit = False, said["moment"]
            if said["changed"] is not None:
                page.visits += 1
                page.changes += said["changed"]
        elif word == "put_back" and said["page"] in pages:
            pages[said["page"]].out = False
        elif word == "forget":
            pages.pop(said["page"], None)


if __name__ == "__main__":
    main()
