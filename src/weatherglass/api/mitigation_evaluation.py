"""Evaluate a mitigation: run the same tests before and after it, and measure the cost and what can still be
recovered.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.api.mitigated_rankings import (
    AFTER,
    BEFORE,
    materials_for,
    rankings_before_after,
    retrieval_before_after,
)
from weatherglass.arrays import Matrix
from weatherglass.audit.audit import Audit
from weatherglass.audit.compare import Difference, compare_models
from weatherglass.audit.encode import Encodings, encode_texts
from weatherglass.audit.folder import RunFolder
from weatherglass.audit.plan import Plan, PlannedModel, choose_tests
from weatherglass.audit.record import environment, now
from weatherglass.audit.registrations import registrations_for
from weatherglass.audit.results import Result
from weatherglass.audit.settings import Settings
from weatherglass.catalogue.test import Test
from weatherglass.errors import EncoderError, WeatherglassError
from weatherglass.metrics import DEFAULT_METRIC, select_metrics
from weatherglass.mitigation.base import Step, Steps, words_of
from weatherglass.mitigation.lists import NEUTRAL, PAIR_LISTS, PairList, Sides, pair_list, word_list
from weatherglass.mitigation_evaluation.cost import (
    AnalogySet,
    SimilaritySet,
    Vectors,
    installed_sets,
    read_analogies,
    read_relevance,
    read_similarity,
    recovered_and_cost,
)
from weatherglass.mitigation_evaluation.recovery import (
    DRAWS,
    BeforeAfter,
    NeutralWords,
    old_bias,
    random_change,
)
from weatherglass.mitigation_evaluation.verdict import (
    ENDING,
    Evaluation,
    HeldOut,
    MetricChange,
    held_out_test,
    verdict,
    with_holm,
)
from weatherglass.multiverses.choices import select_tests
from weatherglass.parallel import Backend, backend
from weatherglass.progress import Progress, Silent, check_progress
from weatherglass.registry import check_number, checked_path
from weatherglass.storage.atomic import write_whole, writing_into
from weatherglass.storage.checksum import write_checked_json

if TYPE_CHECKING:
    from weatherglass.api.mitigation import Mitigation

RECORD = "judgement.json"
RUN = "run"
ROUNDING = 1e-6
"""The size of a score below which it is a rounding error of float32."""
FEWEST = 100
"""The smallest number of neutral words for measuring what can be recovered."""


def judge_mitigation(
    mitigation: Mitigation,
    *,
    tests: Sequence[str | Test] = (),
    metrics: Sequence[str] = ("*",),
    pairs: str = "",
    neutral: str = NEUTRAL,
    similarity: Sequence[str | Path] = (),
    analogies: Sequence[str | Path] = (),
    rank: Any = None,
    queries: Any = None,
    passages: Any = None,
    relevance: Sequence[str | Path] = (),
    alpha: float = 0.05,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge whether transforms removed an association, hid it, or did not remove it.

    Args:
        mitigation: transforms fitted on a model.
        tests: topics, names, globs or tests of your own; by default, the tests on the topics of the word lists.
        metrics: the metrics; by default, all. d is always included.
        pairs: pairs of words that define the direction of the attribute to recover; by default, those of the
            transform.
        neutral: words without the attribute, given as "neutral" or a file with one word per line.
        similarity: files of word or sentence pairs with scores; by default those in gensim, if it is installed.
        analogies: files of analogies; by default those in gensim, if it is installed.
        rank: groups of names whose rankings are audited before and after, as the groups of `weatherglass.rank`; the
            verdict does not depend on them.
        queries: the queries of this audit; by default, those of the package.
        passages: the passages of this audit.
        relevance: tables with the columns query, passage and relevance, on which nDCG@10 is measured before and after.
        alpha: the significance level of the verdict.
        jobs: the number of local processes.
        scheduler: a Dask cluster to use instead (tcp://HOST:PORT or a scheduler file), or ENGINE:ADDRESS with an
            engine of another package.
        shared_dir: a folder that all machines of the cluster see under the same path.
        folder: the folder for the run, judgement.json and the page.
        progress: an object that receives progress updates.

    Raises:
        WeatherglassError: if no test is known for the lists, or the model knows too few neutral words.
    """
    check_progress(progress)
    check_number("alpha", alpha)
    if not 0 < alpha < 1:
        raise WeatherglassError(f"alpha is {alpha:g}, but should be between 0 and 1")
    shown = progress or Silent()
    workers = backend(jobs, scheduler, shared_dir)
    folder = checked_path("folder", folder) if folder is not None else None
    model = mitigation.model
    listed, sides = attribute_of(mitigation, pairs)
    chosen = tests_of(mitigation, tests)
    seen = frozenset().union(*map(words_of, model.transforms))
    held = [held_out_test(test, seen, sides, listed.held_out if listed else ()) for test in chosen]
    held_tests = [one for one in held if isinstance(one, HeldOut)]
    sets = _benchmarks(similarity, analogies)
    materials = materials_for(rank, queries, passages)
    relevant = [read_relevance(checked_path("relevance", path)) for path in relevance]
    with tempfile.TemporaryDirectory() if folder is None else nullcontext(str(folder)) as name:
        run_folder = Path(name) / RUN
        attribute = {
            *sides[0],
            *sides[1],
            *(word for pair in (listed.held_out if listed else ()) for word in pair),
        }
        every_test = [*chosen, *(one.test for one in held_tests if one.left_out)]
        rows = _rows(model, every_test, metrics, attribute, run_folder, workers, shown)
        unseen = {one.test.name for one in held_tests}
        held_rows = with_holm([row for row in rows if row.test.partition(" (")[0] in unseen])
        whole_rows = with_holm([row for row in rows if ENDING not in row.test])
        recovered, cost, notes = _vectors(mitigation, sides, neutral, sets, workers, shown)
        cost += [retrieval_before_after(mitigation, one, workers, shown) for one in relevant]
        rankings = (
            rankings_before_after(mitigation, materials, alpha, workers, shown)
            if materials is not None
            else []
        )
        finished = Evaluation(
            model=model.encoder.name,
            transforms=tuple(transform.name for transform in model.transforms),
            rank=_rank(mitigation),
            width=mitigation.width,
            verdict=verdict(held_rows, whole_rows, recovered, alpha),
            rows=tuple(whole_rows),
            held_out=tuple(held_rows),
            words={
                one.test.name: {"left_out": one.left_out, "added": one.added}
                for one in held_tests
                if one.left_out
            },
            without_held_out=tuple(one for one in held if isinstance(one, str)),
            recovered=tuple(recovered),
            cost=tuple(cost),
            rankings=tuple(rankings),
            notes=(*mitigation.notes, *notes),
            alpha=alpha,
            record={"finished": now(), **environment()},
        )
        if folder is not None:
            _write(finished, Path(name))
    return finished


