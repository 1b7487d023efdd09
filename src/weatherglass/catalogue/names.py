"""Give sets, tests, topics and models readable names, such as "men" for MaleNames and "all-MiniLM-L6-v2" for a path.

The terminal, pages, sentences, model cards, figures and tables take all their names from this module.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from weatherglass.storage.printable import one_line

GROUPS = {
    "Male": "men",
    "Female": "women",
    "EuropeanAmerican": "European Americans",
    "AfricanAmerican": "African Americans",
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
"""Readable names of the published categories, whose keys lack "Names" and "Terms"."""
ADJECTIVES = frozenset(
    {
        *("pleasant", "unpleasant", "calm", "angry", "temporary", "permanent"),
        *("competent", "incompetent", "likable", "unlikable"),
    }
)
"""Names of sets that are adjectives, as in "pleasant words" (not "words for pleasant")."""
PROPER = frozenset({"Islam", "Christianity", "Judaism"})
"""Names that keep their capital letter."""
KINDS = {"Names": "names", "Terms": "group terms"}
CONTEXTS = {
    "word": "single words",
    "sent": "in sentences",
    "sent-unbleached": "in a telling sentence",
    "paragraph": "in a vignette",
    "pair": "sentence pairs",
    "corpus": "in a corpus",
}
LISTS = {
    "weat4": "names from a résumé study",
    "weat5": "names from a résumé study, short attribute lists",
    "weat5b": "group terms, short attribute lists",
    "heilman_double_bind_competent_1": "in a vignette, whole",
    "heilman_double_bind_competent_1+3-": "in a vignette, sentences 1 and 3",
    "heilman_double_bind_competent_1-": "in a vignette, sentence 1",
    "heilman_double_bind_likable_1": "in a vignette, whole",
    "heilman_double_bind_likable_1+3-": "in a vignette, sentences 1 and 3",
    "heilman_double_bind_likable_1-": "in a vignette, sentence 1",
}
"""The phrase that distinguishes a published test from others with the same categories and context."""
TOPICS = {
    "race and valence": "race and pleasantness",
    "age and valence": "age and pleasantness",
    "angry black woman": "“angry Black woman”",
    "double bind: competence": "competence (double bind)",
    "double bind: likability": "likability (double bind)",
    "control": "sanity checks",
}
"""Readable names of topics."""
MOST_JOINED = 3
"""The number of set names in one phrase; further names are only counted."""


def set_name(category: str) -> str:
    """Return a readable name of a set, without "Names" or "Terms" at its end and with spaces in CamelCase.

    >>> set_name("MaleNames"), set_name("EntryLevelJobs"), set_name("my list"), set_name("IATCareer")
    ('men', 'entry level jobs', 'my list', 'IAT Career')
    """
    base = re.sub(r"(?<=[a-z])(Names|Terms)$", "", category)
    if base in GROUPS:
        return GROUPS[base]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", base)
    if base in PROPER or not re.fullmatch(r"[A-Z][a-z]+(?:[A-Z][a-z]+)*", base):
        return one_line(spaced)
    return spaced.lower()


def joined_names(categories: Iterable[str]) -> str:
    """Return the distinct names of several sets, joined with "and".

    >>> joined_names(["Math", "Science", "Math"])
    'maths and science'
    """
    names = list(dict.fromkeys(map(set_name, categories)))
    if len(names) > MOST_JOINED:
        names = [*names[: MOST_JOINED - 1], f"{len(names) - MOST_JOINED + 1} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def words_for(categories: Iterable[str]) -> str:
    """Return a phrase for the words of some sets.

    >>> words_for(["MaleNames"]), words_for(["Pleasant"])
    ('words for men', 'pleasant words')
    """
    name = joined_names(categories)
    return f"{name} words" if name in ADJECTIVES else f"words for {name}"


Sets = Sequence[Sequence[str]]
"""The categories of X, Y, A and B; for a topic, the categories of all its tests."""


def sets_of(categories: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the distinct categories of X, Y, A and B over several tests; empty unless every test has four sets.

    >>> sets_of([("Math", "Arts", "MaleTerms", "FemaleTerms"), ("Science", "Arts", "MaleTerms", "FemaleTerms")])
    (('Math', 'Science'), ('Arts',), ('MaleTerms',), ('FemaleTerms',))
    """
    tests = list(categories)
    if not tests or any(len(test) != 4 for test in tests):
        return ()
    return tuple(tuple(dict.fromkeys(names)) for names in zip(*tests, strict=True))


def contrast(sets: Sets) -> str:
    """Return a short phrase for a positive d, or only the names unless there are two target and two attribute sets.

    >>> contrast([["MaleNames"], ["FemaleNames"], ["Career"], ["Family"]])
    'men with career · women with family'
    """
    names = [joined_names(one) for one in sets]
    if len(names) != 4:
        return ", ".join(names)
    x, y, a, b = names
    return f"{x} with {a} · {y} with {b}"


