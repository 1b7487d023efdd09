"""Judge a run by the conditions under which it fails, for all results or for some tests, and state why it failed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from weatherglass.audit.results import COLUMNS, Result
from weatherglass.audit.verdict import CONTROL, Verdict
from weatherglass.errors import GateError
from weatherglass.gate.conditions import Condition, parse
from weatherglass.registry import did_you_mean, suggestion
from weatherglass.stats import Outcome
from weatherglass.storage.documents import reading_document, toml_document

PATTERNS = {"tests": "test", "metrics": "metric", "models": "model"}
"""The keys of a rule that contain patterns, and the columns whose names they match."""
KEYS = ("fail_if", *PATTERNS, "why")


TOPIC_COLUMNS: Mapping[str, tuple[str, str]] = {
    "topic": ("topic", "text"),
    "verdict": ("outcome", "text"),
    "topic_effect_size": ("effect_size", "number"),
    "topic_ci_low": ("ci_low", "number"),
    "topic_ci_high": ("ci_high", "number"),
    "topic_p": ("p", "number"),
    "topic_p_adjusted": ("p_adjusted", "number"),
    "topic_p_random": ("p_random", "number"),
    "topic_p_both_adjusted": ("p_both_adjusted", "number"),
    "topic_excluded_above": ("excluded_above", "number"),
}
"""Names that an expression can use for the topic of a result, with the field of its verdict and its kind."""
_TYPES = {"related_words": "str", **{each.name: str(each.type) for each in fields(Result)}}
COLUMN_KINDS: Mapping[str, str] = {
    **{name: "number" if _TYPES[name].startswith(("float", "int")) else "text" for name in COLUMNS},
    **{name: kind for name, (_, kind) in TOPIC_COLUMNS.items()},
}
"""Names that an expression can use, each of which is a number or a text."""
RANKS: Mapping[str, int] = {
    **{Outcome.SMALL: 0, Outcome.INCONCLUSIVE: 0, Outcome.UNCONFIRMED: 1},
    **{Outcome.ISOLATED: 2, Outcome.LIMITED: 2, Outcome.CONFLICTING: 2, Outcome.ROBUST: 3},
}
"""Every verdict with its strength; “inconclusive” is as weak as “small”, and “conflicting” as strong as the tests that
disagree."""
WORDS: Mapping[str, Collection[str]] = {"verdict": RANKS}
"""The texts that a column can have, for columns with a fixed list."""
OF_A_TOPIC = (*TOPIC_COLUMNS, "model", "options", "metric")
"""Columns that are equal for all tests of a topic; a condition that uses only these columns is evaluated once per
topic.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """One condition, and the results that it applies to."""

    condition: Condition
    tests: tuple[str, ...] = ("*",)
    metrics: tuple[str, ...] = ("*",)
    models: tuple[str, ...] = ("*",)
    why: str = ""
    """The user's explanation for a failure of this rule."""

    def covers(self, result: Result) -> bool:
        """Return whether the rule applies to this result."""
        return all(
            any(fnmatchcase(getattr(result, column), glob) for glob in getattr(self, key))
            for key, column in PATTERNS.items()
        )

    def names_control(self, result: Result) -> bool:
        """Return whether the rule names this control, or the topic "control"; a glob does not name it."""
        return not {result.test, CONTROL}.isdisjoint((*self.tests, *self.condition.texts))

    @property
    def is_about_topics(self) -> bool:
        """Return whether the condition gives the same result for all tests of a topic."""
        named = self.condition.columns
        return set(named) <= set(OF_A_TOPIC) and not set(named).isdisjoint(TOPIC_COLUMNS)


@dataclass(frozen=True, slots=True)
class Breach:
    """A reason for the gate to fail."""

    rule: Rule
    result: Result | None
    """The result that breaks the rule; None if the rule applies to no result."""
    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class Gate:
    """All rules of a run."""

    rules: tuple[Rule, ...]

    def judge(self, results: Sequence[Result], verdicts: Sequence[Verdict] = ()) -> list[Breach]:
        """Return every reason to fail, in the order of rules and results.

        A rule counts as broken if it cannot be decided because a number is missing, or if one of its patterns matches
        no result, since a gate that judged nothing has not been passed. A rule does not apply to controls that it does
        not name. A condition on p does not apply to rows that are measured but not tested. A condition on topics is
        checked once per topic.

        Args:
            results: the judged results of a run.
            verdicts: the verdicts on its topics; without them, no condition on a topic or verdict can be decided.
        """
        of_result = {
            (v.model, v.options, v.metric, row): v for v in verdicts for row in (*v.tests, *v.measured)
        }
        breaches = []
        for rule in self.rules:
            matched = [
                (r, of_result.get((r.model, r.options, r.metric, r.row))) for r in results if rule.covers(r)
            ]
            covered = [(r, v) for r, v in matched if not (v and v.check) or rule.names_control(r)]
            not_judged = _not_judged(rule, [r for r, _ in covered], results, len(matched) > len(covered))
            breaches += [Breach(rule, None, reason) for reason in not_judged]
            breaches += _breaches(rule, covered)
        return breaches


def gate_of(fail_if: Sequence[str], file: Path | None) -> Gate | None:
    """Return the gate of a command: its expressions, each for all results, and the rules of its file.

    Raises:
        GateError: if an expression or the file cannot be understood.
    """
    rules = [Rule(parse(expression, COLUMN_KINDS, WORDS)) for expression in fail_if]
    rules += load_rules(file) if file else []
    return Gate(tuple(rules)) if rules else None


def load_rules(path: Path) -> list[Rule]:
    """Return the rules in the `[[gate]]` tables of a TOML file.

    Raises:
        GateError: if the file or a rule is invalid; the message names the file and the rule.
    """
    content = toml_document(path, GateError)
    with reading_document(path, GateError):
        return _rules(path, content)