def attribute_of(mitigation: Mitigation, pairs: str) -> tuple[PairList | None, Sides]:
    """Return the pairs that define the attribute's direction, if there are any, and the words of both ends.

    Raises:
        WeatherglassError: if the transforms have no attribute, and no pairs are named.
    """
    from weatherglass.api.mitigation import sides_of_transforms, topics_of

    if pairs:
        listed = pair_list(pairs)
        return listed, listed.sides
    topics = topics_of(mitigation.model.transforms)
    for name in PAIR_LISTS:
        if set(topics) & set(pair_list(name).topics):
            return pair_list(name), pair_list(name).sides
    sides = sides_of_transforms(mitigation.model.transforms)
    if sides is None:
        raise WeatherglassError(
            "the transforms do not state an attribute; name one with --pairs, such as --pairs gender"
        )
    return None, sides


def tests_of(mitigation: Mitigation, tests: Sequence[str | Test]) -> list[Test]:
    """Return the requested tests, or the tests on the topics of the word lists.

    Raises:
        WeatherglassError: if there are no tests.
    """
    from weatherglass.api.mitigation import topics_of

    named = [one for one in tests if isinstance(one, str)]
    topics = topics_of(mitigation.model.transforms)
    if not tests and not topics:
        raise WeatherglassError("no topic is known for the word lists of the transforms; name tests with -t")
    found = select_tests(named or list(topics)) if named or not tests else []
    return choose_tests([*found, *(one for one in tests if isinstance(one, Test))])


def _rows(
    model: PlannedModel,
    tests: Sequence[Test],
    named: Sequence[str],
    attribute: Collection[str],
    folder: Path,
    workers: Backend,
    progress: Progress,
) -> list[MetricChange]:
    """Return a row per test and metric, before and after; a metric that does not fit a test has no row."""
    plain = PlannedModel.of(model.encoder)
    models = [replace(plain, name=BEFORE), replace(model, name=AFTER)]
    # Transforms change vectors, so that metrics of anything else cannot change.
    metrics = [each for each in select_metrics([DEFAULT_METRIC, *named]) if each.info.needs == "vectors"]
    plan = Plan(models, list(tests), metrics, Settings(trust="all"), {}, frozenset(m.name for m in metrics))
    call = {"called": "python", "function": "judge", "arguments": {}}
    registrations = () if workers.in_process else registrations_for(metrics, plan.settings.covariance)
    with RunFolder(folder) as opened:
        run = Audit(plan, call, workers, progress, opened, registrations).run()
    # A transform adds no noise, and the tests are held out, so the attribute words of a test are fixed.
    changes = {(row.test, row.metric): row for row in compare_models(folder, attributes="fixed").differences}
    before = {(r.row, r.metric): r for r in run.results if r.model == BEFORE}
    after = {(r.row, r.metric): r for r in run.results if r.model == AFTER}
    ends = {test.name: kind_of_ends(test, attribute) for test in tests}
    return [
        _row(before[key], after[key], changes.get(key), ends[before[key].test])
        for key in before
        if key in after
    ]


def kind_of_ends(test: Test, attribute: Collection[str]) -> str:
    """Return whether the ends of the attribute are the targets or the attributes of a test; empty if they are
    neither.
    """
    counts = {
        kind: len({word for element_set in sets for word in element_set.words} & set(attribute))
        for kind, sets in (("targets", test.targets), ("attributes", test.attributes))
    }
    return "" if counts["targets"] == counts["attributes"] else max(counts, key=lambda kind: counts[kind])


