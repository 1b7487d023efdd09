"""Run folders without a run: real tests, scores drawn at random, everything that a report reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.results import info_of

from weatherglass.audit.folder import FORMAT, RunFolder
from weatherglass.audit.results import ElementScore, Result, word_scores
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import Test
from weatherglass.stats.bootstrap import BootstrapInterval
from weatherglass.stats.interval import Reason
from weatherglass.stats.leave_one_out import LeftOut
from weatherglass.stats.robustness import NULL_LEVELS, Robustness
from weatherglass.warnings import Warning

ALPHA = 0.01
"""Not the default, so that a page which takes its level from elsewhere is found out."""


def made_up_run(
    folder: Path,
    tests: Sequence[Test],
    models: Sequence[str] = ("model",),
    metrics: Sequence[str] = ("cosine/mean",),
    seed: int = 0,
    record: Mapping[str, Any] | None = None,
    ci: str = "jackknife",
) -> list[Result]:
    """Write journal, table and record as a run would, and return what they hold."""
    rng = np.random.default_rng(seed)
    results = [
        _result(model, test, metric, ci, rng) for model in models for test in tests for metric in metrics
    ]
    keys = [str(number) for number in range(len(results))]
    with RunFolder(folder) as opened:
        for key, result in zip(keys, results, strict=True):
            opened.add(key, result)
        opened.write_table(results)
        made = {**_record(tests, models, metrics, ci), "keys": keys, **(record or {})}
        opened.write_record(made)
    run = read_run(folder)
    if "verdicts" not in made:  # as a real run has them; they need judged results
        verdicts = [verdict.to_json() for verdict in run.verdicts()]
        with RunFolder(folder) as opened:
            opened.write_record({**made, "verdicts": verdicts})
    return run.results


def _result(model: str, test: Test, metric: str, ci: str, rng: np.random.Generator) -> Result:
    shift = rng.choice([0.0, 0.05, 0.15])
    scores = tuple(
        ElementScore(role, e.text, e.word, e.template, float(rng.normal(shift if role == "X" else 0.0, 0.1)))
        for role, element_set in zip("XY", test.targets, strict=True)
        for e in element_set.elements
    )
    x, y = ([s.score for s in scores if s.role == role] for role in "XY")
    d = float((np.mean(x) - np.mean(y)) / np.std(x + y, ddof=1))
    p = float(10 ** -(max(d, 0) * 4))
    units = tuple(len({s.word for s in scores if s.role == role}) for role in "XY")
    several = len({s.word for s in scores}) < len(scores)
    null = np.quantile(rng.normal(0, 0.4, 999), NULL_LEVELS)
    result = Result(
        model=model,
        options="dim=256;pooling=mean",
        test=test.name,
        p_value=p,
        value=d,
        target_sizes=(len(x), len(y)),
        attribute_sizes=(len(test.attributes[0]), len(test.attributes[1])),
        metric=metric,
        permute="words",
        alternative="two-sided",
        ddof=1,
        test_statistic=sum(x) - sum(y),
        p_low=p * 0.99 if several else p,
        p_high=p,
        p_method="bounds" if several else "enumerate",
        p_floor=1e-20,
        units_x=units[0],
        units_y=units[1],
        p_elements=p / 50 if several else None,
        effect_size_elements=d / 1.1 if several else None,
        ci_low=d - 0.4,
        ci_high=d + 0.4,
        p_random=min(1.0, p * 3),
        effect_size_random=None if test.name == "weat2" else d * 1.2,
        ci_random_low=None if test.name == "weat2" else d * 1.2 - 0.6,
        ci_random_high=None if test.name == "weat2" else d * 1.2 + 0.6,
        score_reliability=0.07 if test.name == "weat2" else 0.63,
        p_adjusted=min(1.0, p * 46),
        outcome="robust" if p * 46 <= ALPHA else "unconfirmed" if p <= ALPHA else "inconclusive",
        marked=p * 46 <= ALPHA,
        p_middle=p,
        certified=True,
        info=info_of(metric),
        context=test.context,
        categories=test.categories,
        scores=scores,
        warnings=test.warnings,
    )
    left_out = list(_left_out(result, test, d, rng))
    telling = min(range(len(left_out)), key=lambda place: left_out[place].effect_size or 0.0)
    left_out[telling] = left_out[telling]._replace(p_value=min(1.0, p * 2))
    bootstrap = BootstrapInterval(
        percentile_low=d - 0.3,
        percentile_high=d + 0.3,
        bca_low=d - 0.4,
        bca_high=d + 0.4,
        resamples=2000,
        monte_carlo_error=0.0083,
    )
    robustness = Robustness(
        level=1 - ALPHA,
        random_corrected=True,
        fixed_reason=None,
        random_reason=str(Reason.NOISE) if test.name == "weat2" else None,
        templates_random=False,
        excluded_above=None if test.name == "weat2" else abs(d) * 1.2 + 0.5,
        bootstrap=bootstrap if ci == "bca" else None,
        left_out=tuple(left_out),
        null=tuple(map(float, null)),
    )
    noisy = (Warning.of("unreliable", reliability=0.2, least=0.3),) if test.name == "weat2" else ()
    return replace(result, robustness=robustness, warnings=(*result.warnings, *noisy))


def _left_out(result: Result, test: Test, d: float, rng: np.random.Generator) -> Iterator[LeftOut]:
    for role, word, _, _ in word_scores(result):
        yield _without("word", role, word, d, rng)
    for role, attribute in zip("AB", test.attributes, strict=True):
        for word in dict.fromkeys(attribute.words):
            yield _without("word", role, word, d, rng)


def _without(kind: str, role: str, name: str, d: float, rng: np.random.Generator) -> LeftOut:
    return LeftOut(kind, role, name, d + float(rng.normal(0, 0.05)))


def _record(tests: Sequence[Test], models: Sequence[str], metrics: Sequence[str], ci: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "status": "complete",
        "command": ["weatherglass", "run", *models],
        "started": "2026-11-15T20:00:00+00:00",
        "finished": "2026-11-15T20:01:00+00:00",
        "weatherglass": "0.1.0",
        "python": "3.11.7",
        "platform": "Linux",
        "packages": {"numpy": "2.4.6"},
        "models": [
            {"model": model, "options": "dim=256;pooling=mean", "identity": "0" * 64, "notes": []}
            for model in models
        ],
        "tests": {test.name: test.fingerprint() for test in tests},
        "topics": {test.name: test.topic or test.name for test in tests},
        "metrics": list(metrics),
        "settings": {
            **{"significance": "auto", "seed": 0, "ci": ci, "permute": "words"},
            **{"alpha": ALPHA, "correction": "holm", "family": None},
        },
        "correction": {
            "method": "holm",
            "alpha": ALPHA,
            "family": None,
            "sizes": {metric: len(models) * len(tests) for metric in metrics},
        },
        "missing_words": {},
        "warnings": [],
        "failures": [],
        "citations": sorted({test.citation for test in tests if test.citation}),
    }
