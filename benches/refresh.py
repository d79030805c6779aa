#!/usr/bin/env python3
"""The refresh benchmark (docs/refresh-benchmark.md): any policy, ours or a program of its own, on the same worlds.

    ./x bench refresh                                   our default beside the rules of other crawlers
    ./x bench refresh --quick vernal "exec:python3 examples/outside_policy.py"
    ./x bench refresh --trace web.csv.gz vernal bayes   recorded webs as well

The score of a policy in a world is the share of the way that it goes from visiting all pages in turn to knowing every
change beforehand, in freshness; that of all is the mean over worlds, each of which counts the same.
"""
import argparse, collections, csv, json, math, os, statistics, subprocess, sys

VERNAL = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release", "vernal")
OUT = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "refresh-benchmark")
BASELINE = "round-robin"
POLICIES = ["vernal", "heritrix-fixed", "nutch-adaptive", "stormcrawler-adaptive"]
WORLDS = ["w1", "w2", "w3", "w4", "w5", "w6-independent", "w6-correlated", "w6-opposed", "w7", "w8"]
WEBS = ["pub", "ota", "stalker"]
BUDGETS, CHANCES = ["2%/day", "5%/day", "10%/day", "20%/day", "50%/day"], "1..10"
QUICK_BUDGETS, QUICK_CHANCES = ["5%/day"], "1..3"
# Of the t distribution, two-sided 95 %, by how many numbers there are.
T95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def played(words):
    """The rows of trials, one for each world, budget, policy and chance number."""
    child = subprocess.Popen([VERNAL, "lab", *words, "--json"], stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in child.stdout]
    if child.wait() != 0:
        raise SystemExit(1)
    return rows


def rows_of(arguments):
    budgets, chances = (QUICK_BUDGETS, QUICK_CHANCES) if arguments.quick else (BUDGETS, CHANCES)
    common = ["--chance", chances]
    for policy in [BASELINE, *arguments.policies]:
        common += ["--policies", policy]
    for budget in budgets:
        common += ["--budget", budget]
    sized = ["--pages", arguments.pages] if arguments.pages else []
    rows = played(["compare", "--worlds", ",".join(WORLDS), *sized, *common])
    for web in WEBS if arguments.trace else []:
        rows += played(["replay", "--trace", arguments.trace, "--web", web, *common])
    return rows


def interval(differences):
    """The mean of paired differences and half of its interval of 95 %."""
    mean, count = statistics.fmean(differences), len(differences)
    half = T95.get(count, 1.96) * statistics.stdev(differences) / math.sqrt(count) if count > 1 else math.inf
    return mean, half


def main():
    parser = argparse.ArgumentParser(prog="./x bench refresh")
    parser.add_argument("policies", nargs="*", help="names, or exec:COMMAND")
    parser.add_argument("--quick", action="store_true", help="one budget and three chance numbers")
    parser.add_argument("--pages", metavar="N", help="smaller worlds, to try a program; scores compare at 5,000 only")
    parser.add_argument("--trace", metavar="FILE", help="recorded histories to replay as well")
    arguments = parser.parse_args()
    arguments.policies = [policy for policy in arguments.policies or POLICIES if policy != BASELINE]
    trials = collections.defaultdict(dict)
    for row in rows_of(arguments):
        trials[row["world"], row["budget"]][row["policy"], row["chance"]] = row
    os.makedirs(OUT, exist_ok=True)
    table = csv.writer(open(os.path.join(OUT, "scores.csv"), "w", newline=""))
    table.writerow(["policy", "world", "budget", "freshness", "difference", "half_interval", "score"])
    print(f"{'policy':28} {'score':>7} {'above':>6} {'level':>6} {'below':>6}   lowest against {BASELINE}")
    for policy in arguments.policies:
        scores, counts, lowest = collections.defaultdict(list), collections.Counter(), None
        for (world, budget), rows in trials.items():
            chances = [chance for name, chance in rows if name == policy]
            of = lambda name, figure: [rows[name, chance][figure] for chance in chances]
            ours, turns = of(policy, "freshness"), of(BASELINE, "freshness")
            mean, half = interval([one - other for one, other in zip(ours, turns)])
            room = statistics.fmean(of(policy, "bound_clairvoyant")) - statistics.fmean(turns)
            score = mean / room if room > 0 else 0.0
            # The variants of a world are one world.
            scores[world.split("-")[0]].append(score)
            counts["above" if mean > half else "below" if -mean > half else "level"] += 1
            lowest = min(lowest or (math.inf,), (mean, half, world, budget))
            figures = [statistics.fmean(ours), mean, half, score]
            table.writerow([policy, world, budget, *(f"{figure:.4f}" for figure in figures)])
        score = statistics.fmean(statistics.fmean(of_world) for of_world in scores.values())
        mean, half, world, budget = lowest
        print(f"{policy[:28]:28} {score:7.4f} {counts['above']:6} {counts['level']:6} {counts['below']:6}   "
              f"{mean:+.4f} ± {half:.4f} ({world}, {budget})", flush=True)
    print(f"of {len(trials)} pairs of a world and a budget; each in {OUT}/scores.csv", file=sys.stderr)


main()
