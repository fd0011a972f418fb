#!/usr/bin/env python3
"""Fits the ranker of search: one weight for each feature, by the softmax of the right skill among the candidates.

    skillfold-bench search --data DATA --pool 10000 --half tune --method bm25f --dump tune-10000.jsonl
    skillfold-bench search --data DATA --pool 10000 --half tune --method bm25f --parts 20 --dump few-20.jsonl
    python3 bench/train_ranker.py tune-10000.jsonl [more dumps] --few few-20.jsonl [more] \
        --write crates/skillfold-core/src/search/ranker.tsv

Each line of a dump is one request: its repository, its skill, and for each candidate whether it is right and its features
as the engine computes them. Before the weights are fitted on all requests, they are fitted four times on three quarters of
the repositories and judged on the fourth; that is what is printed. How likely a skill is right is fitted on what was left out,
and on dumps of few skills too, as most people have. With dumps of `--method static --model FOLDER`, `--meaning` fits the
weights of meaning alone, on top of all others, which stay as they are: search without a model does not change. Needs numpy
and scipy.
"""

import argparse
import collections
import hashlib
import json

import numpy as np
from scipy.optimize import minimize

FOLDS = 4
# What the likelihood of a skill looks at beside its share and its lead; the engine has the same list.
LIKELY = ["covers.described", "covers.any", "score.share", "rarest.missing", "name.share"]


class Requests:
    def __init__(self, files):
        self.names, self.features, self.right, self.terms = None, [], [], []
        self.repository, self.skill, self.file = [], [], []
        for number, file in enumerate(files):
            with open(file, encoding="utf-8") as lines:
                for line in lines:
                    self.add(json.loads(line))
            self.file += [number] * (len(self.right) - len(self.file))

    def add(self, line):
        if "names" in line:
            assert self.names in (None, line["names"]), "dumps of different engines"
            self.names = line["names"]
            return
        if not line["right"]:
            return
        right = np.array(line["right"], np.float64)
        self.features.append(np.array(line["features"], np.float32).reshape(len(right), -1))
        self.right.append(right)
        self.terms.append(line["terms"])
        self.repository.append(line["repository"])
        self.skill.append(line["skill"])

    def weights(self):
        """A repository or a skill with many requests says not as much more as it has requests."""
        repositories, skills = collections.Counter(self.repository), collections.Counter(self.skill)
        pairs = zip(self.repository, self.skill)
        return np.array([repositories[a] ** -0.5 * skills[b] ** -0.25 for a, b in pairs])

    def fold_of_repositories(self):
        """Repositories, the largest first, each into the fold that has the fewest requests."""
        sizes, fold = [0] * FOLDS, {}
        for repository, count in sorted(
            collections.Counter(self.repository).items(),
            key=lambda item: (-item[1], hashlib.sha256(item[0].encode()).hexdigest()),
        ):
            fold[repository] = sizes.index(min(sizes))
            sizes[fold[repository]] += count
        return fold

    def folds(self, fold):
        return np.array([fold[repository] for repository in self.repository])


def fit(requests, chosen, mean, spread, ridge):
    usable = [at for at in chosen if requests.right[at].sum() > 0]
    weights = requests.weights()[usable]
    weights /= weights.sum()
    rows = np.concatenate([(requests.features[at] - mean) / spread for at in usable])
    right = np.concatenate([requests.right[at] / requests.right[at].sum() for at in usable])
    counts = np.array([len(requests.right[at]) for at in usable])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    of_row = np.repeat(weights, counts)

    def loss(vector):
        scores = rows @ vector.astype(np.float32)
        most = np.maximum.reduceat(scores, starts)
        parts = np.exp(scores - np.repeat(most, counts))
        sums = np.add.reduceat(parts, starts)
        value = (weights * (np.log(sums) + most)).sum() - (of_row * right * scores).sum()
        slope = rows.T @ (of_row * (parts / np.repeat(sums, counts) - right))
        return float(value + ridge * (vector**2).sum()), slope.astype(float) + 2 * ridge * vector

    start = np.zeros(rows.shape[1])
    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x


