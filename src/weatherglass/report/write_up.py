"""What you may write in a paper for each verdict: a sentence with its numbers, its limits, and what to cite."""

from __future__ import annotations

from collections.abc import Sequence

from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue import load_test, reference
from weatherglass.errors import WeatherglassError
from weatherglass.report import statements


def sentences(verdicts: Sequence[Verdict], alpha: float) -> list[str]:
    """Return for each verdict, strongest first, what may be written, what may not, and the papers of its tests."""
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    names = dict(zip(models, statements.labels(models), strict=True))
    ordered = [*statements.topics(verdicts), *(one for one in verdicts if one.check)]
    return [_with_citations(one, alpha, names[one.model, one.options]) for one in ordered]


def _with_citations(verdict: Verdict, alpha: float, name: str) -> str:
    cited = citations((*verdict.tests, *verdict.measured))
    cite = f"Cite: {'; '.join(cited)}." if cited else "Cite: the source of your words."
    return f"{statements.written(verdict, alpha, name)} {cite}"


def citations(tests: Sequence[str]) -> list[str]:
    """Return the papers of these tests, each once; a test of the user has none that we know."""
    found: dict[str, None] = {}
    for test in tests:
        try:
            key = load_test(test.partition(" (")[0]).citation
        except WeatherglassError:
            continue
        if key:
            found[f"{reference(key) or key} [{key}]"] = None
    return list(found)
