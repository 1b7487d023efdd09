"""JUnit XML, which CI systems show as a list of tests that passed and failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.errors import output_error
from weatherglass.gate.rules import Breach
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import one_line

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, run: Run, breaches: Sequence[Breach]) -> None:
    """One test case per result; a broken rule is a failure, a test that could not be run an error.

    Raises:
        OutputError: if the file cannot be written.
    """
    try:
        write_whole(path, junit(run, breaches))
    except OSError as error:
        raise output_error(path, error) from error


def junit(run: Run, breaches: Sequence[Breach]) -> str:
    """The document as text."""
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
    for result in run.results:
        _add_result(suite, result, [breach for breach in breaches if breach.result is result])
    for breach in homeless:
        case = _case(suite, "gate", breach.rule.condition.source)
        _say(case, "failure", breach.reason)
    for failure in run.failures:
        _say(_case(suite, failure.model, failure.test), "error", failure.reason)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _add_result(suite: ElementTree.Element, result: Result, breaches: Sequence[Breach]) -> None:
    case = _case(suite, result.model, f"{result.test} {result.metric}", seconds=result.seconds)
    for breach in breaches:
        _say(case, "failure", breach.reason)
    columns = result.columns()
    numbers = ("value", "unbiased", "ci_low", "ci_high", "p_value", "p_adjusted", "p_method")
    shown = "\n".join(f"{name}: {columns[name] or 'missing'}" for name in numbers)
    shown += f"\noutcome: {'measured, not tested' if result.not_tested else result.outcome or 'not judged'}"
    ElementTree.SubElement(case, "system-out").text = _clean(f"{shown}\n{result.direction}")


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
    """Each line without what no XML document may hold, and control characters shown: CI systems print it."""
    return _NOT_XML.sub("�", "\n".join(map(one_line, text.split("\n"))))
