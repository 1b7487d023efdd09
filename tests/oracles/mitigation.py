"""What other programs make of made-up vectors: WEFE's hard debiasing, LEACE of concept-erasure. Not run by tests.

    python -m venv wefe && wefe/bin/pip install wefe==1.0.1 && wefe/bin/python tests/oracles/mitigation.py wefe
    python -m venv ce && ce/bin/pip install concept-erasure numpy && ce/bin/python tests/oracles/mitigation.py leace

Each writes its part of mitigation.json. WEFE 1.0.1 and concept-erasure 0.2.4 (torch 2.13.0) wrote what is there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("mitigation.json")


def wefe() -> dict[str, Any]:
    """Neutralise and equalise, and neutralise only; WEFE asks for the forms of words one by one."""
    from gensim.models import KeyedVectors
    from wefe.debias.hard_debias import HardDebias  # type: ignore[import-not-found]
    from wefe.word_embedding_model import WordEmbeddingModel  # type: ignore[import-not-found]

    words = ["man", "woman", "he", "she", "king", "queen", "uncle", "aunt", "nurse", "doctor", "art", "math"]
    words += ["actor", "Actor", "He", "She"]
    vectors = np.random.default_rng(25).standard_normal((len(words), 6)).astype(np.float32)
    keyed = KeyedVectors(6)
    keyed.add_vectors(words, vectors.copy())
    model = WordEmbeddingModel(keyed, "made-up")
    pairs, equalise = [["man", "woman"], ["he", "she"]], [["king", "queen"], ["he", "she"]]
    kept = ["actor", "Actor", "ACTOR", "uncle", "Uncle", "UNCLE"]
    given = {"words": words, "vectors": vectors.tolist(), "pairs": pairs, "equalise": equalise}
    results = {}
    for name, to_equalise in (("hard", equalise), ("neutralised", [["absent", "missing"]])):
        method = HardDebias(pca_args={"n_components": 2})
        method.fit(model, definitional_pairs=pairs, equalize_pairs=to_equalise)
        debiased = method.transform(model, ignore=kept, copy=True)
        results[name] = [debiased[word].tolist() for word in words]
    return {**given, "keep": ["actor", "uncle"], **results}


def leace() -> list[dict[str, Any]]:
    """The eraser without the bound on the trace, which gives up the guarantee; with and without shrinkage."""
    import torch
    from concept_erasure import LeaceFitter  # type: ignore[import-not-found]

    rng = np.random.default_rng(7)
    cases = []
    for n, width, classes in ((40, 5, 2), (12, 8, 2), (60, 6, 3)):
        labels = np.arange(n) % classes
        rows = rng.standard_normal((n, width)) @ rng.standard_normal((width, width))
        rows += np.eye(classes)[labels] @ rng.standard_normal((classes, width)) * 2
        new = rng.standard_normal((4, width))
        for shrinkage in (True, False):
            one_hot = torch.nn.functional.one_hot(torch.tensor(labels), classes).double()
            fitter = LeaceFitter.fit(
                torch.tensor(rows), one_hot, shrinkage=shrinkage, constrain_cov_trace=False
            )
            erased = fitter.eraser(torch.tensor(new)).tolist()
            given = {"rows": rows.tolist(), "labels": labels.tolist(), "shrinkage": shrinkage}
            cases.append({**given, "new": new.tolist(), "erased": erased})
    return cases


if __name__ == "__main__":
    part = sys.argv[1]
    known = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    known[part] = {"wefe": wefe, "leace": leace}[part]()
    FILE.write_text(json.dumps(known) + "\n", encoding="utf-8")
