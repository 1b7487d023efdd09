"""Write what can be said about a run: a sentence for each outcome, its caveats, and the headline.

Terminal, page, `report -f sentences`, model card, pull-request summary, JUnit and notebook take their sentences from
this module, so that they cannot contradict each other. Headlines and findings name only robust associations
(docs/methods 12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weatherglass.audit.results import Outcome, Result
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue.names import (
    capitalised,
    contrast,
    joined_names,
    model_name,
    model_names,
    nearer,
    topic_name,
    words_for,
)
from weatherglass.report.numbers import counted, effect, p_value, percent, to

MOST_NAMED = 3
"""The maximum number of topics or models listed by name in a sentence; for further ones, only the number is given."""


@dataclass(frozen=True, slots=True)
class Word:
    """An outcome in words: its heading, its meaning, and what must not be concluded from it."""

    heading: str
    """The heading of a group of topics."""
    meaning: str
    """The meaning, with {topics}, the number of topics corrected for, and {chance}, where one topic in {chance} is
    marked by chance.
    """
    may_not: str

    def explained(self, topics: int, alpha: float) -> str:
        """Return the meaning with the numbers of a run."""
        chance = "twenty" if round(1 / alpha) == 20 else str(round(1 / alpha))
        return self.meaning.format(topics=counted(topics, "topic"), chance=chance)


WORDS: dict[Outcome, Word] = {
    Outcome.ROBUST: Word(
        "Robust",
        "survives correction for {topics}, also for other attribute words and without any single word",
        "that the model harms anyone in use: an association between vectors is not evidence of harm",
    ),
    Outcome.LIMITED: Word(
        "Limited to the lists tested",
        "survives correction for {topics}, but is not established beyond these words",
        "that the model has this association in general",
    ),
    Outcome.CONFLICTING: Word(
        "Conflicting",
        "tests of one topic are significant in opposite directions",
        "a mean of these tests, or one direction alone",
    ),
    Outcome.ISOLATED: Word(
        "Isolated",
        "single tests are significant, but the topic as a whole is not",
        "anything about the topic beyond those tests",
    ),
    Outcome.UNCONFIRMED: Word(
        "Unconfirmed",
        "significant only before correction (chance: one topic in {chance})",
        "that an association was found, or that it is significant",
    ),
    Outcome.SMALL: Word(
        "Small",
        "every test rules out an effect of the size that was stated as relevant",
        "that there is no association, or that the model is unbiased",
    ),
    Outcome.INCONCLUSIVE: Word(
        "Inconclusive",
        "nothing found, and no effect of relevant size ruled out (this does not mean “unbiased”)",
        "that there is no association, since tests of few words miss most effects",
    ),
}
"""Outcomes in the order in which topics are listed."""
MEASURED = Word(
    "Measured, not tested",
    "the texts of a group share words or pieces of words that the other group lacks, so that no p can be given",
    "that there is an association, or that there is none",
)
NOT_JUDGED = Word("No verdict", "", "any conclusion from the sign or size of the effects")


def word_of(verdict: Verdict) -> Word:
    """Return the word of a verdict, or why it has none."""
    if verdict.outcome:
        return WORDS[Outcome(verdict.outcome)]
    return MEASURED if verdict.measured and not verdict.tests else NOT_JUDGED


def outcome_text(verdict: Verdict) -> str:
    """Return the outcome of a topic, or whether a sanity check was found, in one or two words."""
    if verdict.check:
        return {True: "found", False: "not found", None: "not tested"}[verdict.found]
    return verdict.outcome or (
        "measured, not tested" if verdict.measured and not verdict.tests else "not judged"
    )


def reason(verdict: Verdict) -> str:
    """Return the reason for a verdict as a sentence, capitalised unless it begins with the name of a test."""
    why = verdict.why.rstrip(".")
    named = any(why.startswith(test) for test in verdict.marked)
    said = f"{why if named else capitalised(why)}." if why else ""
    return f"{said} {capitalised(beside)}." if (beside := beside_pieces(verdict)) else said


def beside_pieces(verdict: Verdict) -> str:
    """Return the mean d adjusted for the number of tokens, if its p decides the outcome; otherwise empty.

    In this case, the interval of D itself may exclude 0 although nothing is found.
    """
    low, high = verdict.ci_pieces_low, verdict.ci_pieces_high
    if verdict.limit != "pieces" or verdict.effect_size_pieces is None or low is None or high is None:
        return ""
    return f"with pieces held fixed, mean d is {effect(verdict.effect_size_pieces)} ({to(low, high)})"


def rank(verdict: Verdict) -> tuple[int, float]:
    """Return a key that sorts verdicts by outcome, the strongest first, and then by effect, the largest first."""
    order = [*map(str, Outcome), None]
    return order.index(verdict.outcome), -abs(verdict.effect_size or 0.0)


def topics(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts on topics, without sanity checks, the strongest first."""
    return sorted((one for one in verdicts if not one.check), key=rank)


