"""Read tests and word sets in the file formats of other projects. No code in a file is executed."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weatherglass.catalogue.checks import Source, checked_text, type_name
from weatherglass.catalogue.jsonl import ROLES
from weatherglass.catalogue.published import catalogue_test
from weatherglass.errors import CatalogueError


@dataclass(frozen=True, slots=True)
class DraftSet:
    """A category and its words, including duplicates."""

    category: str
    words: tuple[str, ...]
    blanks: int = 0
    """The number of blank entries, which are left out."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A test as a file states it; a field is empty if the file does not state it."""

    name: str
    targets: tuple[DraftSet, ...]
    attributes: tuple[DraftSet, ...]
    language: str = ""
    topic: str = ""
    origin: str = ""
    """The project the format belongs to: "WEATHub", "responsibly"."""
    citation: str = ""
    notes: tuple[str, ...] = field(default=())


def draft_set(source: Source, key: str, category: object, words: object) -> DraftSet:
    """Return the set under a key of a file.

    Raises:
        CatalogueError: if it is not a list of texts, or is empty; the message names the file, the line and the entry.
    """
    if not isinstance(words, Sequence) or isinstance(words, str | bytes):
        raise source.error(key, f"should be a list of words, but is {type_name(words)}")
    for number, word in enumerate(words, start=1):
        if not isinstance(word, str):
            raise source.error(key, f"(word {number}: {word!r}) should be text, but is {type_name(word)}")
        if word.strip():
            checked_text(source, key, word, part=f"(word {number}) ")
    texts = tuple(word.strip() for word in words if word.strip())
    if not texts:
        raise source.error(key, "is empty; a set needs at least one word")
    return DraftSet(
        checked_text(source, key, category, part="(the category) "), texts, len(words) - len(texts)
    )


LANGUAGE_FOLDER = re.compile(r"([a-z]{2,3})_(all|gt|human|new|india)")
"""The pattern of WEATHub's folder names: fr_human, ckb_new."""


def is_row(content: object) -> bool:
    """Return whether the content is one test, whose sets are objects, or keys with a dot as in tables."""
    return isinstance(content, dict) and ("targ1" in content or "targ1.examples" in content)


def row_draft(source: Source, row: Mapping[str, Any], place: str = "") -> Draft:
    """Return the test in a row.

    Args:
        source: the file, for errors.
        row: the content of the row.
        place: the position of the row in the file, such as "row 3: "; empty for a file of one test.
    """
    sets = [_read_set(source, row, key, place) for key in ROLES]
    folder = LANGUAGE_FOLDER.fullmatch(source.path.parent.name)
    number = row.get("weat")
    stated = row.get("language")
    if stated is not None:
        checked_text(source, "language", stated)
    if number is not None:
        name = f"{stated or ''}-{checked_text(source, 'weat', number).lower()}".strip("-")
        origin, citation = "WEATHub", "mukherjee2023"
    elif folder:
        name = f"{folder[0]}-{source.path.stem}"
        origin, citation = "WEATHub", "mukherjee2023"
    else:
        name, origin, citation = source.path.stem, "published form", ""
    language = stated or (folder[1] if folder else "")
    return Draft(name, tuple(sets[:2]), tuple(sets[2:]), language, row.get("topic", ""), origin, citation)


def _read_set(source: Source, row: Mapping[str, Any], key: str, place: str) -> Any:
    entry = row.get(key)
    if entry is None and f"{key}.examples" in row:
        entry = {part: row.get(f"{key}.{part}") for part in ("category", "examples")}
    if entry is None:
        raise source.error(key, f"{place}is missing; a test has {', '.join(ROLES)}")
    if not isinstance(entry, dict):
        raise source.error(
            key, f"{place}should be an object with category and examples, but is {type_name(entry)}"
        )
    for part in ("category", "examples"):
        if part not in entry:
            raise source.error(key, f"{place}has no '{part}'")
    return draft_set(source, f"{key}.examples", entry["category"], entry["examples"])


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
"""The sets of WEFE's `load_weat` for each test of Caliskan et al. (2017)."""


def is_responsibly(content: object) -> bool:
    """Return whether the content is responsibly's list of tests."""
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(each, dict) and RESPONSIBLY[0] in each for each in content)
    )


def responsibly_drafts(source: Source, content: Sequence[Mapping[str, Any]]) -> list[Draft]:
    """Return responsibly's tests; `remove`, which lists words that one model lacks, becomes a note and is not
    applied.
    """
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
                    f"{part['name']}: the file marks {', '.join(map(repr, removed))} for removal; they are "
                    "kept"
                )
        name = f"{source.path.stem}-{number}"
        drafts.append(
            Draft(name, tuple(sets[:2]), tuple(sets[2:]), "en", origin="responsibly", notes=tuple(notes))
        )
    return drafts


