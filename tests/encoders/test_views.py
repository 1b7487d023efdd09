"""All poolings and layers of a model from one forward pass: the vectors of `encode`, and each text read once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests import engines

import weatherglass as wg
from weatherglass.audit.encode import ViewChunk
from weatherglass.encoders import load_encoder
from weatherglass.encoders.pooling import Layers
from weatherglass.encoders.views import View, encode_views, layered

TEXTS = ["This is a rose.", "wasp", "The engineer is here and people like freedom."]


def test_a_view_has_the_vectors_of_the_spec_that_asks_for_it(tiny_model: Callable[[str], Path]) -> None:
    model = layered(load_encoder(f"hf:{tiny_model('bert')}"))
    assert model is not None
    views = [
        View(pooling, Layers.parse(layers))
        for pooling, layers in product(("cls", "mean", "max"), ("-1", "0", "sum:-2.."))
    ]
    matrices, coverage = encode_views(model, TEXTS, views)
    assert len(coverage) == 3
    for view, vectors in zip(views, matrices, strict=True):
        spec = f"hf:{tiny_model('bert')}?pooling={view.pooling}&layers={view.layers}"
        np.testing.assert_allclose(vectors, load_encoder(spec, cache=False).encode(TEXTS), atol=1e-6)


def test_every_view_is_cached_after_one_pass(
    tiny_model: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from weatherglass.encoders.torch_model import TorchModel

    passes: list[int] = []
    real = TorchModel.hidden_states

    def counting(self: TorchModel, pieces: object, *rest: object) -> object:
        passes.append(len(pieces))  # type: ignore[arg-type]
        return real(self, pieces, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(TorchModel, "hidden_states", counting)
    spec = f"hf:{tiny_model('bert')}"
    (entry,) = wg.multiverse(spec, "weat6").topics
    assert entry["lists"][0]["choices"] == {
        "similarity": ["cosine", "euclidean", "manhattan"],
        "statistic": ["mean", "median", "nearest", "farthest"],
        "pooling": ["cls", "mean", "max"],
        "layers": ["-1", "-2", "mean:-4.."],
    }
    read = sum(passes)
    assert 0 < read <= len(wg.load_test("weat6").texts)  # texts with the same pieces are read once
    wg.multiverse(spec, "weat6")
    wg.run(f"{spec}?pooling=max&layers=-2", "weat6")
    assert sum(passes) == read


def test_fewer_dimensions_have_the_same_views_cut(tiny_model: Callable[[str], Path]) -> None:
    spec = f"hf:{tiny_model('bert')}"
    (cut,) = wg.multiverse(f"{spec}?dim=4", "weat7").topics
    (whole,) = wg.multiverse(spec, "weat7").topics
    assert cut["lists"][0]["choices"] == whole["lists"][0]["choices"]
    effects = {
        (row["similarity"], row["statistic"], row["pooling"], row["layers"]): row["d"]
        for row in cut["specifications"]
    }
    (alone,) = wg.run(f"{spec}?dim=4&pooling=max&layers=-2", "weat7").results
    assert effects["cosine", "mean", "max", "-2"] == pytest.approx(alone.effect_size, abs=1e-9)


def test_views_are_encoded_elsewhere_and_cached_here(
    tiny_model: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Other processes load the model by its spec; none of them writes to the cache."""
    engine = engines.register(monkeypatch)
    spec = f"hf:{tiny_model('bert')}"
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "alone"))
    alone = wg.multiverse(spec, "weat6")
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "several"))
    assert wg.multiverse(spec, "weat6", scheduler=engines.NAME).topics == alone.topics
    chunks = [unit for unit in engine.seen if isinstance(unit, ViewChunk)]
    assert [(len(chunk.inputs), len(chunk.views)) for chunk in chunks] == [
        (len(wg.load_test("weat6").texts), 9)
    ]
    engine.seen.clear()
    assert wg.multiverse(spec, "weat6", scheduler=engines.NAME).topics == alone.topics
    assert not any(isinstance(unit, ViewChunk) for unit in engine.seen)
