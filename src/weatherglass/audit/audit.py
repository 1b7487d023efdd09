"""Audit models: plan tests × models × measures, compute what is missing, keep results and record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from weatherglass.audit.covariances import Synonyms, enlarged, estimate_covariances, needs_covariance, of_test
from weatherglass.audit.encode import Encodings, encode_texts
from weatherglass.audit.evaluate import CI, LEAST_RESAMPLES, PERMUTE, Settings
from weatherglass.audit.judge import Correction, judge
from weatherglass.audit.ledger import known_sets
from weatherglass.audit.plan import (
    Model,
    Plan,
    choose_models,
    choose_synonyms,
    choose_tests,
    synonyms_fingerprint,
)
from weatherglass.audit.record import CommandCall, PythonCall, now, run_record
from weatherglass.audit.registrations import Registration, registrations_for
from weatherglass.audit.unit import Unit, evaluate_unit
from weatherglass.catalogue.association_test import AssociationTest
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.base import Encoder
from weatherglass.errors import ClusterError, OutputError, UnitError, WeatherglassError, reason
from weatherglass.inference.significance import ALTERNATIVES, METHODS, Alternative, Budget
from weatherglass.metrics.weat.covariance import ESTIMATORS, Covariance
from weatherglass.metrics.weat.measure import Measure, select_measures
from weatherglass.metrics.weat.profiles import profile_of, settings_of
from weatherglass.parallel import Backend, backend
from weatherglass.progress import Progress, Silent
from weatherglass.registry import one_of
from weatherglass.runs.details import DETAILS, write_details
from weatherglass.runs.folder import RunFolder
from weatherglass.runs.results import Failure, Result, Run


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
        significance: how p is had: auto, exact, sampled, normal, … (METHODS 3).
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
    listed: Sequence[Any] = models if isinstance(models, list | tuple) else [models]
    plan = Plan(
        choose_models(listed),
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
    from weatherglass.report.page.html import PAGE, write_page

    try:
        write_page([folder], folder / PAGE)
    except Exception as error:
        return [f"{PAGE} was not written: {error or type(error).__name__}"]
    return []


def _at_least(noun: str, number: int, least: int) -> int:
    if number < least:
        raise WeatherglassError(f"{noun} is {number}, but should be at least {least}")
    return number


class Audit:
    """A plan being carried out: what is finished is kept at once, and one failing test stops no other."""

    def __init__(
        self,
        plan: Plan,
        call: CommandCall | PythonCall,
        workers: Backend,
        progress: Progress,
        folder: RunFolder | None = None,
        registrations: tuple[Registration, ...] = (),
    ) -> None:
        self.plan = plan
        self.call = call
        self.workers = workers
        self.progress = progress
        self.folder = folder
        self.registrations = registrations
        self.order = list(plan.keys())
        earlier = folder.finished if folder else {}
        self.finished = {key: earlier[key] for key in self.order if key in earlier}
        self.failures: list[Failure] = []

    def carry_out(self) -> Run:
        """Compute what is missing; whatever stops the work, table and record show what is done."""
        started = now()
        if self.folder:
            self.folder.write_table(self._in_order(), at_once=True)
        try:
            self._compute_all()
        except OutputError:
            raise  # The folder itself is the trouble; what is finished is in its journal.
        except BaseException:
            self._leave_behind(self._in_order(), started, "interrupted")
            raise
        results = judge(self._in_order(), self.plan.correction)
        record = self._leave_behind(results, started, "incomplete" if self.failures else "complete")
        return Run(results, self.failures, record)

    def _leave_behind(self, results: Sequence[Result], started: str, status: str) -> dict[str, Any]:
        """Write table, details and record, where there is a folder; returns the record."""
        unreadable = self.folder.warnings if self.folder else []
        record = run_record(self.plan, self.call, results, self.failures, unreadable, started, status)
        if self.folder:
            self.folder.write_table(results, at_once=True)
            write_details(self.folder.path / DETAILS, results)
            self.folder.write_record(record)
        return record

    def _compute_all(self) -> None:
        unusable: list[WeatherglassError] = []
        for model in self.plan.models:
            try:
                self._compute_model(model)
            except (OutputError, ClusterError):
                raise
            except WeatherglassError as error:
                unusable.append(error)
                self.failures += [Failure(model.name, test.name, str(error)) for test in self.plan.tests]
        if unusable and not self.finished:
            raise unusable[0]

    def _compute_model(self, model: Model) -> None:
        """All tests on one model; its texts are encoded together, each once."""
        missing = {
            test.name: measures
            for test in self.plan.tests
            if (
                measures := [
                    m for m in self.plan.measures if self.plan.key(model, test, m) not in self.finished
                ]
            )
        }
        if not missing:
            return
        tests = [test for test in self.plan.tests if test.name in missing]
        texts = [text for test in tests for text in test.texts]
        whitened = needs_covariance(measure for measures in missing.values() for measure in measures)
        if whitened:
            sets = (attributes for test in tests for attributes in test.attributes)
            texts += [text for attributes in sets for text in enlarged(attributes, self.plan.synonyms)]
        encodings = encode_texts(model.encoder, texts, self.workers, self.progress)
        covariances = self._covariances(tests, encodings) if whitened else None
        self._compile()
        self.progress.stage(f"testing {model.name}", len(tests))
        for outcome in self.workers.map(
            evaluate_unit, self._units(model, tests, missing, encodings, covariances), encodings.vectors
        ):
            unit = outcome.unit
            if outcome.value is None:
                self.failures.append(Failure(model.name, unit.test.name, reason(outcome.error)))
            for result in outcome.value or []:
                self._keep(self.plan.key(model, unit.test, Measure.parse(result.measure)), result)
            self.progress.advance()

    def _units(
        self,
        model: Model,
        tests: Sequence[AssociationTest],
        missing: Mapping[str, list[Measure]],
        encodings: Encodings,
        covariances: Mapping[tuple[str, ...], Covariance | Exception] | None,
    ) -> Iterator[Unit]:
        for test in tests:
            measures, pair = missing[test.name], None
            if covariances and needs_covariance(measures):
                try:
                    pair = of_test(test, self.plan.synonyms, covariances)
                except UnitError as error:
                    # Only what needs a covariance fails with it.
                    self.failures.append(Failure(model.name, test.name, f"mahalanobis: {error}"))
                    measures = [measure for measure in measures if not needs_covariance([measure])]
            try:
                sets, ledger, warnings = known_sets(test, encodings)
            except UnitError as error:
                self.failures.append(Failure(model.name, test.name, str(error)))
                measures = []
            if not measures:
                self.progress.advance()
                continue
            said = (*test.warnings, *warnings)
            about = (model.name, model.options, test)
            yield Unit(*about, sets, ledger, said, measures, self.plan.settings, pair, self.registrations)

    def _compile(self) -> None:
        """Have the compiled kernels ready before the processes need them, and say so where that takes time."""
        from weatherglass.inference.significance.prepare import prepare

        prepare(lambda message: self.progress.stage(message, 1))

    def _covariances(
        self, tests: Sequence[AssociationTest], encodings: Encodings
    ) -> dict[tuple[str, ...], Covariance | Exception]:
        return estimate_covariances(
            tests,
            encodings,
            self.plan.synonyms,
            self.plan.settings.covariance,
            self.workers,
            self.progress,
            self.registrations,
        )

    def _keep(self, key: str, result: Result) -> None:
        self.finished[key] = result
        if self.folder:
            self.folder.add(key, result)
            self.folder.write_table(self._in_order())

    def _in_order(self) -> list[Result]:
        return [self.finished[key] for key in self.order if key in self.finished]