def is_query(content: object) -> bool:
    """Return whether the content is a WEFE query, that is, the arguments of its `Query`."""
    return isinstance(content, dict) and "target_sets" in content and "attribute_sets" in content


def query_draft(source: Source, query: Mapping[str, Any], name: str = "") -> Draft:
    """Return the test made from a query, with any number of sets, whose names may be missing."""
    kinds: dict[str, tuple[DraftSet, ...]] = {}
    for kind in ("target", "attribute"):
        sets = query[f"{kind}_sets"]
        if not isinstance(sets, list | tuple) or not sets:
            raise source.error(f"{kind}_sets", "should be a list that contains at least one list of words")
        names = query.get(f"{kind}_sets_names") or [f"{kind} {number + 1}" for number in range(len(sets))]
        if len(names) != len(sets):
            raise source.error(f"{kind}_sets_names", f"has {len(names)} names for {len(sets)} sets")
        kinds[kind] = tuple(
            draft_set(source, f"{kind}_sets", category, words)
            for category, words in zip(names, sets, strict=True)
        )
    return Draft(name or source.path.stem, kinds["target"], kinds["attribute"], origin="WEFE query")


def is_word_sets(content: object) -> bool:
    """Return whether the content is a dictionary of lists of words."""
    return (
        isinstance(content, dict)
        and bool(content)
        and all(
            isinstance(value, list) and any(isinstance(word, str) for word in value)
            for value in content.values()
        )
    )


def word_sets(source: Source, content: Mapping[str, Any]) -> dict[str, DraftSet]:
    """Return the sets of a dictionary, by name."""
    return {name: draft_set(source, name, name, words) for name, words in content.items()}


def wefe_drafts(source: Source, sets: Mapping[str, DraftSet]) -> list[Draft]:
    """Return the ten tests of Caliskan et al. if the sets are those of WEFE's `load_weat`; empty otherwise."""
    if not all(name in sets for names in WEFE_WEAT.values() for name in names):
        return []
    return [
        Draft(
            f"{source.path.stem.lower()}-{number}",
            (sets[x], sets[y]),
            (sets[a], sets[b]),
            "en",
            catalogue_test(f"weat{number}").topic,
            origin="WEFE load_weat",
            citation="caliskan2017",
        )
        for number, (x, y, a, b) in WEFE_WEAT.items()
    ]


FILE_NAME = re.compile(r"vocab_en_([a-z]{2,3})\.csv")
TESTS = tuple(f"weat{number}" for number in range(1, 11))
TRANSLATED = ("love", "peace", "he", "she", "math")
"""Words that identify a file of translations."""


def xweat_language(path: Path, stated: str) -> str:
    """Return the language of an XWEAT file, from its name or as the user states it; empty for any other file."""
    if match := FILE_NAME.fullmatch(path.name):
        return stated or match[1]
    first = {line.partition(b",")[0] for line in path.read_bytes().splitlines()} if stated else set()
    return stated if all(word.encode() in first for word in TRANSLATED) else ""


def xweat_drafts(source: Source, language: str) -> list[Draft]:
    """Return weat1 to weat10 with the words translated into the language of the file.

    A word with a masculine and a feminine form is replaced by both. Names are kept, as in XWEAT. Other words without a
    translation are kept, too, and listed in a note.
    """
    forms = _translations(source)
    drafts = []
    for name in TESTS:
        test = catalogue_test(name)
        missing: list[str] = []
        sets = []
        for element_set in test.sets:
            words: list[str] = []
            for word in element_set.words:
                found = forms.get(word) or forms.get(word.lower()) or ()
                missing += [] if found or word[0].isupper() else [word]
                words += found or [word]
            sets.append(DraftSet(element_set.category, tuple(words)))
        listed = ", ".join(dict.fromkeys(missing))
        notes = (f"kept in English, because the file has no translation: {listed}",) if missing else ()
        drafts.append(
            Draft(
                f"{language}-{name}",
                tuple(sets[:2]),
                tuple(sets[2:]),
                language,
                test.topic,
                "XWEAT",
                "lauscher2019",
                notes,
            )
        )
    return drafts


