"""Files of our own: the folder of a run, saved transforms, journals, embeddings of studies, the cache of encodings."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.hostile.mutations import (
    CUT,
    DAMAGE,
    Mutation,
    as_json,
    changed_tree,
    of_json,
    of_json_lines,
    of_safetensors,
)
from tests.hostile.target import Reading, Sample, Target, same_after

SIDES = {
    "X": "he man boy brother son",
    "Y": "she woman girl sister daughter",
    "A": "work pay job desk",
    "B": "home kin kids care",
}


def _vectors(folder: Path) -> Path:
    words = " ".join(SIDES.values()).split()
    rows = np.random.default_rng(0).normal(size=(len(words), 6)).round(4)
    path = folder / "model.txt"
    path.write_text(
        "".join(
            f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, rows.tolist(), strict=True)
        ),
        encoding="utf-8",
    )
    return path


def _run_folder(folder: Path) -> Path:
    """A run of two tests of one topic on a file of vectors."""
    import weatherglass as wg

    for name in ("one", "two"):
        sets = "".join(
            f"[{key}]\ncategory = '{key}'\nwords = {words.split()}\n" for key, words in SIDES.items()
        )
        (folder / f"{name}.toml").write_text(f"topic = 'gender'\n{sets}", encoding="utf-8")
    path = folder / "run"
    if not path.exists():
        wg.run(
            f"vectors:{_vectors(folder)}", [str(folder / "one.toml"), str(folder / "two.toml")], folder=path
        )
    return path


def _files_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("run.json", "journal.jsonl")}


def _run_samples(folder: Path) -> list[Sample]:
    files = _files_of(_run_folder(folder))
    content = {"run.json": _sealed(json.loads(files["run.json"])), "journal.jsonl": of_json_lines}
    return [Sample(files, content, main=".")]


def _sealed(record: dict[str, Any]) -> Mutation:
    """A record that somebody edited and gave the right checksum, or none."""
    del record["sha256"]

    def changed(random: Random, _content: bytes) -> bytes:
        tree = changed_tree(random, record)
        if random.random() < 0.3 or not isinstance(tree, dict):
            return as_json(tree)
        content = as_json({"sha256": "", **tree})
        return content.replace(b'""', b'"%s"' % hashlib.sha256(content).hexdigest().encode(), 1)

    return changed


def _contexts_samples(folder: Path) -> list[Sample]:
    from weatherglass.audit.contexts import Contexts, WordContexts
    from weatherglass.encoders.base import Input

    source = {"corpus": "c.txt", "content": "0", "per_word": 3, "seed": 0, "version": 2}
    words = {word: WordContexts(5, (Input(f"{word} is here", (0, len(word))),)) for word in ("he", "she")}
    Contexts(source, words).write(folder)
    content = (folder / "contexts.json").read_bytes()
    return [Sample({"contexts.json": content}, {"contexts.json": _sealed(json.loads(content))})]


def _contexts(path: Path) -> Reading:
    from weatherglass.progress import Silent
    from weatherglass.reliability.corpus.contexts import contexts_for

    found = contexts_for(path, ["he", "she"], 2, 0, None, Silent())
    written = path.parent / "written"
    written.mkdir(exist_ok=True)
    found.write(written)
    return Reading(found)


def _run(path: Path) -> Reading:
    """The numbers by test and the verdicts; what a reader is told first is a warning."""
    from weatherglass.audit.stored import read_run

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = read_run(path)
    numbers = {
        result.test: (result.effect_size, result.p_value, result.ci_low, result.ci_high, result.p_adjusted)
        for result in run.results
    }
    verdicts = [(each.topic, each.outcome, each.effect_size) for each in run.verdicts()]
    return Reading((numbers, verdicts), bool(run.notices or told))


def _run_unchanged(_sample: Sample, before: Reading, after: Reading, kind: str) -> str:
    """Whatever is done to the files, a number that is shown is the one that was computed."""
    numbers, verdicts = before.value
    found, judged = after.value
    computed = {test: row[:4] for test, row in numbers.items()}
    if any(computed.get(test) != row[:4] for test, row in found.items()):
        return f"another number after {kind}"
    if kind in (CUT, DAMAGE) and not after.warned and (found, judged) != (numbers, verdicts):
        return f"another verdict after {kind}, without a word"
    return ""


def _report(path: Path) -> Reading:
    from weatherglass.audit.stored import labelled, read_run
    from weatherglass.cli.stored import _page, _rendering, _text

    runs = labelled([read_run(path)])
    with _rendering(runs):
        text = [_text(runs, form) for form in ("md", "methods", "sentences", "model-card")]
    _page(runs, path / "page.html", None, [])
    return Reading(text, bool(runs[0].notices))


def _comparison(path: Path) -> Reading:
    from weatherglass.audit.multiverse_p import read_multiverse_p
    from weatherglass.audit.stored import labelled, read_run
    from weatherglass.cli.stored import _comparison, _multiverse, _page

    runs = labelled([read_run(path.parent / "run"), read_run(path.parent / "run")])
    multiverse = path.name == "multiverse.json"
    if multiverse:
        read_multiverse_p(path, ["cosine/mean"])
    given = (None, _multiverse(path)) if multiverse else (_comparison(path), [])
    return Reading(len(_page(runs, path.parent / "page.html", *given)))


def _comparison_samples(folder: Path) -> list[Sample]:
    import weatherglass as wg
    from weatherglass.audit.compare import compare_runs

    run = _run_folder(folder)
    files = {f"run/{name}": content for name, content in _files_of(run).items()}
    compared: Any = compare_runs(run, run).to_json()
    found = wg.multiverse(
        f"vectors:{_vectors(folder)}",
        [str(folder / "one.toml")],
        ["similarity"],
        folder=folder / "multiverse",
    ).to_json()
    contents = {"comparison.json": compared, "multiverse.json": found}
    return [
        Sample({name: json.dumps(tree).encode(), **files}, {name: of_json(tree)}, name)
        for name, tree in contents.items()
    ]


def _transform_samples(folder: Path) -> list[Sample]:
    import weatherglass as wg

    path = folder / "t.transform"
    classes = folder / "classes.txt"
    classes.write_text("he\tm\nman\tm\nboy\tm\nshe\tf\nwoman\tf\ngirl\tf\n", encoding="utf-8")
    wg.mitigate(f"vectors:{_vectors(folder)}", f"mean-difference?classes={classes}").write(path)
    return [Sample({"t.transform": path.read_bytes()}, {"t.transform": of_safetensors}, text=False)]


def _transform(path: Path) -> Reading:
    from weatherglass.mitigation.saved import read_transform

    saved = read_transform(path)
    change = saved.fit(np.zeros((0, 6)))
    return Reading(
        (change(np.ones((2, 6)), ["he", "x"]).tobytes(), saved.words_seen(), saved.topics, saved.sides)
    )


def _journal_samples(_folder: Path) -> list[Sample]:
    from weatherglass.storage.journal import checked_line

    lines = [checked_line({"key": str(n), "record": {"p": n / 7, "name": "é"}}) for n in range(5)]
    return [Sample({"journal.jsonl": b"".join(lines)}, {"journal.jsonl": of_json_lines})]


def _journal(path: Path) -> Reading:
    from weatherglass.storage.journal import Journal

    with Journal[dict[str, Any]](path, "record", dict, dict) as journal:
        return Reading(dict(journal.finished), bool(journal.warnings))


def _subset(_sample: Sample, before: Reading, after: Reading, kind: str) -> str:
    """A record that is read is one that was written; one that is absent is computed again."""
    wrong = any(key not in before.value or before.value[key] != value for key, value in after.value.items())
    return f"a record that nobody wrote, after {kind}" if wrong else ""


def _embedding_samples(folder: Path) -> list[Sample]:
    from weatherglass.reliability.training.embedding import Embedding, save_embedding

    rows = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    counts = np.array([9, 5, 3, 1], dtype=np.int64)
    made = Embedding(
        words=["a", "b", "c", "é"], counts=counts, vectors=rows, algorithm="sgns", seed=1, corpus="c",
        settings={"window": 5}, corpus_hash="ab",
    )  # fmt: skip
    save_embedding(folder / "e.safetensors", made)
    return [
        Sample(
            {"e.safetensors": (folder / "e.safetensors").read_bytes()},
            {"e.safetensors": of_safetensors},
            text=False,
        )
    ]


def _embedding(path: Path) -> Reading:
    from weatherglass.reliability.training.embedding import describe_embedding, load_embedding

    read = load_embedding(path)
    describe_embedding(path)
    return Reading((list(read.words), np.asarray(read.vectors).tobytes(), np.asarray(read.counts).tobytes()))


def _cache_samples(folder: Path) -> list[Sample]:
    from weatherglass.encoders.base import Coverage, Encoding
    from weatherglass.encoders.cache import EncodingCache

    cache = EncodingCache(folder / "cache" / "encodings.sqlite")
    cache.put(
        "id",
        "model",
        {text: Encoding(np.arange(4.0) + n, Coverage((text,))) for n, text in enumerate(("one", "two", "é"))},
    )
    with sqlite3.connect(cache.path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return [Sample({"encodings.sqlite": cache.path.read_bytes()}, text=False)]


def _cache(path: Path) -> Reading:
    from weatherglass.encoders.cache import EncodingCache

    cache = EncodingCache(path)
    found = cache.get("id", ["one", "two", "é", "absent"])
    cache.models()
    for beside in path.parent.glob("*.damaged*"):
        beside.unlink()
    values = {text: (each.values.tolist(), each.coverage.tokens) for text, each in found.items()}
    return Reading(values, bool(cache.problems))


OUR_FILES = (
    Target("folders of runs", _run_samples, _run, _run_unchanged, group="ours"),
    Target("sentences of runs", _contexts_samples, _contexts, same_after(CUT, DAMAGE), group="ours"),
    Target("reports of runs", _run_samples, _report, group="ours"),
    Target("comparisons and multiverses", _comparison_samples, _comparison, group="ours"),
    Target("saved transforms", _transform_samples, _transform, same_after(CUT, DAMAGE), group="ours"),
    Target("journals", _journal_samples, _journal, _subset, group="ours"),
    Target("embeddings of studies", _embedding_samples, _embedding, same_after(CUT), group="ours"),
    Target("cache of encodings", _cache_samples, _cache, _subset, group="ours"),
)
