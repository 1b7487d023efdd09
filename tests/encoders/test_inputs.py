"""Inputs, what models say that they give, and objects of others as models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.encode import observe
from weatherglass.audit.plan import PlannedModel
from weatherglass.encoders import Coverage, Input, Model, Observations, load_encoder
from weatherglass.encoders.base import Asked, What
from weatherglass.errors import EncoderError
from weatherglass.parallel import InProcess
from weatherglass.progress import Silent

VECTORS = {"nurse": [1.0, 2.0], "here": [3.0, 4.0], "good": [0.0, 1.0]}
SENTENCE = Input("A nurse is here.", (2, 7))


@pytest.mark.parametrize("span", [(0, 0), (3, 2), (-1, 2), (0, 17), (1, 2)])
def test_a_span_without_a_word_in_the_text_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(EncoderError, match=naming(*span, 16)):
        Input(SENTENCE.text, span)


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(EncoderError, match=naming("'document'", "text", "query", "passage")):
        Input("a text", kind="document")  # type: ignore[arg-type]


def test_a_text_is_an_input() -> None:
    model = wg.model(VECTORS)
    observed = model.observe(["nurse", Input("nurse"), Input("nurse", kind="query"), SENTENCE])
    np.testing.assert_array_equal(observed.matrix, [[1, 2], [1, 2], [1, 2], [2, 3]])
    assert [observed.known(row) for row in range(4)] == [True] * 4


@pytest.fixture
def static_models(tmp_path: Path) -> list[Model]:
    file = tmp_path / "vectors.txt"
    file.write_text("".join(f"{word} {a} {b}\n" for word, (a, b) in VECTORS.items()))
    return [wg.model(VECTORS), load_encoder(f"vectors:{file}"), load_encoder("wordllama")]


def test_a_static_word_has_the_same_vector_in_every_text(static_models: list[Model]) -> None:
    for model in static_models:
        observed = model.observe([SENTENCE, Input("nurse", (0, 5))], "token-vectors")
        alone = model.encode(["nurse"])
        np.testing.assert_array_equal(observed.matrix, np.concatenate([alone, alone]))
        assert np.abs(model.encode([SENTENCE.text]) - alone).max() > 1e-3


def test_a_word_that_a_static_model_lacks_is_missing(static_models: list[Model]) -> None:
    for model in static_models[:2]:
        observed = model.observe([Input("A doctor is here.", (2, 8))], "token-vectors")
        assert not observed.known(0)
        assert observed.coverage[0].missing == ("doctor",)


def test_a_span_is_needed_for_token_vectors() -> None:
    for asked in ("nurse", Input("nurse", kind="query")):
        with pytest.raises(EncoderError, match=naming("token-vectors", "span", "'nurse'")):
            wg.model(VECTORS).observe([asked], "token-vectors")


@pytest.mark.parametrize("what", ["log-probabilities", "vector"])
def test_what_a_model_does_not_give_is_one_line(what: What) -> None:
    with pytest.raises(EncoderError, match=r"^[^\n]*$") as caught:
        wg.model(VECTORS, name="own").observe(["nurse"], what)
    assert mentions(str(caught.value), "'own'", what, "vectors", "token-vectors")
    with pytest.raises(EncoderError, match=naming(what, "vectors")):
        observe(wg.model(VECTORS), ["nurse"], what, InProcess(), Silent())


def test_an_object_with_encode_is_a_model_that_gives_vectors() -> None:
    own = HashedEncoder(unknown=["lost"])
    model = PlannedModel.of(own).encoder
    assert isinstance(model, Model)
    assert model.gives == {"vectors"}
    observed = model.observe(["rose", Input("rose", kind="passage"), "lost"])
    np.testing.assert_array_equal(observed.matrix, own.encode(["rose", "rose", "lost"]))
    assert [observed.known(row) for row in range(3)] == [True, True, False]
    assert observed.coverage[2].missing == ("lost",)
    assert (model.name, model.identity(), model.notes(), model.warnings()) == ("hashed", None, [], [])
    with pytest.raises(EncoderError, match=naming("'hashed'", "token-vectors", "vectors")):
        model.observe([SENTENCE], "token-vectors")


class OwnModel:
    """A model of a user's own, which gives log-probabilities and no vectors."""

    name = "own"
    options: Mapping[str, str] = {}
    gives = frozenset({"log-probabilities"})

    def observe(self, inputs: Sequence[Asked], what: What) -> Observations:
        texts = [asked if isinstance(asked, str) else asked.text for asked in inputs]
        values: list[AnyMatrix] = [-np.arange(1.0, 1 + len(text.split())) for text in texts]
        return Observations(inputs, what, values, [Coverage(tuple(text.split())) for text in texts])


def test_an_object_with_observe_is_a_model() -> None:
    model = PlannedModel.of(OwnModel()).encoder
    assert isinstance(model, Model)
    observed = observe(model, ["a b", "c", Input("a b")], "log-probabilities", InProcess(), Silent())
    assert observed.inputs == ["a b", "c"]
    assert [list(row) for row in observed.values] == [[-1, -2], [-1]]
    with pytest.raises(EncoderError, match=naming("'own'", "vectors", "log-probabilities")):
        observe(model, ["a b"], "vectors", InProcess(), Silent())


def test_dimensions_are_cut_from_token_vectors_too() -> None:
    whole, cut = (load_encoder(spec) for spec in ("wordllama", "wordllama?dim=64"))
    vectors = whole.observe([SENTENCE], "token-vectors").matrix
    np.testing.assert_array_equal(cut.observe([SENTENCE], "token-vectors").matrix, vectors[:, :64])