def checks(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the sanity checks that could be judged."""
    return [one for one in verdicts if one.check and one.found is not None]


def failed_checks(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the sanity checks that the model fails."""
    return [one for one in verdicts if one.check and one.found is False]


def sign_of(verdict: Verdict) -> int:
    """Return the sign of D; 0 if its interval contains 0, so that no direction is stated."""
    low, high = verdict.ci_low, verdict.ci_high
    if verdict.effect_size is None or low is None or high is None or low <= 0 <= high:
        return 0
    return 1 if verdict.effect_size > 0 else -1


def sizes(verdict: Verdict, alpha: float, p: bool = True) -> str:
    """Return the mean d with its interval and p, for brackets in a sentence."""
    several = len(verdict.tests or verdict.measured) > 1
    parts = []
    if verdict.effect_size is not None:
        parts.append(f"{'mean d' if several else 'd'} {effect(verdict.effect_size)}")
        if verdict.ci_low is not None and verdict.ci_high is not None:
            parts.append(f"{percent(1 - alpha)} CI {to(verdict.ci_low, verdict.ci_high)}")
    robust = verdict.outcome == Outcome.ROBUST
    corrected = verdict.p_both_adjusted if robust else verdict.p_adjusted
    if p and corrected is not None:
        parts.append(f"p {p_value(corrected, alpha)} after correction for {counted(verdict.family, 'topic')}")
    return "; ".join(filter(None, [", ".join(parts), beside_pieces(verdict)]))


def standing_text(verdict: Verdict) -> str:
    """Return the position of D among the reference models."""
    standing = verdict.reference
    return (
        f"higher than {standing.above} of {counted(standing.models, 'reference model')}" if standing else ""
    )


def pieces_note(found: Iterable[Result | Verdict]) -> str:
    """Return why a row or topic is inconclusive although its interval excludes 0; empty if none is."""
    decided = any(one.limit == "pieces" and one.outcome == Outcome.INCONCLUSIVE for one in found)
    return (
        "Inconclusive although the interval excludes 0: with the number of pieces held fixed, p is too large."
        if decided
        else ""
    )


def sentence(verdict: Verdict, alpha: float, model: str = "") -> str:
    """Return the sentence that may be written about one verdict.

    Args:
        verdict: the verdict on a topic or a sanity check.
        alpha: the significance level of the run.
        model: the name of the model for readers; by default, the name of its file or folder.
    """
    whom, topic = model or model_name(verdict.model), topic_name(verdict.topic)
    numbers = sizes(verdict, alpha)
    bracket = f" ({numbers})" if numbers else ""
    what = nearer(verdict.sets, sign_of(verdict))
    if verdict.check:
        return _check_sentence(verdict, alpha, whom)
    match verdict.outcome:
        case Outcome.ROBUST:
            pairs = f"{verdict.direction} in {topic}" if verdict.direction and not what else ""
            found = what or pairs or f"there is an association on {topic}"
            tested = "pairs" if pairs else "words"
            beyond = f"this holds for the {tested} tested and, on average, for others like them"
            return f"In {whom}, {found}{bracket}; {beyond}."
        case Outcome.LIMITED:
            by_pairs = not what and verdict.direction and verdict.limit == "one word"
            differ = f"{joined_targets(verdict)} differ on {topic}"
            found = what or (f"{verdict.direction} in {topic}" if by_pairs else differ)
            return f"In the lists tested, {found} in {whom}{bracket}; {_beyond(verdict, alpha)}."
        case Outcome.CONFLICTING:
            return (
                f"On {topic}, tests of {whom} disagree: {_listed(verdict.marked)} are significant in opposite "
                "directions, so no direction can be stated."
            )
        case Outcome.ISOLATED:
            one = len(verdict.marked) == 1
            are, lists = (
                ("one test is", "that test") if one else (f"{len(verdict.marked)} tests are", "these tests")
            )
            return (
                f"On {topic}, {are} significant in {whom} ({_listed(verdict.marked)}), but the topic as a whole is "
                f"not{bracket}; this is limited to the lists of {lists}."
            )
        case Outcome.UNCONFIRMED:
            sign = f": {what}" if what else ""
            return f"On {topic}, {whom} shows an effect that is significant only before correction{sign}{bracket}."
        case Outcome.SMALL:
            bound = f" above {effect(verdict.excluded_above)}" if verdict.excluded_above is not None else ""
            return f"On {topic}, every test of {whom} rules out |d|{bound}{bracket}."
        case Outcome.INCONCLUSIVE:
            return f"On {topic}, nothing is found in {whom}, and no effect of relevant size is ruled out{bracket}."
    if verdict.measured and not verdict.tests:
        return f"On {topic}, {whom} was measured but not tested{bracket}: {verdict.why.rstrip('.')}."
    return f"On {topic}, no verdict on {whom} can be given: {verdict.why.rstrip('.')}."


def joined_targets(verdict: Verdict) -> str:
    """Return both groups of target words of a topic."""
    if len(verdict.sets) != 4:
        return "the target words"
    return f"{words_for(verdict.sets[0])} and {words_for(verdict.sets[1])}"


def _beyond(verdict: Verdict, alpha: float) -> str:
    """Return the reason why a limited outcome is not robust."""
    match verdict.limit:
        case "one word" if verdict.fragile:
            return f"without “{verdict.fragile[0]}”, p rises above {alpha:g}"
        case "pieces":
            return "the number of pieces that words are split into could explain it"
        case "multiverse":
            return "other reasonable choices of analysis do not show it"
    return "whether other words would show it is unknown"


def check_name(verdict: Verdict) -> str:
    """Return the expectation of a sanity check.

    >>> from types import SimpleNamespace
    >>> check_name(SimpleNamespace(sets=[["Flowers"], ["Insects"], ["Pleasant"], ["Unpleasant"]]))
    'flowers are more pleasant than insects'
    """
    if len(verdict.sets) != 4:
        return topic_name(verdict.topic)
    x, y, a, b = map(joined_names, verdict.sets)
    return f"{x} are more {a} than {y}" if (a, b) == ("pleasant", "unpleasant") else contrast(verdict.sets)


def targets(verdict: Verdict) -> str:
    """Return both target sets, as in "flowers and insects"."""
    return f"{joined_names(verdict.sets[0])} and {joined_names(verdict.sets[1])}"


def _check_sentence(verdict: Verdict, alpha: float, whom: str) -> str:
    found = {True: "is found", False: "is not found", None: "could not be tested"}[verdict.found]
    numbers = sizes(verdict, alpha, p=False)
    if verdict.p is not None:
        numbers += f", p {p_value(max(verdict.p, verdict.p_pieces or 0.0), alpha)}"
    return f"The sanity check that {check_name(verdict)} {found} in {whom} ({numbers})."


def _listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the first few names, joined with "and"."""
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


@dataclass(frozen=True, slots=True)
class HeadlinePart:
    """A piece of a headline; names of topics are marked."""

    text: str
    marked: bool = False


def headline(verdicts: Sequence[Verdict]) -> list[HeadlinePart]:
    """Return the headline of a run by one metric: robust associations, or that there are none, followed by limited
    ones.

    A failed sanity check is always included.
    """
    found = topics(verdicts)
    judged = [one for one in found if one.outcome]
    failed = failed_check_text(verdicts)
    if not judged:
        asked = checks(verdicts)
        if found or not asked:
            first = "No verdict can be given." if found else ""
        else:
            first = f"Only sanity checks were run: {len(asked) - len(failed_checks(verdicts))} of {len(asked)} found."
        return [HeadlinePart(text) for text in (first, f" {failed}" if first and failed else "") if text]
    models = list(dict.fromkeys((one.model, one.options) for one in found))
    whom = model_name(models[0][0]) if len(models) == 1 else f"these {len(models)} models"
    robust = [one for one in judged if one.outcome == Outcome.ROBUST]
    limited = [one for one in judged if one.outcome == Outcome.LIMITED]
    parts: list[HeadlinePart] = []
    if robust:
        shows = "shows" if len(robust) == 1 else "show"
        where = f" in {whom}" if len(models) == 1 else ""
        parts.append(HeadlinePart(f"{_of(robust, judged, models)} {shows} a robust association{where}: "))
        parts += [*_named(robust, models), HeadlinePart(".")]
    else:
        parts.append(HeadlinePart(f"No association is established for {whom}."))
    differ = "differs" if len(limited) == 1 else "differ"
    if limited and robust and len(models) > 1:
        parts.append(HeadlinePart(f" In the lists tested, {len(limited)} more {differ}."))
    elif limited:
        also = "also " if robust else ""
        parts.append(HeadlinePart(f" In the lists tested, {also}{_of(limited, judged, models)} {differ}: "))
        parts += [*_named(limited, models), HeadlinePart(".")]
    for outcome, phrase in (
        (Outcome.CONFLICTING, "Tests disagree on "),
        (Outcome.ISOLATED, "Single tests are significant on "),
    ):
        own = [one for one in judged if one.outcome == outcome]
        if own and len(models) == 1:
            parts += [HeadlinePart(f" {phrase}"), *_named(own, models, marked=False), HeadlinePart(".")]
    return [*parts, HeadlinePart(f" {failed}")] if failed else parts


def failed_check_text(verdicts: Sequence[Verdict]) -> str:
    """Return how many sanity checks failed and, with several models, in which; empty if all passed."""
    failed = failed_checks(verdicts)
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    if not failed:
        return ""
    if len(models) == 1:
        number = (
            "One sanity check"
            if len(failed) == 1
            else f"{len(failed)} of {len(checks(verdicts))} sanity checks"
        )
        return f"{number} failed."
    names = dict(zip(models, labels(models), strict=True))
    where = list(dict.fromkeys(names[one.model, one.options] for one in failed))
    return f"Sanity checks failed in {_listed(where)}."


def headline_text(verdicts: Sequence[Verdict]) -> str:
    """Return the headline as plain text."""
    return "".join(part.text for part in headline(verdicts))


def _of(found: Sequence[Verdict], judged: Sequence[Verdict], models: Sequence[tuple[str, str]]) -> str:
    noun = "topic" if len(models) == 1 else "pair of topic and model"
    nouns = "topics" if len(models) == 1 else "pairs of topic and model"
    return f"{len(found)} of {len(judged)} {noun if len(judged) == 1 else nouns}"


def _named(
    found: Sequence[Verdict], models: Sequence[tuple[str, str]], marked: bool = True
) -> Iterator[HeadlinePart]:
    """Yield the topics, each with its models if there are several, or with the single word that it depends on."""
    by_topic: dict[str, list[str]] = {}
    names = dict(zip(models, labels(models), strict=True))
    for one in found:
        depends = f"depends on “{one.fragile[0]}”" if one.limit == "one word" and one.fragile else ""
        behind = names[one.model, one.options] if len(models) > 1 else depends
        by_topic.setdefault(topic_name(one.topic), []).append(behind)
    shown = list(by_topic)[:MOST_NAMED]
    for place, topic in enumerate(shown):
        last = place == len(shown) - 1 and len(shown) == len(by_topic)
        if place:
            yield HeadlinePart(" and " if last else ", ")
        yield HeadlinePart(topic, marked)
        if added := list(filter(None, by_topic[topic])):
            yield HeadlinePart(f" ({_listed(added, 2)})")
    if rest := len(by_topic) - len(shown):
        yield HeadlinePart(f" and {rest} more")


def labels(models: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each model with options, which distinguishes it from the others."""
    names = [model for model, _ in models]
    different = list(dict.fromkeys(names))
    shorter = dict(zip(different, model_names(different), strict=True))
    return [
        f"{shorter[model]} [{options}]" if names.count(model) > 1 else shorter[model]
        for model, options in models
    ]


def counts(verdicts: Sequence[Verdict]) -> list[tuple[Outcome, int]]:
    """Return the number of topics with each outcome; robust and limited are included even if they are 0."""
    found = [one.outcome for one in topics(verdicts) if one.outcome]
    always = (Outcome.ROBUST, Outcome.LIMITED)
    return [
        (outcome, found.count(outcome))
        for outcome in Outcome
        if outcome in found or (found and outcome in always)
    ]


def quotable(verdicts: Sequence[Verdict], alpha: float, most: int = MOST_NAMED) -> list[str]:
    """Return what can be said about a run by one metric: the headline, followed by the strongest sentences."""
    judged = [one for one in topics(verdicts) if one.outcome]
    models = list(dict.fromkeys((one.model, one.options) for one in judged))
    strong = [one for one in judged if one.outcome in (Outcome.ROBUST, Outcome.LIMITED)]
    if len(models) != 1 or len(strong) > most:
        first = headline_text(verdicts)
    elif any(one.outcome == Outcome.ROBUST for one in judged):
        first = ""
    else:
        first = f"No association is established for {model_name(models[0][0])}."
    shown = strong[:most] if len(models) == 1 else []
    return [*filter(None, [first]), *(sentence(one, alpha) for one in shown)]


def caveats(verdicts: Sequence[Verdict], alpha: float, measured: str = "") -> Iterator[str]:
    """Yield the caveats that belong to the sentences of a run by one metric.

    Args:
        verdicts: the verdicts of one metric.
        alpha: the significance level of the run.
        measured: the place where tests that are measured but not tested are shown.
    """
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    names = dict(zip(models, labels(models), strict=True))
    if failed := failed_check_text(verdicts):
        yield f"{failed.rstrip('.')}: weak results may only mean a weak model."
    found = topics(verdicts)
    yield from _fragile_caveats(found, alpha, names)
    weak = [one for one in found if one.outcome in (Outcome.INCONCLUSIVE, Outcome.UNCONFIRMED)]
    if known := sorted(one.minimum_detectable for one in weak if one.minimum_detectable is not None):
        low, high = effect(known[0]), effect(known[-1])
        span = low if low == high else f"{low} to {high} (by topic)"
        yield f"These tests miss many effects below d = {span}: 80 % power after correction."
    tests = {test for one in verdicts for test in one.measured}
    if tests:
        are = "test is" if len(tests) == 1 else "tests are"
        where = f": {measured}" if measured else "."
        yield f"{len(tests)} {are} measured but not tested (texts of a group share words or pieces){where}"
    families = sorted({one.family for one in found if one.outcome})
    if families:
        corrected = " or ".join(map(str, families)) + (" topic" if families == [1] else " topics")
        yield f"Corrected for {corrected}; another choice of tests may change the verdict."
    for why in dict.fromkeys(one.why for one in found if one.outcome is None and not one.measured):
        yield f"No verdict: {why.rstrip('.')}."


def _fragile_caveats(
    found: Sequence[Verdict], alpha: float, names: dict[tuple[str, str], str]
) -> Iterator[str]:
    fragile = [one for one in found if one.fragile and one.outcome != Outcome.INCONCLUSIVE]
    for one in fragile[:MOST_NAMED]:
        where = f" in {names[one.model, one.options]}" if len(names) > 1 else ""
        others = counted(len(one.fragile) - 1, "other word")
        more = f"; the same is true of {others}" if len(one.fragile) > 1 else ""
        yield f"Fragile: without “{one.fragile[0]}” p of {topic_name(one.topic)}{where} rises above {alpha:g}{more}."
    if len(fragile) > MOST_NAMED:
        yield f"Fragile: {len(fragile) - MOST_NAMED} more topics depend on one word."


def failed_check_notice(verdicts: Sequence[Verdict]) -> str:
    """Return which sanity checks failed and what that may mean, for display below the headline; empty if all
    passed.
    """
    failed = failed_checks(verdicts)
    if not failed:
        return ""
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    if len(models) > 1:
        number = f"{len(failed)} of {counted(len(checks(verdicts)), 'sanity check')} failed"
        return f"{number}: weak results of these models may reflect a weak model rather than little bias."
    said = []
    for one in failed[:MOST_NAMED]:
        people = f" (IAT d = {', '.join(map(effect, one.human.values()))})" if one.human else ""
        said.append(f"{model_name(one.model)} does not show that {check_name(one)}, as people do{people}.")
    if len(failed) > MOST_NAMED:
        said.append(f"{len(failed) - MOST_NAMED} more failed.")
    return " ".join([*said, "Weak results may reflect a weak model rather than little bias."])


def written(verdict: Verdict, alpha: float, model: str = "") -> str:
    """Return what a paper may write about one verdict: the sentence, its caveats, and a wrong conclusion to avoid."""
    must = [*_fragile_caveats([verdict], alpha, {(verdict.model, verdict.options): model})]
    if verdict.measured and verdict.tests:
        number = len(verdict.measured)
        must.append(f"{number} further {'test is' if number == 1 else 'tests are'} measured but not tested.")
    if verdict.outcome:
        must.append(
            f"Corrected for {counted(verdict.family, 'topic')}; another choice of tests may change the verdict."
        )
    said = " ".join([sentence(verdict, alpha, model), *must])
    return said if verdict.check else f"{said} Do not conclude {word_of(verdict).may_not}."
