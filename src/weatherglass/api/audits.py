"""`weatherglass.run`: run tests on models, store the results in a folder, and write their page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weatherglass.audit.audit import Audit
from weatherglass.audit.covariances import Synonyms
from weatherglass.audit.evaluate import CI, LEAST_RESAMPLES, PERMUTE, Settings
from weatherglass.audit.judge import Correction
from weatherglass.audit.plan import (
    Plan,
    choose_models,
    choose_synonyms,
    choose_tests,
    synonyms_fingerprint,
)
from weatherglass.audit.profile import settings_of
from weatherglass.audit.record import CommandCall, PythonCall
from weatherglass.audit.registrations import registrations_for
from weatherglass.catalogue.association_test import AssociationTest
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.base import Encoder
from weatherglass.errors import WeatherglassError
from weatherglass.inference.significance import ALTERNATIVES, METHODS, Alternative, Budget
from weatherglass.metrics.weat.covariance import ESTIMATORS
from weatherglass.metrics.weat.measure import select_measures
from weatherglass.metrics.weat.profiles import profile_of
from weatherglass.parallel import backend
from weatherglass.progress import Progress, Silent
from weatherglass.registry import one_of
from weatherglass.runs.folder import RunFolder
from weatherglass.runs.results import Run


def run(
    models: Sequence[str | Encoder] | str | Encoder = DEFAULT_MODEL,
    tests: Sequence[str | AssociationTest] | str | AssociationTest = "*",
    measures: Sequence[str] | str = "cosine/mean",
    *,
    significance: str = "auto",
    alternative: Alternative = "greater",
    permute: str = "elements",
    ddof: int = 1,
    seed: int = 0,
    precision: float = 0.01,
    budget: Budget | None = None,
    covariance: str = "glasso",
    synonyms: str | Synonyms | None = None,
    ci: str = "mean",
    resamples: int = 2000,
    profile: str | None = None,
    alpha: float = 0.01,
    correction: str = "holm",
    family: int | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> Run:
    """Run association tests on models.

    Args:
        models: specs such as "vectors:glove.txt", or encoders of your own.
        tests: names, globs, paths of files or folders, or tests of your own; all 46 published ones by default.
        measures: `similarity/statistic`, or globs over them.
        significance: how p is computed: auto, exact, sampled, normal, … (docs/methods 3).
        alternative: greater, less, two-sided or observed.
        permute: what permutations exchange: elements (the published procedure) or words.
        ddof: 1 for the papers' standard deviation, 0 for that of WEFE and responsibly.
        seed: random seed; every test starts from it.
        precision: relative gap of certified bounds of p.
        budget: time and memory for one p-value.
        covariance: estimator for Mahalanobis measures: glasso or ledoit-wolf.
        synonyms: words added to attribute sets for that covariance: a TOML file, "catalogue", "wordnet" or a mapping.
        ci: measures that get intervals, leave-one-out and power: those with the statistic mean, all, or none.
        resamples: number of bootstrap resamples.
        profile: compute d and p as in: may2019, caliskan2017, azarpanah2021, bias-bench, wefe, responsibly.
        alpha: significance level of the marks * (p) and ** (adjusted p).
        correction: holm or benjamini-hochberg.
        family: number of tests to correct for, if more than in this run.
        jobs: local processes to use.
        scheduler: a Dask cluster to use instead: tcp://HOST:PORT or a scheduler file.
        shared_dir: a folder that all machines of the cluster see under the same path.
        folder: where results are stored; results that are already there are not computed again.
        progress: updated as the work proceeds.
        command: the command line of this run, for its record; None for a call from Python.

    Returns:
        The results, in the order models × tests × measures, with the record of the run.

    Raises:
        WeatherglassError: if an argument is wrong; raised before work starts.
    """
    call = CommandCall(tuple(command)) if command is not None else PythonCall.of(run, locals())
    chosen_synonyms = choose_synonyms(synonyms)
    settings = Settings(
        significance=one_of("significance", significance, METHODS),
        alternative=one_of("alternative", alternative, ALTERNATIVES),
        permute=one_of("permute", permute, PERMUTE),
        ddof=ddof,
        seed=seed,
        precision=precision,
        budget=budget or Budget(),
        covariance=one_of("covariance estimator", covariance, ESTIMATORS.names()),
        synonyms=synonyms_fingerprint(chosen_synonyms),
        trust=one_of("ci", ci, CI),
        resamples=_at_least("resamples", resamples, LEAST_RESAMPLES),
    )
    if profile is not None:
        settings = settings_of(profile_of(profile), settings)
    chosen_tests = choose_tests([tests] if isinstance(tests, str | AssociationTest) else tests)
    chosen_measures = select_measures([measures] if isinstance(measures, str) else measures)
    model_list: Sequence[Any] = models if isinstance(models, list | tuple) else [models]
    plan = Plan(
        choose_models(model_list),
        chosen_tests,
        chosen_measures,
        settings,
        Correction(correction, alpha, family),
        chosen_synonyms,
    )
    plan.check()
    workers = backend(jobs, scheduler, Path(shared_dir) if shared_dir is not None else None)
    registrations = () if workers.in_process else registrations_for(plan.measures, settings.covariance)
    if folder is None:
        return Audit(plan, call, workers, progress or Silent(), registrations=registrations).carry_out()
    with RunFolder(Path(folder)) as opened:
        finished = Audit(plan, call, workers, progress or Silent(), opened, registrations).carry_out()
        finished.record["warnings"] += _write_page(opened.path)
        return finished


def _write_page(folder: Path) -> list[str]:
    """Write report.html and return warnings: the results are safe, so a page that fails is only a warning."""
    from weatherglass.report.page.html import PAGE, write_page  # jinja2, only where there is a page to write

    try:
        write_page([folder], folder / PAGE)
    except Exception as error:
        return [f"{PAGE} was not written: {error or type(error).__name__}"]
    return []


def _at_least(noun: str, number: int, least: int) -> int:
    if number < least:
        raise WeatherglassError(f"{noun} is {number}, but should be at least {least}")
    return number
