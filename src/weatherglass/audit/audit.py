"""An audit being carried out: compute what is missing of a plan, keep results and record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass.audit.covariances import enlarged, estimate_covariances, needs_covariance, of_test
from weatherglass.audit.encode import Encodings, encode_texts
from weatherglass.audit.judge import judge
from weatherglass.audit.ledger import known_sets
from weatherglass.audit.plan import (
    Model,
    Plan,
)
from weatherglass.audit.record import CommandCall, PythonCall, now, run_record
from weatherglass.audit.registrations import Registration
from weatherglass.audit.unit import Unit, evaluate_unit
from weatherglass.catalogue.association_test import AssociationTest
from weatherglass.errors import ClusterError, OutputError, UnitError, WeatherglassError, reason
from weatherglass.metrics.weat.covariance import Covariance
from weatherglass.metrics.weat.measure import Measure
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.runs.details import DETAILS, write_details
from weatherglass.runs.folder import RunFolder
from weatherglass.runs.results import Failure, Result, Run


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
