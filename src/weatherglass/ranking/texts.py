"""Read and check the material of a ranking audit before work starts: queries, passages with slots, and groups of
names.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any

from weatherglass.catalogue.published import word_set
from weatherglass.errors import CatalogueError, UnknownNameError, WeatherglassError
from weatherglass.registry import checked_path, did_you_mean, shown, suggestion, wrong_type
from weatherglass.storage.documents import document_text, shipped_toml, toml_document
from weatherglass.storage.reading import exists, require_regular_file

NEUTRAL = {"they": "they", "them": "them", "their": "their"}
"""The pronouns used for a group whose file gives none, so that only the name differs."""
SLOTS = ("name", *NEUTRAL, "title")
CAPITALISED = {slot.capitalize(): slot for slot in SLOTS[1:]}
"""Slots at the beginning of a sentence."""
ALL, NO_TOPIC = "all", "no topic"
"""The topic that means no topic in a file, and the name of the topic of queries without one."""
ONE_PER_LINE = (".txt", "")
"""Suffixes of files with one text per line, in which commas do not separate cells."""
FEWEST = 2
"""The smallest number of names in a group."""


@dataclass(frozen=True, slots=True)
class Text:
    """A query, or a passage with slots."""

    text: str
    topic: str = ""
    """The topic, such as an occupation; a passage without a topic is compared with every query."""


@dataclass(frozen=True, slots=True)
class NameGroup:
    """Names that are compared with those of other groups."""

    name: str
    names: tuple[str, ...]
    words: Mapping[str, str] = field(default_factory=dict)
    """The texts that fill the slots they, them, their and title."""
    factors: tuple[str, ...] = ()
    """The levels of a design such as race × gender, for its interaction."""

    def word(self, slot: str) -> str:
        """Return the text that fills a slot other than the name; empty for a title that is not given."""
        return self.words.get(slot, NEUTRAL.get(slot, ""))


@dataclass(frozen=True, slots=True)
class Materials:
    """Queries, passages and groups that fit together.

    Raises:
        CatalogueError: on creation, if they do not fit together.
    """

    queries: tuple[Text, ...]
    passages: tuple[Text, ...]
    groups: tuple[NameGroup, ...]

    def __post_init__(self) -> None:
        check_groups(self.groups)
        for noun, texts in (("query", self.queries), ("passage", self.passages)):
            _check_distinct(noun, texts)
        for number, passage in enumerate(self.passages, start=1):
            _check_slots(f"passage {number} ({_start(passage.text)})", passage.text, self.groups)
        _check_topics(self.queries, self.passages)

    @property
    def names(self) -> list[tuple[NameGroup, str]]:
        """Return every name with its group."""
        return [(group, name) for group in self.groups for name in group.names]

    def passages_of(self, topic: str) -> list[int]:
        """Return the numbers of the passages that are compared with the queries of a topic."""
        return [place for place, passage in enumerate(self.passages) if passage.topic in (topic, "")]

    def fingerprint(self) -> str:
        """Return a hash of all texts and names."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def filled(passage: str, group: NameGroup, name: str) -> str:
    """Return a passage with its slots filled for one name.

    >>> filled("{name} and {their} work. {They} left.", NameGroup("women", ("Ann", "Eve"), {"their": "her"}), "Ann")
    'Ann and her work. They left.'
    """
    words = {slot: group.word(slot) for slot in SLOTS[1:]}
    initial = {slot: words[own][:1].upper() + words[own][1:] for slot, own in CAPITALISED.items()}
    return passage.format_map({**words, **initial, "name": name})


def slots_in(passages: Iterable[Text]) -> frozenset[str]:
    """Return the slots of passages besides the name."""
    found = {slot for passage in passages for _, slot, _, _ in Formatter().parse(passage.text) if slot}
    return frozenset(CAPITALISED.get(slot, slot) for slot in found) - {"name"}


def check_groups(groups: Sequence[NameGroup]) -> None:
    """Check that there are at least two groups of at least two names, and that no name is in two of them.

    Raises:
        CatalogueError: if a group or name is missing or repeated.
    """
    if len(groups) < 2:
        raise CatalogueError(
            f"a ranking audit compares two or more groups of names, but {len(groups)} is given"
        )
    _check_repeated("group", [group.name for group in groups])
    for group in groups:
        if len(group.names) < FEWEST:
            raise CatalogueError(
                f"group '{shown(group.name)}' has {len(group.names)} name; it needs at least {FEWEST}, because names "
                "are the unit of inference"
            )
        for slot in group.words:
            if slot not in SLOTS[1:]:
                raise CatalogueError(
                    f"group '{shown(group.name)}': unknown slot '{slot}'{suggestion(slot, SLOTS[1:])}"
                )
        _check_repeated(f"name in group '{shown(group.name)}'", group.names)
    of_name: dict[str, str] = {}
    for group in groups:
        for name in group.names:
            if name in of_name:
                raise CatalogueError(
                    f"name '{shown(name)}' is in the groups '{of_name[name]}' and '{group.name}'; keep it in one"
                )
            of_name[name] = group.name


