"""The integrations with the real packages: `evaluate`, `mteb` and spaCy, each beside our own numbers.

Run with `make integrations-proof`; the packages are in an environment of their own and not in CI.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import weatherglass
from weatherglass.integrations import evaluate_module

ROOT = Path(__file__).parents[1]
TEST = weatherglass.load_test("weat6")


def vectors(texts: list[str]) -> Any:
    rng = np.random.default_rng(7)
    table = {text: rng.normal(size=24) for text in sorted(TEST.texts)}
    return np.array([table[text] for text in texts])


def check(name: str, got: float, expected: float, tolerance: float = 1e-9) -> None:
    agrees = abs(got - expected) <= tolerance
    print(f"{'ok ' if agrees else 'BAD'} {name}: {got:.12f}, ours {expected:.12f}")
    if not agrees:
        sys.exit(1)


def prove_evaluate() -> None:
    """A metric that `evaluate.load` finds by its path gives what `weatherglass.run` gives."""
    import evaluate

    texts = list(TEST.texts)
    metric = evaluate.load(evaluate_module())
    scores = metric.compute(predictions=vectors(texts), references=texts, test="weat6")
    ours = weatherglass.run(vectors, "weat6").results[0]
    check(f"evaluate {evaluate.__version__}, d", scores["effect_size"], ours.effect_size)
    check(f"evaluate {evaluate.__version__}, p", scores["p_value"], ours.p_value)


def prove_mteb() -> None:
    """A task that `mteb.evaluate` runs on a SentenceTransformer gives what `weatherglass.run` gives on it."""
    import mteb
    from sentence_transformers import SentenceTransformer
    from tests.encoders.transformers.tiny_models import build

    from weatherglass.integrations.mteb_task import weat_task

    test = weatherglass.test(  # words that the tiny model's tokenizer knows
        X=["flower", "roses", "people", "science"],
        Y=["insect", "spiders", "wasp", "engineer"],
        A=["wonderful", "pleasant", "freedom", "love", "peace"],
        B=["horrible", "terrible", "agony", "abuse", "filth"],
    )
    with tempfile.TemporaryDirectory() as folder:
        model = SentenceTransformer(str(build("bert", Path(folder) / "tiny")), device="cpu")
        found = mteb.evaluate(model, weat_task(test), cache=None, co2_tracker=False, show_progress_bar=False)
        (scores,) = found.task_results[0].scores["test"]
        ours = weatherglass.run(model, test).results[0]
    check(f"mteb {mteb.__version__}, d", scores["main_score"], ours.effect_size, 1e-5)
    check(f"mteb {mteb.__version__}, p", scores["p_value"], ours.p_value, 1e-9)


def prove_spacy() -> None:
    """The block of docs/python.md, and a pipeline in memory beside the same vectors in a dict."""
    import spacy

    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(import spacy\n.*?)^```", page, re.MULTILINE | re.DOTALL)
    by_word = {
        text: row.astype(np.float32) for text, row in zip(TEST.texts, vectors(list(TEST.texts)), strict=True)
    }
    names: dict[str, Any] = {"wg": weatherglass, "vectors": by_word}
    exec(compile(block, "docs/python.md", "exec"), names)
    ours = weatherglass.run(by_word, "weat6").results[0]
    theirs = weatherglass.run(names["nlp"], "weat6")
    check(f"spacy {spacy.__version__}, d", theirs.results[0].effect_size, ours.effect_size)
    assert theirs.record["models"][0]["resumable"]


if __name__ == "__main__":
    for proof in (prove_evaluate, prove_mteb, prove_spacy):
        proof()