def direction(sets: Sets, sign: int) -> str:
    """Return a short phrase for an effect of this sign; empty for sign 0, or without two pairs of sets.

    >>> direction([["MaleNames"], ["FemaleNames"], ["Career"], ["Family"]], -1)
    'men lean to family, women to career'
    """
    if len(sets) != 4 or not sign:
        return ""
    x, y, a, b = map(joined_names, sets)
    if sign < 0:
        a, b = b, a
    return f"{x} lean to {a}, {y} to {b}"


def nearer(sets: Sets, sign: int) -> str:
    """Return a clause to quote for an effect of this sign; empty in the same cases as `direction`.

    >>> nearer([["Flowers"], ["Insects"], ["Pleasant"], ["Unpleasant"]], 1)
    'words for flowers are nearer to pleasant words, words for insects to unpleasant words'
    """
    if len(sets) != 4 or not sign:
        return ""
    x, y, a, b = map(words_for, sets)
    if sign < 0:
        a, b = b, a
    return f"{x} are nearer to {a}, {y} to {b}"


def human_name(categories: Sequence[str]) -> str:
    """Return a heading for one test, which is a short phrase for a positive d.

    >>> human_name(["MaleNames", "FemaleNames", "Career", "Family"])
    'Men–career, women–family'
    """
    names = [set_name(category) for category in categories]
    if len(names) != 4:
        return capitalised(", ".join(names))
    x, y, a, b = names
    return capitalised(f"{x}–{a}, {y}–{b}")


def list_name(test: str, categories: Sequence[str], context: str) -> str:
    """Return the kind of words that a test uses, and their context.

    >>> list_name("sent-weat6", ["MaleNames", "FemaleNames", "Career", "Family"], "sent")
    'names, in sentences'
    """
    base = test.removeprefix("sent-").removeprefix("context-")
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


def topic_name(topic: str) -> str:
    """Return the readable name of a topic.

    >>> topic_name("race and valence"), topic_name("my topic"), topic_name("MyTopic")
    ('race and pleasantness', 'my topic', 'my topic')
    """
    if topic in TOPICS:
        return TOPICS[topic]
    return set_name(topic) if re.fullmatch(r"(?:[A-Z][a-z]+){2,}", topic) else one_line(topic)


def capitalised(text: str) -> str:
    """Return the text with a capital first letter, even after a quotation mark; a symbol like p is unchanged.

    >>> capitalised("“angry Black woman”"), capitalised("p = 0.02")
    ('“Angry Black woman”', 'p = 0.02')
    """
    if text[1:2] == " " and text[:1] != "a":
        return text
    first = 1 if text[:1] == "“" else 0
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


def model_name(model: str) -> str:
    """Return the name of a model's file or folder, without options.

    >>> model_name("hf:sentence-transformers/all-MiniLM-L6-v2?pooling=cls"), model_name("data/glove.6B.50d.txt")
    ('all-MiniLM-L6-v2', 'glove.6B.50d.txt')
    """
    target = re.sub(r"^[a-z][a-z0-9_+-]+:(?=.)", "", model).partition("?")[0]
    return one_line(re.split(r"[/\\]", target.rstrip("/\\"))[-1] or model)


def model_names(models: Sequence[str]) -> list[str]:
    """Return distinct names of models, with as much of the path and options as is needed to distinguish them.

    >>> model_names(["a/small/model", "a/large/model", "wordllama"])
    ['small/model', 'large/model', 'wordllama']
    >>> model_names(["hf:bert?pooling=cls", "hf:bert?pooling=mean"])
    ['bert?pooling=cls', 'bert?pooling=mean']
    """
    names = {model: model_name(model) for model in models}
    for parts in (1, 2, 3, 4):
        times = Counter(names.values())
        for model, name in names.items():
            if times[name] > 1:
                names[model] = _end(model, parts)
    times = Counter(names.values())
    return [one_line(names[model] if times[names[model]] == 1 else model) for model in models]


def _end(model: str, parts: int) -> str:
    """Return the last parts of a path, with the options."""
    path, mark, options = re.sub(r"^[a-z][a-z0-9_+-]+:(?=.)", "", model).partition("?")
    return "/".join(re.split(r"[/\\]", path.rstrip("/\\"))[-parts:]) + mark + options


def shortened_name(name: str, longest: int) -> str:
    """Return a name shortened at its beginning, since its end distinguishes models.

    >>> shortened_name("wordllama", 24), shortened_name("all-MiniLM-L6-v2-and-more", 12)
    ('wordllama', '…v2-and-more')
    """
    return name if len(name) <= longest else "…" + name[len(name) - longest + 1 :]
