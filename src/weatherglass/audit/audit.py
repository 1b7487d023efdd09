"""Run an audit: compute the results of a plan that are missing, and store results and record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from weatherglass.arrays import Matrix
from weatherglass.audit.conclude import conclude
from weatherglass.audit.contexts import EncodedContexts, context_warnings, encode_contexts
from weatherglass.audit.covariances import covariances_for, estimate_covariances
from weatherglass.audit.encode import Encodings, encode_texts
from weatherglass.audit.evaluate import Job, evaluate_job
from weatherglass.audit.folder import RunFolder
from weatherglass.audit.judge import judge
from weatherglass.audit.known_sets import (
    TargetTexts,
    fitted_on_test,
    known_sets,
    other_tokens,
    read_targets,
    related_words_in,
    unfamiliar,
    whole_pairs,
)
from weatherglass.audit.pairs import score_pairs, score_words
from weatherglass.audit.plan import PartOfTest, Plan, PlannedModel, PlannedResult, why_not
from weatherglass.audit.record import finished_record, kept_keys, now, run_record
from weatherglass.audit.registrations import Registration
from weatherglass.audit.results import Failure, Result
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import outcomes_record
from weatherglass.catalogue.test import PAIR, Test
from weatherglass.errors import ClusterError, EncoderError, OutputError, UnitError, WeatherglassError, reason
from weatherglass.metrics.base import Metric
from weatherglass.metrics.weat.covariance import Covariance
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.stats.permutation.kernels import prepare
from weatherglass.warnings import as_warning


class Audit:
    """One run of a plan; each finished result is stored at once, and a failing test does not stop the others."""

    def __init__(
        self,
        plan: Plan,
        call: Mapping[str, Any],
        workers: Backend,
        progress: Progress,
        folder: RunFolder | None = None,
        registrations: tuple[Registration, ...] = (),
        added_to: Mapping[str, Any] | None = None,
    ) -> None:
        """Prepare to run a plan; the other arguments are those of `weatherglass.run`.

        Args:
            call: the command line or Python call that started the run, for its record.
            added_to: the record of the run in the folder, if the new results are added to it.
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
        self.order = [*self.kept, *(row.key for row in plan.rows)]
        self.finished = {key: earlier[key] for key in self.order if key in earlier}
        self.failures: list[Failure] = []
        self.unreadable = folder.warnings if folder else []
        """Warnings about lines of the folder's journal that could not be read."""
        self._in_contexts: EncodedContexts | None = None
        """The words of the current model in their sentences, if the plan has contexts."""

    def run(self) -> Run:
        """Compute the missing results; the table and the record contain the finished results even if the work is
        interrupted.
        """
        plan, failures, unreadable = self.plan, self.failures, self.unreadable
        asked_for = run_record(plan, self.call, now(), added_to=self.added_to, kept=self.kept)
        finished = self._results()
        self._write(finished, {**asked_for, "result_count": len(finished), "verdicts": []})
        try:
            self._compute_all()
        except OutputError:
            raise  # The folder cannot be written; the finished results are in its journal.
        except BaseException:
            finished = self._results()
            record = finished_record(asked_for, plan, finished, failures, unreadable, "interrupted")
            self._write(finished, {**record, "verdicts": []})
            raise
        alpha, smallest = plan.settings.alpha, plan.settings.smallest
        results = judge(self._results(), plan.settings)
        results, judged = conclude(results, asked_for["topics"], alpha=alpha, smallest=smallest)
        status = "incomplete" if failures else "complete"
        record = finished_record(asked_for, plan, results, failures, unreadable, status)
        record["verdicts"] = [verdict.to_json() for verdict in judged]
        record["outcomes"] = outcomes_record(results)
        record["agreement"] = None
        if len(record["metrics"]) > 1:
            from weatherglass.audit.agreement import metric_agreement

            agreement = metric_agreement(results)
            record["agreement"] = agreement.to_json() if agreement else None
        self._write(results, record)
        keys = tuple(key for key in self.order if key in self.finished)
        return Run(results, failures, record, keys, judged=tuple(judged))

    def _results(self) -> list[Result]:
        """Return the finished results, in the order of the table."""
        return [self.finished[key] for key in self.order if key in self.finished]

    def _write(self, results: Sequence[Result], record: dict[str, Any]) -> None:
        """Write the table and the record if there is a folder."""
        if self.folder:
            self.folder.write_table(results)
            self.folder.write_record(record)

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

    def _compute_model(self, model: PlannedModel) -> None:
        """Compute the missing results of one model; each distinct text is encoded once."""
        plan = self.plan
        missing = [row for row in plan.rows if row.model is model and row.key not in self.finished]
        rows = [row for row in missing if row.metric.info.needs == "vectors"]
        asked = [row for row in missing if row.metric.info.needs != "vectors"]
        if rows:
            tests = list({row.test.name: row.test for row in rows}.values())
            encodings = self._encode(model, rows)
        # A metric that cannot measure a test is recorded as a failure, unless only a glob selected it.
        self.failures += [
            Failure(model.name, test.name, why_not(test, metric))
            for test in plan.tests
            for metric in plan.metrics
            if not plan.parts[test.name, metric.name] and metric.name not in plan.optional
        ]
        if asked:
            try:
                self._ask_language_model(model, asked)
            except EncoderError as error:
                if not rows:
                    raise
                self._fail(model, asked, error)
        if not rows:
            return
        whitened = any(row.metric.info.covariances for row in rows)
        covariances = self._covariances(tests, encodings) if whitened else None
        # Compile the kernels before other processes need them.
        prepare(lambda message: self.progress.stage(message, 1))
        # Metrics of one class share their computation and fail together; other metrics are not affected.
        work: dict[tuple[str, PartOfTest], dict[type, list[Metric]]] = {}
        for row in rows:
            by_class = work.setdefault((row.test.name, row.part), {})
            by_class.setdefault(type(row.metric), []).append(row.metric)
        by_name = {test.name: test for test in tests}
        jobs = [(by_name[name], part, m) for (name, part), some in work.items() for m in some.values()]
        made = self._jobs(model, jobs, encodings, covariances)
        # The vectors of single contexts follow the means, so that all jobs share one array.
        vectors = self._in_contexts.stacked() if self._in_contexts else encodings.vectors
        self._evaluate(model, made, vectors, rows, len(jobs))

    def _evaluate(
        self,
        model: PlannedModel,
        jobs: Iterable[Job],
        vectors: Matrix,
        rows: Sequence[PlannedResult],
        number: int | None = None,
    ) -> None:
        """Compute jobs and store their results; the progress has `number` steps, by default one per row."""
        keys = {(row.test.name, row.metric.name, row.part): row.key for row in rows}
        self.progress.stage(f"testing {model.name}", len(rows) if number is None else number)
        for outcome in self.workers.map(evaluate_job, jobs, vectors):
            job = outcome.unit
            if outcome.value is None:
                self.failures.append(Failure(model.name, job.test.name, reason(outcome.error)))
            for result in outcome.value or []:
                key = keys[job.test.name, result.metric, job.part]
                self.finished[key] = result
                if self.folder:
                    self.folder.add(key, result)
                    if self.folder.table_is_due():
                        self.folder.write_table(self._results())
            self.progress.advance()

    def _fail(self, model: PlannedModel, rows: Sequence[PlannedResult], error: WeatherglassError) -> None:
        """Record that results cannot be computed, unless only a glob requested them."""
        named = (row for row in rows if row.metric.name not in self.plan.optional)
        self.failures += [Failure(model.name, row.test.name, str(error)) for row in named]

    def _ask_language_model(self, model: PlannedModel, rows: Sequence[PlannedResult]) -> None:
        """Compute the results of metrics that need log-probabilities, of sentence pairs or of words in templates."""
        settings = self.plan.settings
        paired = [row for row in rows if row.test.context == PAIR]
        if paired:
            scored = score_pairs(model, paired, self.workers, self.progress)
            jobs = (
                Job(
                    *(model.name, model.options, row.test, row.part, sets, missing),
                    (*map(as_warning, row.test.warnings), *warnings),
                    *([row.metric], settings),
                    registrations=self.registrations,
                    notes=notes,
                )
                for row, sets, missing, warnings, notes in scored.rows
            )
            self._evaluate(model, jobs, scored.array, paired)
        for row in rows:
            if row.test.context == PAIR:
                continue
            try:
                words = score_words(model, row, self.workers, self.progress)
            except UnitError as error:
                self._fail(model, [row], error)
                continue
            job = Job(
                *(model.name, model.options, row.test, row.part, words.sets, words.missing),
                tuple(map(as_warning, row.test.warnings)),
                *([row.metric], settings),
                registrations=self.registrations,
                targets=TargetTexts(words.pieces, None),
            )
            self._evaluate(model, [job], words.table, [row])

    def _encode(self, model: PlannedModel, rows: Sequence[PlannedResult]) -> Encodings:
        """Return the vectors of all texts that these results need."""
        texts = self.plan.texts(model, rows)
        if self.plan.contexts:
            self._in_contexts = encode_contexts(
                model.encoder, self.plan.contexts, texts, self.workers, self.progress
            )
            self._in_contexts = self._in_contexts.transformed(model.transforms)
            return self._in_contexts.encodings
        encoded = encode_texts(model.encoder, texts, self.workers, self.progress)
        return encoded.transformed(model.transforms)

    def _jobs(
        self,
        model: PlannedModel,
        work: Sequence[tuple[Test, PartOfTest, list[Metric]]],
        encodings: Encodings,
        covariances: Mapping[tuple[str, ...], Covariance | Exception] | None,
    ) -> Iterator[Job]:
        for test, part, metrics in work:
            pair = None
            if covariances and any(metric.info.covariances for metric in metrics):
                try:
                    pair = covariances_for(test, self.plan.synonyms, covariances)
                except UnitError as error:
                    # Only the metrics that need the covariance fail.
                    failed = ", ".join(metric.name for metric in metrics if metric.info.covariances)
                    self.failures.append(Failure(model.name, test.name, f"{failed}: {error}"))
                    metrics = [metric for metric in metrics if not metric.info.covariances]
            if not metrics:
                self.progress.advance()
                continue
            sets, missing, warnings = known_sets(test, encodings, part.roles)
            if any(metric.info.shape.paired for metric in metrics):
                sets, lost = whole_pairs(test, sets)
                warnings += lost
            warnings += related_words_in(((known.role, known) for known in sets), test.language)
            warnings += other_tokens(test, model.encoder)
            warnings += unfamiliar(test, encodings, part.roles)
            if self._in_contexts:
                warnings += context_warnings(test, part.roles, self._in_contexts)
            seen = model.seen_of(test) if model.transforms else ()
            if seen:
                warnings.append(fitted_on_test(seen, model.transforms))
            yield Job(
                *(model.name, model.options, test, part, sets, missing),
                (*map(as_warning, test.warnings), *warnings),
                *(metrics, self.plan.settings, pair, self.registrations, seen),
                read_targets(sets, encodings),
                self._in_contexts.rows_for(test.texts) if self._in_contexts else {},
            )

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
