"""`weatherglass.run`: models through tests, the results kept in a folder, and the page that shows them."""

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
    """Put models through association tests.

    Args:
        models: specs such as "vectors:glove.txt", or encoders of your own.
        tests: names, globs, paths of files or folders, or tests of your own; all 46 published ones by default.
        measures: `similarity/statistic`, or globs over them.
        significance: how p is had: auto, exact, sampled, normal, … (docs/methods 3).
        alternative: greater, less, two-sided or observed.
        permute: what is exchanged: elements (the published procedure) or words.
        ddof: 1 for the papers' standard deviation, 0 for that of WEFE and responsibly.
        seed: of the random draws, where there are any; each test starts from it anew.
        precision: relative gap of certified bounds.
        budget: what one p-value may cost.
        covariance: estimator for Mahalanobis measures: glasso or ledoit-wolf.
        synonyms: what enlarges attribute sets for that covariance: a TOML file, "catalogue", "wordnet" or a mapping.
        ci: which measures get an interval and the like: those with the statistic mean, all, or none.
        resamples: of the bootstrap.
        profile: whose d and p these are to be: may2019, caliskan2017, azarpanah2021, bias-bench, wefe, responsibly.
        alpha: level of the marks * (p) and ** (adjusted p).
        correction: holm or benjamini-hochberg.
        family: how many tests the correction counts, if more than the rows of this run.
        jobs: local processes to use.
        scheduler: a Dask cluster to use instead: tcp://HOST:PORT or a scheduler file.
        shared_dir: a folder that all its machines see under the same path.
        folder: where journal, table and record are kept; what is there already is not computed again.
        progress: told how far the work has come.
        command: the words of the command line that asks for this run, for its record; None for a call from Python.

    Returns:
        The results, in the order models × tests × measures, with the record of the run.

    Raises:
        WeatherglassError: for a mistake in the request, found before work starts.
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
    join_names: Sequence[Any] = models if isinstance(models, list | tuple) else [models]
    plan = Plan(
        choose_models(join_names),
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
        finished.record["warnings"] += _leave_page(opened.path)
        return finished


def _leave_page(folder: Path) -> list[str]:
    """Write report.html; whatever is wrong with a page, the results stand, so that it is only a warning."""
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
