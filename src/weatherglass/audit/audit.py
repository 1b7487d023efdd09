"""An audit being carried out: compute what is missing of a plan, keep results and record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from weatherglass.audit.adding import kept_keys
from weatherglass.audit.covariances import covariances_for, enlarged, estimate_covariances, needs_covariance
from weatherglass.audit.encode import Encodings, encode_texts
from weatherglass.audit.ledger import known_sets, other_tokens, seen_words, whole_pairs
from weatherglass.audit.parts import Part, why_not
from weatherglass.audit.plan import Model, Plan
from weatherglass.audit.record import CommandCall, PythonCall, now, run_record
from weatherglass.audit.registrations import Registration
from weatherglass.audit.unit import Unit, evaluate_unit
from weatherglass.catalogue.test import Test
from weatherglass.errors import ClusterError, OutputError, UnitError, WeatherglassError, reason
from weatherglass.metrics.base import Metric
from weatherglass.metrics.weat.covariance import Covariance
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.runs.folder import RunFolder
from weatherglass.runs.judge import judge
from weatherglass.runs.results import Failure, Result, Run
from weatherglass.runs.verdict import Verdict, recorded_verdicts


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
        added_to: Mapping[str, Any] | None = None,
    ) -> None:
        """Args as in `weatherglass.run`.

        Args:
            added_to: the record of the run that the folder holds, if its results are to stay beside these.
        """
        self.plan = plan
        self.call = call
        self.workers = workers
        self.progress = progress
        self.folder = folder
        self.registrations = registrations
        earlier = folder.finished if folder else {}
        self.added_to = added_to
        self.kept = kept_keys(added_to, plan, earlier) if added_to else []
        self.order = [*self.kept, *plan.keys()]
        self.finished = {key: earlier[key] for key in self.order if key in earlier}
        self.failures: list[Failure] = []

    def carry_out(self) -> Run:
        """Compute what is missing; whatever stops the work, table and record show what is done."""
        started = now()
        self._leave_behind(self._in_order(), started, "running")
        try:
            self._compute_all()
        except OutputError:
            raise  # The folder itself is the trouble; what is finished is in its journal.
        except BaseException:
            self._leave_behind(self._in_order(), started, "interrupted")
            raise
        results = judge(self._in_order(), self.plan.correction)
        status = "incomplete" if self.failures else "complete"
        judged = recorded_verdicts(results, self._record(results, started, status))
        record = self._leave_behind(results, started, status, judged)
        keys = tuple(key for key in self.order if key in self.finished)
        return Run(results, self.failures, record, keys, judged=tuple(judged))

    def _record(self, results: Sequence[Result], started: str, status: str) -> dict[str, Any]:
        unreadable = self.folder.warnings if self.folder else []
        return run_record(
            *(self.plan, self.call, results, self.failures, unreadable, started, status),
            added_to=self.added_to,
            kept=self.kept,
        )

    def _leave_behind(
        self, results: Sequence[Result], started: str, status: str, judged: Sequence[Verdict] = ()
    ) -> dict[str, Any]:
        """Write table and record, where there is a folder; returns the record."""
        record = self._record(results, started, status)
        record["verdicts"] = [verdict.to_json() for verdict in judged]
        if self.folder:
            self.folder.write_table(results)
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
            test.name: metrics
            for test in self.plan.tests
            if (metrics := [m for m in self.plan.metrics if self._missing(model, test, m)])
        }
        if not missing:
            return
        tests = [test for test in self.plan.tests if test.name in missing]
        texts = [text for test in tests for text in test.texts]
        texts += [text for test in tests for metric in missing[test.name] for text in metric.texts(test)]
        whitened = needs_covariance(metric for metrics in missing.values() for metric in metrics)
        if whitened:
            sets = (attributes for test in tests for attributes in test.attributes)
            texts += [text for attributes in sets for text in enlarged(attributes, self.plan.synonyms)]
        texts += model.texts()
        encodings = encode_texts(model.encoder, texts, self.workers, self.progress).transformed(
            model.transforms
        )
        covariances = self._covariances(tests, encodings) if whitened else None
        self._compile()
        work = [
            (test, part, metrics)
            for test in tests
            for part, requested in self._by_part(model, test, missing[test.name]).items()
            for metrics in _by_class(requested)
        ]
        self.progress.stage(f"testing {model.name}", len(work))
        for outcome in self.workers.map(
            evaluate_unit, self._units(model, work, encodings, covariances), encodings.vectors
        ):
            unit = outcome.unit
            if outcome.value is None:
                self.failures.append(Failure(model.name, unit.test.name, reason(outcome.error)))
            for result in outcome.value or []:
                self._keep(self.plan.key(model, unit.test, result.metric, unit.part), result)
            self.progress.advance()

    def _units(
        self,
        model: Model,
        work: Sequence[tuple[Test, Part, list[Metric]]],
        encodings: Encodings,
        covariances: Mapping[tuple[str, ...], Covariance | Exception] | None,
    ) -> Iterator[Unit]:
        for test, part, metrics in work:
            pair = None
            if covariances and needs_covariance(metrics):
                try:
                    pair = covariances_for(test, self.plan.synonyms, covariances)
                except UnitError as error:
                    # Only what needs a covariance fails with it.
                    self.failures.append(Failure(model.name, test.name, f"mahalanobis: {error}"))
                    metrics = [metric for metric in metrics if not metric.whitened]
            if not metrics:
                self.progress.advance()
                continue
            sets, ledger, warnings = known_sets(test, encodings, part.roles)
            if any(metric.shape.paired for metric in metrics):
                sets, lost = whole_pairs(test, sets)
                warnings += lost
            warnings += other_tokens(test, model.encoder)
            seen = model.seen_of(test)
            warnings += seen_words(seen, model.transforms)
            yield Unit(
                *(model.name, model.options, test, part, sets, ledger, (*test.warnings, *warnings)),
                *(metrics, self.plan.settings, pair, self.registrations, seen),
            )

    def _missing(self, model: Model, test: Test, metric: Metric) -> bool:
        parts = self.plan.parts(test, metric)
        return not parts or any(
            self.plan.key(model, test, metric.name, p) not in self.finished for p in parts
        )

    def _by_part(self, model: Model, test: Test, metrics: Sequence[Metric]) -> dict[Part, list[Metric]]:
        """The metrics by the sets that they take; one that cannot measure the test is a failure that says why."""
        by_part: dict[Part, list[Metric]] = {}
        for metric in metrics:
            parts = self.plan.parts(test, metric)
            if not parts and metric.name not in self.plan.optional:
                self.failures.append(Failure(model.name, test.name, why_not(test, metric)))
            for part in parts:
                if self.plan.key(model, test, metric.name, part) not in self.finished:
                    by_part.setdefault(part, []).append(metric)
        return by_part

    def _compile(self) -> None:
        """Have the compiled kernels ready before the processes need them, and say so where that takes time."""
        from weatherglass.inference.significance.prepare import prepare

        prepare(lambda message: self.progress.stage(message, 1))

    def _covariances(
        self, tests: Sequence[Test], encodings: Encodings
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
            if self.folder.table_is_due():
                self.folder.write_table(self._in_order())

    def _in_order(self) -> list[Result]:
        return [self.finished[key] for key in self.order if key in self.finished]


def _by_class(metrics: Iterable[Metric]) -> list[list[Metric]]:
    """Metrics of one class share their computation and fail together; others are not touched by that."""
    classes: dict[type, list[Metric]] = {}
    for metric in metrics:
        classes.setdefault(type(metric), []).append(metric)
    return list(classes.values())
