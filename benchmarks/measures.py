"""Time all twenty associations against scipy's four matrices, eq2 by size, the graphical lasso against scikit-learn's.

Run with `python -m benchmarks.measures`; one BLAS thread for everybody, CPU time, each small case the best of five.
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import numpy as np
from benchmarks._rows import cpu
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Matrix, Vector
from weatherglass.audit.covariances import enlarged
from weatherglass.catalogue import load_tests
from weatherglass.encoders import load_encoder
from weatherglass.languages.lexicon import load_synonyms
from weatherglass.metrics.weat.association import Association, select_associations
from weatherglass.metrics.weat.covariance import FOLDS, Covariance, fit_graphical_lasso, sample_covariance
from weatherglass.metrics.weat.scores import associations, nearest_pair

WIDTH = 300


def sets_of_the_46_tests() -> list[tuple[Matrix, Matrix, Matrix]]:
    """Return random vectors for X∪Y, A and B of every published test, sizes as published."""
    rng = np.random.default_rng(0)
    sizes = [[len(element_set) for element_set in test.sets] for test in load_tests(["*"])]
    return [
        (rng.normal(size=(x + y, WIDTH)), rng.normal(size=(a, WIDTH)), rng.normal(size=(b, WIDTH)))
        for x, y, a, b in sizes
    ]


def twenty_measures() -> None:
    """Time similarities and statistics; p and the estimation of covariances are not counted."""
    sets = sets_of_the_46_tests()
    root = np.random.default_rng(1).normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH) + np.eye(WIDTH)
    precision = root @ root.T
    covariances = (Covariance(precision, "drawn", 0.0, 1.0, 1), Covariance(precision, "drawn", 0.0, 1.0, 1))
    twenty = select_associations(["azarpanah2021"])

    def ours(measures: list[Association]) -> None:
        for targets, a, b in sets:
            associations(targets, a, b, measures, covariances)

    def scipys(*metrics: str) -> None:
        for targets, a, b in sets:
            attributes = np.concatenate([a, b])
            for metric in metrics:
                cdist(targets, attributes, metric, **({"VI": precision} if metric == "mahalanobis" else {}))

    plain = [measure for measure in twenty if measure.similarity != "mahalanobis"]
    print(f"{len(sets)} tests, {WIDTH} dimensions                     ours    scipy's matrices   ratio")
    for name, measures, metrics, repeats in (
        ("20 measures", twenty, ("cosine", "euclidean", "cityblock", "mahalanobis"), 1),
        ("the 15 without mahalanobis", plain, ("cosine", "euclidean", "cityblock"), 5),
        ("cosine/mean alone", [Association()], ("cosine",), 5),
    ):
        mine, theirs = cpu(partial(ours, measures), repeats), cpu(partial(scipys, *metrics), repeats)
        print(f"  {name:32} {mine:8.3f} s {theirs:12.3f} s {mine / theirs:10.2f}", flush=True)


def nearest_of_all_pairs(to_a: Matrix, to_b: Matrix) -> Vector:
    """Compute eq2 by its definition: the least of all differences of a row's values."""
    least: Vector = np.abs(to_a[:, :, None] - to_b[:, None]).min(axis=(1, 2))
    return least


def eq2_by_doubling() -> None:
    """Time eq2 by size: doubling |A| and |B| should cost little more than twice as much, not four times."""
    rng = np.random.default_rng(2)
    print("\neq2 of 20 words, |A| = |B|         merged    per doubling      the cube   per doubling")
    before = before_cube = 0.0
    for size in (500, 1000, 2000, 4000, 8000, 16000, 32000):
        to_a, to_b = (np.sort(rng.normal(size=(20, size)), axis=1) for _ in "ab")
        merged = cpu(partial(nearest_pair, to_a, to_b), 5)
        line = f"  {size:24} {merged * 1e3:10.2f} ms {merged / before if before else 0:11.1f}"
        before = merged
        if size <= 2000:  # 640 MB at 2 000
            cube = cpu(partial(nearest_of_all_pairs, to_a, to_b), 2)
            line += f" {cube * 1e3:14.1f} ms {cube / before_cube if before_cube else 0:11.1f}"
            before_cube = cube
        print(line, flush=True)


def attribute_vectors(test: str, which: int) -> Matrix:
    """Return word2vec vectors of an attribute set with its synonyms, as used for covariances."""
    from tests.downloads import from_wheel

    encoder = load_encoder(f"vectors:{from_wheel('wefe==1.0.1', 'wefe/datasets/data/test_model.kv')}")
    (loaded,) = load_tests([test])
    vectors = encoder.encode(enlarged(loaded.attributes[which], load_synonyms("catalogue")))
    distinct: Matrix = np.unique(vectors[~np.isnan(vectors).any(axis=1)].astype(np.float64), axis=0)
    return distinct


def objective(S: Matrix, precision: Matrix, penalty: float) -> float:
    off_diagonal = np.abs(precision).sum() - np.abs(np.diag(precision)).sum()
    return float(-np.linalg.slogdet(precision)[1] + (S * precision).sum() + penalty * off_diagonal)


def against_scikit_learn() -> None:
    """Time both lassos on the same penalties and folds; scikit-learn's stops after 10 iterations and warns."""
    warnings.simplefilter("ignore")
    from sklearn.covariance import GraphicalLassoCV, graphical_lasso

    print("\ngraphical lasso of word2vec's vectors, d = 300, penalty by 3-fold cross-validation")
    for test, which in (("weat9", 1), ("weat7", 0), ("weat1", 0)):
        vectors = attribute_vectors(test, which)
        index = np.arange(len(vectors))
        folds = [(index[index % FOLDS != fold], index[index % FOLDS == fold]) for fold in range(FOLDS)]
        start = time.process_time()
        fit, penalty = fit_graphical_lasso(vectors)
        mine = time.process_time() - start
        start = time.process_time()
        chosen = GraphicalLassoCV(alphas=4, n_refinements=4, cv=folds).fit(vectors).alpha_
        spent = time.process_time() - start
        S = sample_covariance(vectors)
        _, precision = graphical_lasso(S, penalty, max_iter=100)
        apart = objective(S, fit.precision, penalty) - objective(S, precision, penalty)
        print(
            f"  {len(vectors):3} vectors: ours {mine:5.1f} s, penalty {penalty:.3g}; scikit-learn {spent:5.1f} s, "
            f"penalty {chosen:.3g}; {spent / mine:.1f} times; at our penalty, our objective less theirs: {apart:+.1e}",
            flush=True,
        )


def main() -> None:
    with threadpool_limits(1):
        twenty_measures()
        eq2_by_doubling()
        against_scikit_learn()


if __name__ == "__main__":
    main()