def _row(before: Result, after: Result, change: Difference | None, ends: str) -> MetricChange:
    nothing_left = before.info.from_scores and all(abs(one.score) < ROUNDING for one in after.scores)
    if nothing_left:  # d of rounding errors could have any size and sign
        after, change = replace(after, value=0.0, p_value=1.0), None
    return MetricChange(
        test=before.row,
        metric=before.metric,
        poolable=before.info.poolable and not before.uses_part,
        signed=bool(before.signed),
        before=before.bias,
        after=after.bias,
        p_before=_p(before),
        p_before_holm=None,
        p_after=_p(after),
        p_after_holm=None,
        low=change.low if change else None,
        high=change.high if change else None,
        p_change=change.p_value if change else None,
        value_before=before.value,
        value_after=after.value,
        units=sum(before.units()),
        contrast=_contrasts_ends(before, ends),
        optimised=before.info.removed_by_projection,
    )


def _contrasts_ends(result: Result, ends: str) -> bool:
    """Return whether p tests a difference between the ends of the attribute, as the metric declares."""
    contrasts = result.info.contrasts
    return contrasts in (ends, "both") if contrasts and result.uses_part else bool(contrasts)


def _p(result: Result) -> float | None:
    return None if result.why_no_p or np.isnan(result.p_value) else result.p_value


def _benchmarks(
    similarity: Sequence[str | Path], analogies: Sequence[str | Path]
) -> tuple[list[SimilaritySet], list[AnalogySet]]:
    if not similarity and not analogies:
        return installed_sets()
    return [read_similarity(Path(p)) for p in similarity], [read_analogies(Path(p)) for p in analogies]


def _vectors(
    mitigation: Mitigation,
    sides: Sides,
    neutral: str,
    sets: tuple[list[SimilaritySet], list[AnalogySet]],
    workers: Backend,
    progress: Progress,
) -> tuple[list[BeforeAfter], list[BeforeAfter], list[str]]:
    """Return recoveries and costs, computed from the vectors before and after."""
    apart = {word.lower() for side in sides for word in side}
    words = [word for word in word_list(neutral) if word.lower() not in apart]
    texts = [*sides[0], *sides[1], *words, *(text for group in sets for one in group for text in one.texts)]
    encodings = encode_texts(mitigation.model.encoder, texts, workers, progress)
    known = [word for word in words if encodings.known(word)]
    if len(known) < FEWEST:
        raise EncoderError(
            f"the model knows {len(known)} of the {len(words)} neutral words, but {FEWEST} are needed; "
            "name other words with --neutral"
        )
    before = _of(encodings, known)
    ends = [_of(encodings, [word for word in side if encodings.known(word)]) for side in sides]
    if not all(map(len, ends)):
        raise EncoderError("the model knows no word of one end of the attribute; name other --pairs")
    found = NeutralWords(tuple(known), old_bias(before, ends[0], ends[1]))
    after = mitigation.apply(before, known)
    randomly = [np.asarray(change(before, known)) for change in _random_changes(mitigation)]
    all_known = [text for text in encodings.row if encodings.known(text)]
    row = {text: number for number, text in enumerate(all_known)}
    whole = _of(encodings, all_known)
    recovered, cost, passed_over = recovered_and_cost(
        Vectors(before, after, randomly, whole, mitigation.apply(whole, all_known)),
        found,
        sets,
        row,
        workers,
        progress,
    )
    notes = (
        passed_over
        if any(sets)
        else ["there is no similarity or analogy set, because gensim, which contains some, is not installed"]
    )
    if not randomly:
        notes.append(
            "there is no random transform of the same rank, because the transform belongs to another package"
        )
    return recovered, cost, notes


def _of(encodings: Encodings, texts: Sequence[str]) -> Matrix:
    rows: Matrix = encodings.vectors[[encodings.row[text] for text in texts]]
    return rows


def _random_changes(mitigation: Mitigation) -> list[Steps]:
    steps = _steps(mitigation)
    return [random_change(Steps(steps), seed) for seed in range(DRAWS)] if steps else []


def _steps(mitigation: Mitigation) -> tuple[Step, ...]:
    """Return the steps of all transforms; empty if a transform is from another package."""
    ours = [change for change in mitigation.changes if isinstance(change, Steps)]
    return (
        tuple(step for change in ours for step in change.steps)
        if len(ours) == len(mitigation.changes)
        else ()
    )


def _rank(mitigation: Mitigation) -> int | None:
    steps = _steps(mitigation)
    return sum(step.rank for step in steps) if steps else None


def _write(finished: Evaluation, folder: Path) -> None:
    """Write judgement.json and the page."""
    from weatherglass.report.mitigation import PAGE, page

    record = finished.to_json()
    with writing_into(folder):
        write_checked_json(folder / RECORD, record)
        write_whole(folder / PAGE, page(json.loads(json.dumps(record))))