def fit_meaning(requests, chosen, scores, ridge=1e-3):
    """Fits the weight of meaning on top of scores by words."""
    column = [requests.names.index(name) for name in requests.names if name.startswith("meaning.")]
    usable = [at for at in chosen if requests.right[at].sum() > 0]
    weights = requests.weights()[usable]
    weights /= weights.sum()

    def loss(vector):
        value, slope = ridge * (vector**2).sum(), 2 * ridge * vector
        for at, weight in zip(usable, weights):
            rows, right = requests.features[at][:, column], requests.right[at] / requests.right[at].sum()
            sums = scores[at] + rows @ vector
            parts = np.exp(sums - sums.max())
            value += weight * (np.log(parts.sum()) + sums.max() - right @ sums)
            slope = slope + weight * (rows.T @ (parts / parts.sum() - right))
        return value, slope

    return minimize(loss, np.zeros(len(column)), jac=True, method="L-BFGS-B").x


def meaning(requests, mean, spread, options):
    """What meaning adds, on requests that neither the weights of words nor those of meaning were fitted on."""
    is_word = np.array([not name.startswith("meaning.") for name in requests.names])
    columns, folds, scores = np.flatnonzero(~is_word), requests.folds(requests.fold_of_repositories()), [None] * len(requests.right)
    words = Requests([])
    words.__dict__.update(requests.__dict__)
    words.features = [features[:, is_word] for features in requests.features]
    for fold in range(FOLDS):
        vector = fit(words, np.flatnonzero(folds != fold), mean[is_word], spread[is_word], options.ridge)
        for at in np.flatnonzero(folds == fold):
            scores[at] = words.features[at] @ (vector / spread[is_word])
    by_words, by_both = [None] * len(folds), [None] * len(folds)
    for fold in range(FOLDS):
        vector = fit_meaning(requests, np.flatnonzero(folds != fold), scores)
        for at in np.flatnonzero(folds == fold):
            both = scores[at] + requests.features[at][:, columns] @ vector
            (by_words[at],) = judge(requests, [at], lambda _, at=at: scores[at])
            (by_both[at],) = judge(requests, [at], lambda _, both=both: both)
    for file in np.unique(requests.file):
        inside = np.flatnonzero(np.array(requests.file) == file)
        print("left out folds", options.dumps[file])
        print("  by words    ", np.mean([by_words[at] for at in inside], 0).round(1))
        print("  with meaning", np.mean([by_both[at] for at in inside], 0).round(1))
    vector = fit_meaning(requests, np.arange(len(folds)), scores)
    weights = {requests.names[column]: f"{weight:.5g}" for column, weight in zip(columns, vector)}
    print(weights)
    if options.write:
        with open(options.write, encoding="utf-8") as lines:
            known = [line.rstrip("\n").split("\t") for line in lines]
        with open(options.write, "w", encoding="utf-8") as out:
            for name, weight in known:
                out.write(f"{name}\t{weights.get(name, weight)}\n")


def judge(requests, chosen, score):
    """Share of requests with a right skill first, among ten, and the mean reciprocal rank, in percent."""
    figures = []
    for at in chosen:
        order = np.argsort(-score(requests.features[at]), kind="stable")
        hits = np.flatnonzero(requests.right[at][order] > 0)
        rank = hits[0] + 1 if len(hits) else None
        figures.append((rank == 1, rank is not None and rank <= 10, 1 / rank if rank else 0))
    return np.array(figures, float) * 100