def _check_repeated(noun: str, names: Sequence[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise CatalogueError(f"{noun}: '{shown(name)}' is given {times} times; give it once")
        if not name.strip():
            raise CatalogueError(f"{noun}: one is empty; fill it in, or remove it")


def _check_distinct(noun: str, texts: Sequence[Text]) -> None:
    if not texts:
        raise CatalogueError(f"there is no {noun}; give at least one")
    first: dict[Text, int] = {}
    for number, text in enumerate(texts, start=1):
        if not text.text.strip():
            raise CatalogueError(f"{noun} {number} is empty; fill it in, or remove it")
        if text in first:
            raise CatalogueError(f"{noun} {number} is the same as {noun} {first[text]}: {_start(text.text)}")
        first[text] = number


def _check_topics(queries: Sequence[Text], passages: Sequence[Text]) -> None:
    """Check that every query has passages, and every passage has queries."""
    asked = dict.fromkeys(query.topic for query in queries)
    offered = dict.fromkeys(passage.topic for passage in passages)
    if "" not in offered:
        if "" in asked:
            raise CatalogueError(
                "a query has no topic, but every passage has one; give a topic to both, or to neither"
            )
        for topic in asked:
            if topic not in offered:
                hint = suggestion(topic, offered)
                raise CatalogueError(f"no passage has the topic '{shown(topic)}' of a query{hint}")
    for topic in offered:
        if topic and topic not in asked:
            raise CatalogueError(
                f"no query has the topic '{shown(topic)}' of a passage{suggestion(topic, asked)}"
            )


def _check_slots(where: str, passage: str, groups: Sequence[NameGroup]) -> None:
    try:
        parts = list(Formatter().parse(passage))
    except ValueError:
        raise CatalogueError(f"{where}: a brace is not closed; write {{{{ and }}}} for braces") from None
    slots = [slot for _, slot, _, _ in parts if slot is not None]
    plain = all(not form and conversion is None for _, _, form, conversion in parts)
    known = (*SLOTS, *CAPITALISED)
    for slot in slots:
        if slot not in known or not plain:
            raise CatalogueError(f"{where}: unknown slot '{{{shown(slot)}}}'{suggestion(slot, known)}")
    if "name" not in slots:
        raise CatalogueError(f"{where}: there is no slot {{name}}, so all copies would be the same text")
    if "title" in slots or "Title" in slots:
        for group in groups:
            if "title" not in group.words:
                raise CatalogueError(
                    f"{where}: needs {{title}}, but group '{shown(group.name)}' has no title"
                )


def _start(text: str) -> str:
    return f"'{shown(text)[:40]}…'" if len(text) > 40 else f"'{shown(text)}'"


def own_texts(kind: str) -> tuple[Text, ...]:
    """Return the queries or passages of the package, which are advertisements and CVs for 12 occupations."""
    return tuple(_by_topic(shipped_toml(__package__, "occupations"), kind, "occupations.toml"))


def texts_of(given: Any, kind: str) -> tuple[Text, ...]:
    """Return queries or passages from any form that a caller may give.

    Args:
        given: None for the texts of the package; a file (TOML, JSON lines, CSV, Excel, or one text per line); a list
            of texts; or lists of texts by topic.
        kind: "queries" or "passages".

    Raises:
        CatalogueError: if the file is malformed.
    """
    if given is None:
        return own_texts(kind)
    if isinstance(given, str | Path):
        return _texts_in(checked_path(kind, given), kind)
    if isinstance(given, Mapping):
        return tuple(_by_topic({topic: {kind: texts} for topic, texts in given.items()}, kind, kind))
    if isinstance(given, Sequence):
        return tuple(_by_topic({"": {kind: list(given)}}, kind, kind))
    raise wrong_type(kind, "a file, a list of texts, or lists of texts by topic", given)


def _texts_in(path: Path, kind: str) -> tuple[Text, ...]:
    if path.suffix.lower() == ".toml":
        return tuple(_by_topic(toml_document(path, CatalogueError), kind, str(path)))
    if path.suffix.lower() in ONE_PER_LINE:
        lines = [line.strip() for line in document_text(path, CatalogueError).splitlines()]
        if not any(lines):
            raise CatalogueError(f"{path}: contains no {kind}; the file is empty")
        return tuple(Text(line) for line in lines if line)
    from weatherglass.storage.tables import read_rows

    singular = {"queries": "query", "passages": "passage"}[kind]
    rows = read_rows(path, [("text", singular)], ["topic"], error=CatalogueError)
    return tuple(Text(row["text"], "" if row["topic"] == ALL else row["topic"]) for row in rows)


def _by_topic(tables: Mapping[str, Any], kind: str, where: str) -> Iterator[Text]:
    """Yield the texts in the list `queries` or `passages` of each table, such as [nurse]; each table is one topic."""
    found = False
    for topic, table in tables.items():
        texts = table.get(kind) if isinstance(table, Mapping) else None
        if texts is None:
            continue
        if (
            not isinstance(texts, Sequence)
            or isinstance(texts, str)
            or not all(isinstance(t, str) for t in texts)
        ):
            raise CatalogueError(f"{where}: '{shown(topic)}' should have a list of texts called {kind}")
        found = True
        yield from (Text(text, "" if topic == ALL else topic) for text in texts)
    if not found:
        raise CatalogueError(
            f"{where}: contains no {kind}; a table per topic should have a list called {kind}"
        )


def group_names() -> list[str]:
    """Return the names of the groupings of the package."""
    return list(shipped_toml(__package__, "groups"))


def groups_of(given: Any) -> tuple[NameGroup, ...]:
    """Return groups from any form that a caller may give.

    Args:
        given: the name of a grouping of the package; a file (TOML, or a table with the columns group and name); or
            lists of names by group.

    Raises:
        CatalogueError: if the file is malformed.
        UnknownNameError: if there is neither a grouping nor a file of that name.
    """
    if isinstance(given, Mapping):
        return tuple(_group(str(name), entry, "groups") for name, entry in given.items())
    if not isinstance(given, str | Path):
        raise wrong_type("groups", "a name, a file, or lists of names by group", given)
    known = shipped_toml(__package__, "groups")
    if str(given) in known:
        return tuple(_own_group(entry) for entry in known[str(given)]["groups"])
    path = Path(given)
    if not exists(path):
        hint = did_you_mean(str(given), known)
        raise UnknownNameError(
            f"no groups '{shown(given)}'{hint} (known: {', '.join(known)}; or give a file)"
        )
    if path.suffix.lower() == ".toml":
        tables = toml_document(path, CatalogueError)
        return tuple(_group(name, table, str(path)) for name, table in tables.items())
    return _groups_in(path)


def _own_group(entry: Mapping[str, Any]) -> NameGroup:
    """Return a group of the catalogue: a set, or the part of it from one name or up to one name."""
    names = word_set(entry["set"]).words
    start = names.index(entry["first"]) if "first" in entry else 0
    end = names.index(entry["last"]) + 1 if "last" in entry else len(names)
    return NameGroup(entry["name"], tuple(names[start:end]), factors=tuple(entry.get("factors", ())))


def _group(name: str, entry: Any, where: str) -> NameGroup:
    table = entry if isinstance(entry, Mapping) else {"names": entry}
    for key in table:
        if key not in (known := ("names", *SLOTS[1:], "factors")):
            raise CatalogueError(
                f"{where}: group '{shown(name)}': unknown key '{key}'{suggestion(key, known)}"
            )
    names, factors = table.get("names"), table.get("factors", ())
    for listed in (names, factors):
        if (
            not isinstance(listed, Sequence)
            or isinstance(listed, str)
            or not all(isinstance(n, str) for n in listed)
        ):
            raise CatalogueError(f"{where}: group '{shown(name)}' should have a list of names")
    words = {slot: str(table[slot]) for slot in SLOTS[1:] if slot in table}
    return NameGroup(name, tuple(names or ()), words, tuple(factors))


def _groups_in(path: Path) -> tuple[NameGroup, ...]:
    """Return the groups of a table with a row per name."""
    from weatherglass.storage.tables import read_rows

    names: dict[str, list[str]] = {}
    words: dict[str, dict[str, str]] = {}
    for row in read_rows(path, ["group", "name"], SLOTS[1:], error=CatalogueError):
        names.setdefault(row["group"], []).append(row["name"])
        stated = {slot: row[slot] for slot in SLOTS[1:] if row.values.get(slot)}
        if words.setdefault(row["group"], stated) != stated:
            raise CatalogueError(
                f"{row.place}: the slots of group '{shown(row['group'])}' differ between its rows"
            )
    return tuple(NameGroup(group, tuple(some), words[group]) for group, some in names.items())


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file of other passages that are not empty, without reading the file as a whole.

    Raises:
        CatalogueError: if it is not a regular file of UTF-8 text.
    """
    require_regular_file(path, CatalogueError)
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from (line.strip() for line in file if line.strip())
    except UnicodeDecodeError:
        raise CatalogueError(f"{path}: not UTF-8 text; save the file as UTF-8") from None
    except OSError as error:
        raise CatalogueError(f"{path}: cannot be read ({error.strerror})") from None


def topics_of(queries: Iterable[Text]) -> list[str]:
    """Return the topics of queries in their order; `NO_TOPIC` for queries without one."""
    return list(dict.fromkeys(query.topic or NO_TOPIC for query in queries))


def read_materials(queries: Any = None, passages: Any = None, groups: Any = "race") -> Materials:
    """Return checked materials from what a caller gives; without queries and passages, those of the package.

    Raises:
        WeatherglassError: if only one of queries and passages is given, or they do not fit together.
    """
    if (queries is None) != (passages is None):
        given, missing = ("queries", "passages") if passages is None else ("passages", "queries")
        raise WeatherglassError(
            f"{given} are given without {missing}; give both, or neither for those of the package"
        )
    return Materials(texts_of(queries, "queries"), texts_of(passages, "passages"), groups_of(groups))
