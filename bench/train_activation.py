#!/usr/bin/env python3
"""Fits how likely a message needs a skill, from what `skillfold-bench activation --dump` wrote.

    skillfold-bench activation --data DATA --half tune --pool 20 --pool 60 --pool 200 --draws 40 --dump FILE
    python3 bench/train_activation.py FILE [--keep WEIGHTS] [--write crates/skillfold-core/src/search/activation.tsv]

With `--keep`, the weights of a file stay, and only the features that it lacks are fitted.

What is right: a labelled request's own skill. What is wrong: its other skills, every skill of a request whose own skill is not
installed, forbidden skills, and every skill of an everyday prompt. Skills of the family of one that is not installed count
little: they often serve the request too. Folds are by source, so that no request of a repository helps with another of it.
"""

import argparse
import collections
import hashlib
import json

import numpy as np
from scipy.optimize import minimize

FOLDS = 5
# How much each kind of request weighs, for each size of library.
WEIGHTS = {"present": 1000, "absent": 600, "must_not": 400, "everyday": 1500}
SIBLING = 0.1
RIDGE = 1e-3


def read(file):
    with open(file, encoding="utf-8") as lines:
        names = json.loads(next(lines))["names"]
        return names, [json.loads(line) for line in lines]


def table(requests):
    """One row for each skill of each request: features, whether it is right, its request, its weight."""
    sources = collections.Counter((line["kind"], line["skills"], line["source"]) for line in requests)
    rows, right, of, weights, kinds = [], [], [], [], []
    for at, line in enumerate(requests):
        kind = (line["kind"], line["skills"])
        weight = sources[(*kind, line["source"])] ** -0.5
        for found in line["found"]:
            rows.append(found["features"])
            right.append(found["right"] and line["kind"] == "present")
            of.append(at)
            is_sibling = line["kind"] == "absent" and found["sibling"]
            weights.append(weight * (SIBLING if is_sibling else 1))
            kinds.append(kind)
    weights, total = np.array(weights), collections.Counter()
    for kind, weight in zip(kinds, weights):
        total[kind] += weight
    scale = np.array([WEIGHTS[kind[0]] / total[kind] for kind in kinds])
    return np.array(rows), np.array(right, float), np.array(of), weights * scale


def fit(rows, right, weights):
    mean, spread = rows.mean(0), np.maximum(rows.std(0), 1e-3)
    mean[0], spread[0] = 0, 1
    scaled, weights = (rows - mean) / spread, weights / weights.sum()

    def loss(vector):
        scores = scaled @ vector
        value = (weights * (np.logaddexp(0, scores) - right * scores)).sum() + RIDGE * (vector[1:] ** 2).sum()
        slope = scaled.T @ (weights * (1 / (1 + np.exp(-scores)) - right))
        slope[1:] += 2 * RIDGE * vector[1:]
        return value, slope

    vector = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    vector = vector / spread
    vector[0] -= (vector * mean).sum()
    return vector


def fit_new(rows, right, weights, kept):
    """Fits the weights that are not known (nan), and returns all."""
    new = np.isnan(kept)
    fixed = rows @ np.nan_to_num(kept)
    weights = weights / weights.sum()

    def loss(vector):
        scores = fixed + rows[:, new] @ vector
        slope = rows[:, new].T @ (weights * (1 / (1 + np.exp(-scores)) - right))
        return (weights * (np.logaddexp(0, scores) - right * scores)).sum(), slope

    vector = kept.copy()
    vector[new] = minimize(loss, np.zeros(new.sum()), jac=True, method="L-BFGS-B").x
    return vector


def show(requests, of, scores):
    """Prints the share of requests that get the right skill by the share of everyday prompts that are spoken to."""
    best, right, stranger = ({} for _ in range(3))
    place = collections.Counter()
    for at, score in zip(of, scores):
        line, found = requests[at], requests[at]["found"][place[at]]
        place[at] += 1
        best[at] = max(best.get(at, -99), score)
        if found["right"]:
            right[at] = max(right.get(at, -99), score)
        if not found["sibling"]:
            stranger[at] = max(stranger.get(at, -99), score)
    for size in sorted({line["skills"] for line in requests}):
        chosen = lambda kind: [at for at, line in enumerate(requests) if (line["kind"], line["skills"]) == (kind, size)]
        everyday = sorted((best.get(at, -99) for at in chosen("everyday")), reverse=True)
        for share in (0.003, 0.01, 0.02, 0.03, 0.05):
            limit = everyday[int(share * len(everyday))]
            above = lambda kind, scores: np.mean([scores.get(at, -99) > limit for at in chosen(kind)])
            print(
                f"{size} skills, {share:.1%} spoken, from {1 / (1 + np.exp(-limit)):.3f}: right {above('present', right):.3f}"
                f" absent {above('absent', best):.3f} strangers {above('absent', stranger):.3f}"
                f" forbidden {above('must_not', right):.3f}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dump")
    parser.add_argument("--keep")
    parser.add_argument("--write")
    options = parser.parse_args()
    names, requests = read(options.dump)
    rows, right, of, weights = table(requests)
    fold_of = [int(hashlib.sha256(line["source"].encode()).hexdigest()[:8], 16) % FOLDS for line in requests]
    folds = np.array(fold_of)[of]
    scores = np.zeros(len(rows))
    fit_part = fit
    if options.keep:
        with open(options.keep, encoding="utf-8") as lines:
            kept = dict(line.rstrip("\n").split("\t") for line in lines)
        kept = np.array([float(kept.get(name, "nan")) for name in names])
        fit_part = lambda *part: fit_new(*part, kept)
    for fold in range(FOLDS):
        inside = folds == fold
        scores[inside] = rows[inside] @ fit_part(rows[~inside], right[~inside], weights[~inside])
    show(requests, of, scores)
    vector = fit_part(rows, right, weights)
    for name, weight in zip(names, vector):
        print(f"{name}\t{weight:.5g}")
    if options.write:
        with open(options.write, "w", encoding="utf-8") as out:
            for name, weight in zip(names, vector):
                out.write(f"{name}\t{weight:.5g}\n")


if __name__ == "__main__":
    main()