def likely(requests, chosen, score, variants):
    """What the engine knows of the first three skills of each request, and whether they are right: once as it is, and for
    two variants once with the right skill not installed, so that nothing is right."""
    columns = [requests.names.index(name) for name in LIKELY]
    rows, right = [], []
    for at in chosen:
        for keep in (slice(None), requests.right[at] == 0)[:variants]:
            features, labels = requests.features[at][keep], requests.right[at][keep]
            if len(labels) == 0:
                continue
            scores = score(features)
            order = np.argsort(-scores, kind="stable")[:3]
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            for place, candidate in enumerate(order):
                other = order[min(1, len(order) - 1) if place == 0 else 0]
                lead = scores[candidate] - scores[other]
                words = np.log1p(requests.terms[at])
                row = [1, shares[candidate], lead, *features[candidate][columns], words]
                rows.append(row)
                right.append(labels[candidate] > 0)
    return np.array(rows), np.array(right, float)


def fit_likely(rows, right):
    def loss(vector):
        scores = rows @ vector
        value = np.logaddexp(0, scores).mean() - (right * scores).mean() + 1e-4 * (vector[1:] ** 2).sum()
        slope = rows.T @ (1 / (1 + np.exp(-scores)) - right) / len(right)
        slope[1:] += 2e-4 * vector[1:]
        return value, slope

    return minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dumps", nargs="+")
    parser.add_argument("--few", nargs="*", default=[])
    parser.add_argument("--ridge", type=float, default=3e-2)
    parser.add_argument("--write")
    parser.add_argument("--meaning", action="store_true")
    options = parser.parse_args()
    requests, few = Requests(options.dumps), Requests(options.few)
    everything = np.arange(len(requests.right))
    rows = np.concatenate(requests.features)
    mean, spread = rows.mean(0), rows.std(0)
    # What few skills have would else weigh more than all the rest together: a skill full of tags would win everything.
    spread = np.maximum(spread, 0.05)
    print("requests", len(everything), "candidates", len(rows), "features", rows.shape[1])
    if options.meaning:
        return meaning(requests, mean, spread, options)
    print("as they come  ", judge(requests, everything, lambda rows: -np.arange(len(rows))).mean(0).round(1))
    fold_of = requests.fold_of_repositories()
    folds, confirmed, rows_of_likely, right_of_likely = requests.folds(fold_of), [], [], []
    for fold in range(FOLDS):
        vector = fit(requests, np.flatnonzero(folds != fold), mean, spread, options.ridge)
        inside = np.flatnonzero(folds == fold)
        score = lambda rows, vector=vector: rows @ (vector / spread)
        confirmed.append(judge(requests, inside, score))
        few_inside = np.flatnonzero(few.folds(fold_of) == fold) if few.right else []
        for some, chosen, variants in ((requests, inside, 2), (few, few_inside, 1)):
            if len(chosen):
                rows_inside, right_inside = likely(some, chosen, score, variants)
                rows_of_likely.append(rows_inside)
                right_of_likely.append(right_inside)
    print("left out folds", np.concatenate(confirmed).mean(0).round(1), [f.mean(0).round(1).tolist() for f in confirmed])
    vector = fit(requests, everything, mean, spread, options.ridge)
    print("fitted on all ", judge(requests, everything, lambda rows: (rows - mean) / spread @ vector).mean(0).round(1))
    # Fitted on what was left out, or it would take the ranker's success on its own lessons for skill.
    chance = fit_likely(np.concatenate(rows_of_likely), np.concatenate(right_of_likely))
    said = 1 / (1 + np.exp(-np.concatenate(rows_of_likely) @ chance))
    for low in np.arange(0, 1, 0.1):
        inside = (said >= low) & (said < low + 0.1)
        share = np.concatenate(right_of_likely)[inside].mean() if inside.any() else 0
        print(f"likely {low:.1f} to {low + 0.1:.1f}: {inside.sum():6d} of which right {share:.2f}")
    if options.write:
        with open(options.write, "w", encoding="utf-8") as out:
            for name, weight in zip(requests.names, vector / spread):
                out.write(f"{name}\t{weight:.5g}\n")
            names = ["always", "share", "lead", *LIKELY, "terms"]
            for name, weight in zip(names, chance):
                out.write(f"likely.{name}\t{weight:.5g}\n")


if __name__ == "__main__":
    main()