def _rules(path: Path, content: dict[str, Any]) -> list[Rule]:
    tables = content.pop("gate", None)
    if content or not isinstance(tables, list) or not tables:
        other = f", but it has '{next(iter(content))}'" if content else ""
        raise GateError(f"{path}: expected [[gate]] tables and nothing else{other}")
    return [_rule(f"{path}, gate {number}", table) for number, table in enumerate(tables, start=1)]


def _rule(place: str, table: Any) -> Rule:
    if not isinstance(table, dict) or not isinstance(table.get("fail_if"), str):
        raise GateError(f"{place}: expected a table with fail_if = 'condition'")
    for key in table:
        if key not in KEYS:
            raise GateError(f"{place}: unknown key '{key}'{suggestion(key, KEYS)}")
    globs = {key: _globs(place, key, table[key]) for key in PATTERNS if key in table}
    why = table.get("why", "")
    if not isinstance(why, str):
        raise GateError(f"{place}: why should be a text")
    try:
        return Rule(parse(table["fail_if"], COLUMN_KINDS, WORDS), why=why, **globs)
    except GateError as error:
        raise GateError(f"{place}: {error}") from None


def _globs(place: str, key: str, value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed or not all(isinstance(glob, str) for glob in listed):
        raise GateError(f"{place}: {key} should be a name, a glob or a list of them")
    return tuple(listed)


def _breaches(rule: Rule, covered: Sequence[tuple[Result, Verdict | None]]) -> Iterator[Breach]:
    """Yield a breach for every result that breaks the rule or, if the rule is about topics, for every topic."""
    asked: set[int] = set()
    left_out = [(result, verdict) for result, verdict in covered if _is_left_out(rule, result, verdict)]
    if left_out and len(left_out) == len(covered):
        reason = f"{rule.condition.source}: all results are measured, not tested, so nothing was judged"
        yield Breach(rule, None, reason)
    for result, verdict in covered:
        if (result, verdict) in left_out or (rule.is_about_topics and not result.info.exchanges):
            continue
        if rule.is_about_topics and verdict is not None:
            if id(verdict) in asked:
                continue
            asked.add(id(verdict))
        breach = _breach(rule, result, verdict)
        if breach is not None:
            yield breach


def _is_left_out(rule: Rule, result: Result, verdict: Verdict | None) -> bool:
    """Return whether a rule needs a number that a row or topic lacks because it is measured but not tested."""
    if rule.is_about_topics:
        measured_only = verdict is not None and bool(verdict.measured) and not verdict.tests
    else:
        measured_only = bool(result.not_tested)
    return measured_only and rule.condition.decide(_row(result, verdict)) is None


def _row(result: Result, verdict: Verdict | None) -> dict[str, object]:
    """Return the values of a result and its topic that a condition may name."""
    row = {name: getattr(result, name) for name in COLUMNS}
    row |= {name: str(value) for name, value in row.items() if isinstance(value, bool)}  # as in results.tsv
    row |= {name: getattr(verdict, field, None) for name, (field, _) in TOPIC_COLUMNS.items()}
    if verdict is not None and verdict.check:
        found = {True: "found", False: "not found", None: None}[verdict.found]
        row |= {"topic": CONTROL, "verdict": found}
    return row


def _breach(rule: Rule, result: Result, verdict: Verdict | None) -> Breach | None:
    row = _row(result, verdict)
    holds = rule.condition.decide(row)
    if holds is False:
        return None
    shown = ", ".join(f"{name} = {_shown(row[name])}" for name in rule.condition.columns)
    what = f"'{verdict.topic}'" if rule.is_about_topics and verdict else result.row
    place = f"{what} on {result.model} ({result.metric})"
    cause = "" if holds else ", which cannot be decided: a number is missing"
    if not holds and verdict is not None and verdict.outcome is None and "verdict" in rule.condition.columns:
        cause = f", which cannot be decided: {verdict.why}"
    why = f"; {rule.why}" if rule.why else ""
    return Breach(rule, result, f"{place}: {rule.condition.source}{cause}: {shown}{why}")


def _not_judged(
    rule: Rule, covered: Sequence[Result], results: Sequence[Result], only_controls: bool
) -> Iterator[str]:
    """Yield a breach if the rule applies to no result, or for each of its patterns that matches no result."""
    names = {key: {getattr(result, column) for result in results} for key, column in PATTERNS.items()}
    patterns = [(key, glob) for key in PATTERNS for glob in getattr(rule, key)]
    if not covered:
        restrictions = [
            f"{key} {', '.join(globs)}" for key in PATTERNS if (globs := getattr(rule, key)) != ("*",)
        ]
        where = f" for {' and '.join(restrictions)}" if restrictions else ""
        hints = [hint for key, glob in patterns if (hint := _nearest(glob, names[key]))]
        if only_controls:
            hints = ["; sanity checks are left out unless the rule names them"]
        yield f"{rule.condition.source}: there is no result{where}, so nothing was judged{''.join(hints[:1])}"
        return
    for key, glob in patterns:
        if not any(fnmatchcase(getattr(result, PATTERNS[key]), glob) for result in covered):
            # The name may be known, but the other patterns of the rule exclude all of its results.
            known = any(fnmatchcase(name, glob) for name in names[key])
            hint = " of this rule" if known else _nearest(glob, names[key])
            yield f"{rule.condition.source}: {key} '{glob}' matches no result{hint}"


def _nearest(glob: str, names: Collection[str]) -> str:
    """Return a hint if the pattern matches none of the names."""
    return "" if any(fnmatchcase(name, glob) for name in names) else did_you_mean(glob, sorted(names))


def _shown(value: object) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"
