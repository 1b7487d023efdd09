"""Names for readers: "Men–career, women–family" for weat6, "…/all-MiniLM-L6-v2" for a long path."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from weatherglass.report.numbers import spaced

GROUPS = {
    "Male": "men",
    "Female": "women",
    "WhiteFemale": "White women",
    "BlackFemale": "Black women",
    "YoungPeoples": "young people",
    "OldPeoples": "old people",
    "Math": "maths",
    "MentalDisease": "mental illness",
    "PhysicalDisease": "physical illness",
    "NearAntonyms": "calm",
    "AngryBlackWomanStereotype": "angry",
    "CompetentAchievementOriented": "competent",
    "IncompetentNotAchievementOriented": "incompetent",
    "LikableNotHostile": "likable",
    "UnlikableHostile": "unlikable",
}
"""Categories of the published tests, without "Names" and "Terms", in words."""
KINDS = {"Names": "names", "Terms": "group terms"}
CONTEXTS = {
    "word": "single words",
    "sent": "in sentences",
    "sent-unbleached": "in a telling sentence",
    "paragraph": "in a vignette",
}
LISTS = {
    "weat4": "names of a CV study",
    "weat5": "names of a CV study, other attributes",
    "weat5b": "group terms, other attributes",
    "heilman_double_bind_competent_1": "in a vignette, whole",
    "heilman_double_bind_competent_1+3-": "in a vignette, sentences 1 and 3",
    "heilman_double_bind_competent_1-": "in a vignette, sentence 1",
    "heilman_double_bind_likable_1": "in a vignette, whole",
    "heilman_double_bind_likable_1+3-": "in a vignette, sentences 1 and 3",
    "heilman_double_bind_likable_1-": "in a vignette, sentence 1",
}
"""What tells a published test from others of the same categories and context."""


def set_name(category: str) -> str:
    """A category in words, without saying that names or group terms stand for it.

    >>> set_name("MaleNames"), set_name("EuropeanAmericanTerms"), set_name("Instruments"), set_name("my list")
    ('men', 'European American', 'instruments', 'my list')
    """
    base = re.sub(r"(?<=[a-z])(Names|Terms)$", "", category)
    if base in GROUPS:
        return GROUPS[base]
    words = spaced(base)
    return words.lower() if re.fullmatch(r"[A-Z][a-z]+", words) and base not in PROPER else words


PROPER = frozenset({"Islam", "Christianity", "Judaism"})
"""Names that keep their capital."""


def human_name(categories: Sequence[str]) -> str:
    """What a positive d says in short; the categories with a dash where there are not two targets and two attributes.

    >>> human_name(["MaleNames", "FemaleNames", "Career", "Family"])
    'Men–career, women–family'
    """
    names = [set_name(category) for category in categories]
    if len(names) != 4:
        return capitalised(", ".join(names))
    x, y, a, b = names
    return capitalised(f"{x}–{a}, {y}–{b}")


def list_name(test: str, categories: Sequence[str], context: str) -> str:
    """Which words ask the question, and in which surroundings.

    >>> list_name("sent-weat6", ["MaleNames", "FemaleNames", "Career", "Family"], "sent")
    'names, in sentences'
    """
    base = test.removeprefix("sent-")
    if base in LISTS:
        known = LISTS[base]
        return known if "vignette" in known else f"{known}, {CONTEXTS.get(context, context)}"
    kinds = {
        kind
        for category in categories
        for ending, kind in KINDS.items()
        if re.search(f"[a-z]{ending}$", category)
    }
    return ", ".join(filter(None, [*sorted(kinds), CONTEXTS.get(context, context)]))


def tie(categories: Sequence[str], lean: int | None) -> str:
    """What a model does according to the sign of d, after its name; empty where there is no sign or other sets.

    >>> tie(["MaleNames", "FemaleNames", "Career", "Family"], -1)
    'ties men to family'
    """
    if len(categories) != 4 or not lean:
        return ""
    x, _, a, b = (set_name(category) for category in categories)
    return f"ties {x} to {a if lean > 0 else b}"


def capitalised(text: str) -> str:
    """The text with its first letter large."""
    return text[:1].upper() + text[1:]


def shortened(name: str, longest: int) -> str:
    """A name without its beginning, from a slash where that leaves enough of it; its end is what tells models apart.

    >>> shortened("hf:sentence-transformers/all-MiniLM-L6-v2", 24)
    '…/all-MiniLM-L6-v2'
    >>> shortened("wordllama", 24)
    'wordllama'
    """
    if len(name) <= longest:
        return name
    tail = name[len(name) - longest + 1 :]
    slash = tail.find("/")
    return "…" + (tail[slash:] if 0 <= slash < longest // 2 else tail)


def short_names(names: Sequence[str], longest: int) -> list[str]:
    """The names, shortened so far that they are still told apart; those that would not be stay whole.

    >>> short_names(["a/very/long/path/model-1", "b/very/long/path/model-1", "x"], 10)
    ['a/very/long/path/model-1', 'b/very/long/path/model-1', 'x']
    """
    short = [shortened(name, longest) for name in names]
    times = Counter(short)
    return [name if times[cut] > 1 else cut for name, cut in zip(names, short, strict=True)]