def _translations(source: Source) -> dict[str, tuple[str, ...]]:
    """Return the translations of each English word; rows without a word and rows of names are skipped, as in XWEAT."""
    forms: dict[str, tuple[str, ...]] = {}
    lines: dict[str, int] = {}
    reader = csv.reader(source.text.splitlines(), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not cells or not cells[0] or cells[0][0].isupper():
                continue
            english = cells[0].replace("blue-bell", "bluebell")
            if len(cells) < 2 or not cells[1]:
                raise CatalogueError(
                    f"{source.path}, line {reader.line_num}: '{cells[0]}' has no translation; a line has "
                    "the English word, its translation and, if there is one, the feminine form"
                )
            # the Russian file has corrections in the third and fourth column
            used = cells[2:4] if len(cells) > 3 and cells[3] else cells[1:3]
            found = tuple(dict.fromkeys(form for form in used if form))
            if forms.setdefault(english, found) != found:
                raise CatalogueError(
                    f"{source.path}, line {reader.line_num}: '{cells[0]}' is translated differently in line "
                    f"{lines[english]}"
                )
            lines.setdefault(english, reader.line_num)
    except csv.Error as error:
        raise CatalogueError(f"{source.path}, line {reader.line_num}: malformed CSV ({error})") from None
    if not any(word in forms for word in TRANSLATED):
        raise CatalogueError(
            f"{source.path}, line 1: contains no translations of WEAT's words; an XWEAT file has a line "
            "for each English word"
        )
    return forms


COMMENTS = ("#", ";")
FILE_ROLES = {"x": 0, "y": 1, "a": 2, "b": 3, "targ1": 0, "targ2": 1, "attr1": 2, "attr2": 3}
"""File names that state the role of a set: 0 to 3 for X, Y, A and B."""


def text_set(source: Source) -> DraftSet:
    """Return the words of a file, without blank lines and comments.

    Raises:
        CatalogueError: if it contains no word, or a control character.
    """
    words: list[str] = []
    for number, line in enumerate(source.text.splitlines(), start=1):
        if line.lstrip().startswith(COMMENTS):
            continue
        for word in filter(None, map(str.strip, line.split(","))):
            if not word.isprintable():
                raise CatalogueError(f"{source.path}, line {number}: {word!r} contains a control character")
            words.append(checked_text(source, source.path.name, word))
    if not words:
        raise CatalogueError(f"{source.path}: contains no words; write one per line, or several with commas")
    return DraftSet(source.path.stem, tuple(words))


QUERY_ARGUMENTS = ("target_sets", "attribute_sets", "target_sets_names", "attribute_sets_names")


def literals(source: Source) -> dict[str, Any]:
    """Return the literal values of a Python file by the name of their variable; a bare expression gets the name of the
    file.

    Lists may be joined, sliced and named, as in published code; a call of `Query` becomes the dictionary of its
    arguments. Any other code is skipped, since it would have to be run.

    Raises:
        CatalogueError: if the file is not Python.
    """
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise CatalogueError(
            f"{source.path}, line {line}: not Python ({getattr(error, 'msg', error)})"
        ) from None
    known: dict[str, Any] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case ast.Expr(value=value):
                name = source.path.stem
            case _:
                continue
        try:
            known[name] = _value(source, value, known)
        except (
            ValueError,
            TypeError,
            RecursionError,
        ):  # not a literal, or a slice that is not by numbers
            continue
    return known


def _value(source: Source, node: ast.expr, known: dict[str, Any]) -> Any:
    match node:
        case ast.Call(func=ast.Name(id="Query") | ast.Attribute(attr="Query"), args=args, keywords=keywords):
            given = {
                **dict(zip(QUERY_ARGUMENTS, args, strict=False)),
                **{k.arg: k.value for k in keywords if k.arg},
            }
            try:
                return {key: _part(value, known) for key, value in given.items()}
            except (ValueError, TypeError, RecursionError):
                raise CatalogueError(
                    f"{source.path}, line {node.lineno}: Query has a value that is not a literal of this "
                    "file; files are not run, so write out the lists"
                ) from None
        case _:
            return _part(node, known)


def _part(node: ast.expr, known: dict[str, Any]) -> Any:
    match node:
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_part(element, known) for element in elements]
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if key in known.get(
            name, ()
        ):
            return known[name][key]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _list(left, known) + _list(right, known)
        case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=None)):
            ends = (None if end is None else ast.literal_eval(end) for end in (lower, upper))
            return _list(value, known)[slice(*ends)]
        case _:
            return ast.literal_eval(node)


def _list(node: ast.expr, known: dict[str, Any]) -> list[Any]:
    value = _part(node, known)
    if not isinstance(value, list):
        raise ValueError("not a list")
    return value
