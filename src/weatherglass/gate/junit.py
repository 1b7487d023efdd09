"""Write JUnit XML, which CI systems show as a list of tests that passed and failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import Verdict
from weatherglass.errors import output_error
from weatherglass.gate.ranking import RankingBreach
from weatherglass.gate.rules import Breach
from weatherglass.ranking.ranking import Ranking
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import one_line

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, run: Run, breaches: Sequence[Breach]) -> None:
    """Write one test case per result; a result that breaks a rule is a failure, and a test that could not be run is an
    error.

    Raises:
        OutputError: if the file cannot be written.
    """
    try:
        write_whole(path, junit(run, breaches))
    except OSError as error:
        raise output_error(path, error) from error


def write_ranking_junit(path: Path, ranking: Ranking, breaches: Sequence[RankingBreach]) -> None:
    """Write one test case per comparison; a comparison that meets a condition is a failure, and a model that failed is
    an error.

    Raises:
        OutputError: if the file cannot be written.
    """
    homeless = [breach for breach in breaches if breach.comparison is None]
    failing = {id(breach.comparison) for breach in breaches if breach.comparison is not None}
    suite = ElementTree.Element(
        "testsuite",
        name="weatherglass rank",
        tests=str(len(ranking.comparisons) + len(ranking.failures) + len(homeless)),
        failures=str(len(failing) + len(homeless)),
        errors=str(len(ranking.failures)),
    )
    for row in ranking.comparisons:
        case = _case(suite, row.model, f"{row.topic}: {row.x}, {row.y}")
        for breach in breaches:
            if breach.comparison is row:
                _say(case, "failure", breach.reason)
        numbers = (
            "win_rate",
            "ci_low",
            "ci_high",
            "p",
            "p_adjusted",
            "impact_ratio",
            "impact_ratio_high",
            "outcome",
        )
        text = "\n".join(f"{name}: {getattr(row, name)}" for name in numbers)
        ElementTree.SubElement(case, "system-out").text = _clean(text)
    for breach in homeless:
        _say(_case(suite, "gate", "conditions"), "failure", breach.reason)
    for failure in ranking.failures:
        _say(_case(suite, failure["model"], "all comparisons"), "error", failure["reason"])
    try:
        write_whole(path, _document(suite))
    except OSError as error:
        raise output_error(path, error) from error


def _document(suite: ElementTree.Element) -> str:
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def junit(run: Run, breaches: Sequence[Breach]) -> str:
    """Return the document as text; each result comes with the verdict on its topic."""
    homeless = [breach for breach in breaches if breach.result is None]
    failing = {id(breach.result) for breach in breaches if breach.result is not None}
    suite = ElementTree.Element(
        "testsuite",
        name="weatherglass",
        tests=str(len(run.results) + len(run.failures) + len(homeless)),
        failures=str(len(failing) + len(homeless)),
        errors=str(len(run.failures)),
        time=f"{sum(result.seconds for result in run.results):.3f}",
    )
    verdicts = {
        (v.model, v.options, v.metric, row): v for v in run.verdicts() for row in (*v.tests, *v.measured)
    }
    for result in run.results:
        verdict = verdicts.get((result.model, result.options, result.metric, result.row))
        _add_result(suite, result, verdict, [breach for breach in breaches if breach.result is result])
    for breach in homeless:
        case = _case(suite, "gate", breach.rule.condition.source)
        _say(case, "failure", breach.reason)
    for failure in run.failures:
        _say(_case(suite, failure.model, failure.test), "error", failure.reason)
    return _document(suite)


def _add_result(
    suite: ElementTree.Element, result: Result, verdict: Verdict | None, breaches: Sequence[Breach]
) -> None:
    """Add the test case of one result, with the reason why it fails, its numbers, and what it and its topic show."""
    case = _case(suite, result.model, f"{result.test} {result.metric}", seconds=result.seconds)
    for breach in breaches:
        _say(case, "failure", breach.reason)
    columns = result.columns()
    numbers: tuple[str, ...] = ("value", "unbiased", "ci_low", "ci_high", "p_value", "p_adjusted", "p_method")
    if result.limit == "pieces":  # p with the number of pieces held fixed decides, not the interval
        numbers += ("p_pieces", "effect_size_pieces")
    shown = {name: columns[name] or "missing" for name in numbers}
    if (
        result.not_tested or result.outcome or not (verdict and verdict.check)
    ):  # a sanity check has no outcome
        shown["outcome"] = "measured, not tested" if result.not_tested else result.outcome or "not judged"
    shown["direction"] = result.direction
    if verdict is not None:
        found = {True: "found", False: "not found", None: "not tested"}[verdict.found]
        shown["topic"] = verdict.topic
        shown["verdict"] = f"sanity check {found}" if verdict.check else verdict.outcome or "no verdict"
        shown["why"] = verdict.why
    text = "\n".join(f"{name}: {value}" for name, value in shown.items())
    ElementTree.SubElement(case, "system-out").text = _clean(text)


def _case(
    suite: ElementTree.Element, model: str, name: str, seconds: float | None = None
) -> ElementTree.Element:
    case = ElementTree.SubElement(
        suite, "testcase", classname=one_line(_clean(model)), name=one_line(_clean(name))
    )
    if seconds is not None:
        case.set("time", f"{seconds:.3f}")
    return case


def _say(case: ElementTree.Element, kind: str, reason: str) -> None:
    ElementTree.SubElement(case, kind, message=one_line(_clean(reason))).text = _clean(reason)


def _clean(text: str) -> str:
    """Return each line without characters that XML does not allow, and with control characters escaped."""
    return _NOT_XML.sub("�", "\n".join(map(one_line, text.split("\n"))))
