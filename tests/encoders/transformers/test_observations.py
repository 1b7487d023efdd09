"""Words at their place in a text, and log-probabilities, against plain loops over transformers' own models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.transformers.tiny_models import FAMILIES, LAYERS, POSITIONS
from tests.engines import Copied
from tests.messages import mentions, naming

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.encode import SENTENCES as SENTENCES_PER_JOB
from weatherglass.audit.encode import observe
from weatherglass.encoders import Input, load_encoder
from weatherglass.encoders.base import Asked, What
from weatherglass.encoders.pooling import Layers
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.torch_model import TorchModel
from weatherglass.encoders.transformers import TransformerEncoder
from weatherglass.errors import EncoderError, SpecError
from weatherglass.parallel import InProcess
from weatherglass.progress import Silent

TinyModel = Callable[[str], Path]

CLOSE = 1e-9
"""In float64, so that a wrong formula cannot hide behind rounding."""

SENTENCES = [
    "The unbelievable engineer is here , and an engineer was there .",
    "wasps",
    "This is   a rosewasp .",
    "Here are roses and ß İstanbul wasps .",
    "peace",
]
INPUTS = [
    Input(SENTENCES[0], (4, 16)),
    Input(SENTENCES[0], (17, 25)),
    Input(SENTENCES[0], (43, 51)),  # the same word again, at another place
    Input(SENTENCES[1], (0, 5)),
    Input(SENTENCES[2], (12, 20)),
    Input(SENTENCES[2], (11, 21)),  # with blanks around it
    Input(SENTENCES[3], (28, 33)),
    Input(SENTENCES[4], (0, 5)),
]


def encoder(folder: Path, **options: str) -> TransformerEncoder:
    return TransformerEncoder.from_spec(
        Spec("hf", str(folder), tuple({"dtype": "float64", **options}.items()))
    )


@cache
def loaded(folder: Path, kind: str = "AutoModel") -> tuple[Any, Any]:
    import transformers

    model = getattr(transformers, kind).from_pretrained(folder).double().eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


def states_at(folder: Path, asked: Input, lower: bool = False) -> list[AnyMatrix]:
    """By layer: the states of the tokens that the tokenizer gives the span's characters to, of this text alone."""
    import torch

    tokenizer, model = loaded(folder)
    assert asked.span is not None
    start, end = asked.span
    text = asked.text
    start, end = start + len(asked.word) - len(asked.word.lstrip()), start + len(asked.word.rstrip())
    if lower:
        start, end, text = len(text[:start].lower()), len(text[:end].lower()), text.lower()
    encoded = tokenizer(text, return_tensors="pt")
    places = {encoded.char_to_token(n) for n in range(start, end)} - {None}
    with torch.no_grad():
        states = model(input_ids=encoded["input_ids"], output_hidden_states=True).hidden_states
    return [layer[0, sorted(places)].numpy() for layer in states]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("span_pooling", "layers"), [("mean", "-1"), ("first", "1"), ("last", "mean:-2..")])
def test_token_vectors_are_those_of_a_plain_loop(
    tiny_model: TinyModel, family: str, span_pooling: str, layers: str
) -> None:
    folder = tiny_model(family)
    pooled = {
        "mean": lambda rows: rows.mean(axis=0),
        "first": lambda rows: rows[0],
        "last": lambda rows: rows[-1],
    }
    expected = []
    for asked in INPUTS:
        states = states_at(folder, asked)
        rows = [pooled[span_pooling](states[n]) for n in Layers.parse(layers).numbers(LAYERS + 1)]
        expected.append(np.mean(rows, axis=0))
    model = encoder(folder, span_pooling=span_pooling, layers=layers)
    observed = model.observe(INPUTS, "token-vectors")
    np.testing.assert_allclose(observed.matrix, expected, atol=CLOSE)
    assert np.abs(observed.matrix[1] - observed.matrix[2]).max() > 1e-3
    assert all(not covered.missing for covered in observed.coverage)


def test_a_sentence_with_several_words_is_read_once(
    tiny_model: TinyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    forward = TorchModel.hidden_states

    def counted(self: TorchModel, pieces: Any, *others: Any) -> Any:
        read.append(len(pieces))
        return forward(self, pieces, *others)

    monkeypatch.setattr(TorchModel, "hidden_states", counted)
    encoder(tiny_model("bert")).observe(INPUTS, "token-vectors")
    assert sum(read) == len({asked.text for asked in INPUTS})


@pytest.mark.parametrize("span_pooling", ["mean", "last"])
def test_sentence_transformers_give_the_words_of_their_top_layer(
    tiny_model: TinyModel, span_pooling: str
) -> None:
    library = pytest.importorskip("sentence_transformers", reason="the transformers extra is not installed")
    folder = tiny_model("bert")
    expected = encoder(folder, span_pooling=span_pooling).observe(INPUTS, "token-vectors")
    stored = load_encoder(f"st:{folder}?span_pooling={span_pooling}", cache=False)
    observed = stored.observe(INPUTS, "token-vectors")
    np.testing.assert_allclose(observed.matrix, expected.matrix, atol=1e-5)
    assert observed.coverage == expected.coverage
    if span_pooling == "mean":
        held = wg.model(library.SentenceTransformer(str(folder), device="cpu"))
        np.testing.assert_allclose(held.observe(INPUTS, "token-vectors").matrix, expected.matrix, atol=1e-5)


def test_a_span_is_found_in_a_text_that_grows_in_lower_case(tiny_model: TinyModel) -> None:
    folder, asked = tiny_model("bert"), INPUTS[6]
    (vector,) = encoder(folder, lowercase="yes").observe([asked], "token-vectors").matrix
    np.testing.assert_allclose(vector, states_at(folder, asked, lower=True)[-1].mean(axis=0), atol=CLOSE)


def test_a_prompt_moves_the_span(tiny_model: TinyModel) -> None:
    folder, asked = tiny_model("bert"), INPUTS[1]
    (vector,) = encoder(folder, prompt="The engineer : ").observe([asked], "token-vectors").matrix
    moved = Input("The engineer : " + asked.text, (15 + 17, 15 + 25))
    np.testing.assert_allclose(vector, states_at(folder, moved)[-1].mean(axis=0), atol=CLOSE)


def test_coverage_names_the_pieces_of_the_word(tiny_model: TinyModel) -> None:
    (covered,) = encoder(tiny_model("bert")).observe([INPUTS[4]], "token-vectors").coverage
    assert "".join(covered.tokens).replace("#", "") == "rosewasp"
    assert len(covered.tokens) > 1


@pytest.mark.parametrize("what", ["token-vectors", "log-probabilities"])
def test_a_word_that_is_cut_off_is_missing_with_a_reason(tiny_model: TinyModel, what: What) -> None:
    long = "is " * (POSITIONS - 5) + "wonderful unbelievable wasps ."
    inputs = [Input(long, (long.index(word), long.index(word) + len(word))) for word in ("is", "wasps")]
    observed = encoder(tiny_model("bert-masked")).observe(inputs, what)
    assert [observed.known(row) for row in range(2)] == [True, False]
    read, lost = observed.coverage
    assert read.missing == ()
    assert lost.missing == ("wasps",)
    assert mentions(lost.note, POSITIONS)
    assert lost.note != read.note


def test_a_tokenizer_without_offsets_is_one_line(
    tiny_model: TinyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = encoder(tiny_model("bert"))
    monkeypatch.setattr(type(model._tokenizer.inner), "is_fast", False)
    with pytest.raises(EncoderError, match=naming("tokenizer.json")):
        model.observe(INPUTS, "token-vectors")
    assert np.isfinite(model.encode(SENTENCES)).all()


def masked_loop(folder: Path, text: str, together: set[int] | None = None) -> list[float]:
    """Log-probabilities of a text's tokens, each masked alone; of some of them, masked together."""
    import torch

    tokenizer, model = loaded(folder, "AutoModelForMaskedLM")
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    places = sorted(together) if together else range(1, ids.shape[1] - 1)
    found = []
    for place in places:
        hidden = ids.clone()
        hidden[0, sorted(together) if together else place] = tokenizer.mask_token_id
        with torch.no_grad():
            predicted = model(input_ids=hidden).logits[0, place].log_softmax(-1)
        found.append(float(predicted[ids[0, place]]))
    return found


@pytest.mark.parametrize("family", ["bert-masked", "roberta-masked"])
def test_masked_log_probabilities_are_those_of_a_loop(tiny_model: TinyModel, family: str) -> None:
    folder = tiny_model(family)
    observed = encoder(folder).observe(SENTENCES, "log-probabilities")
    for text, found, covered in zip(SENTENCES, observed.values, observed.coverage, strict=True):
        np.testing.assert_allclose(found, masked_loop(folder, text), atol=CLOSE)
        assert len(covered.tokens) == len(found)


def test_the_head_reads_only_masked_tokens(tiny_model: TinyModel) -> None:
    model = encoder(tiny_model("bert-masked"))
    read: list[int] = []
    head = model._language_model.inner.cls
    head.register_forward_hook(lambda _, states, __: read.append(states[0][..., 0].numel()))
    observed = model.observe(SENTENCES, "log-probabilities")
    assert sum(read) == sum(map(len, observed.values))


@pytest.mark.parametrize("family", ["bert-masked", "gpt2-causal"])
def test_few_logits_are_in_memory_at_once(
    tiny_model: TinyModel, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    from weatherglass.encoders import torch_model

    model = encoder(tiny_model(family))
    whole = model.observe(SENTENCES, "log-probabilities").values
    inner = model._language_model.inner
    most = 3 * inner.config.vocab_size
    monkeypatch.setattr(torch_model, "LOGITS_PER_BATCH", most)
    monkeypatch.setattr(torch_model, "LOGITS_IN_CACHE", 1)
    made: list[int] = []
    inner.get_output_embeddings().register_forward_hook(lambda _, __, logits: made.append(logits.numel()))
    parts = model.observe(SENTENCES, "log-probabilities").values
    assert max(made) <= most
    for part, row in zip(parts, whole, strict=True):
        np.testing.assert_allclose(part, row, atol=CLOSE)


def test_sentences_are_divided_over_processes_without_a_change(tiny_model: TinyModel) -> None:
    spec = f"hf:{tiny_model('bert-masked')}"
    texts = [f"{word} {text}" for word in ("This", "people", "wasps") for text in SENTENCES[:3]] * 10
    texts = [f"{text} {'is ' * (number % 10)}" for number, text in enumerate(texts)]
    assert len(set(texts)) > SENTENCES_PER_JOB
    divided = Copied()
    one, other = (
        observe(load_encoder(spec, cache=False), texts, "log-probabilities", backend, Silent())
        for backend in (InProcess(), divided)
    )
    assert len(divided.seen) > 1
    assert one.coverage == other.coverage
    for found, row in zip(one.values, other.values, strict=True):
        np.testing.assert_array_equal(found, row)


@pytest.mark.parametrize("before_the_body", [False, True])
def test_a_head_that_is_not_a_part_of_its_own_reads_all_tokens(
    tiny_model: TinyModel, before_the_body: bool
) -> None:
    import torch

    folder = tiny_model("bert-masked")
    _, inner = loaded(folder, "AutoModelForMaskedLM")

    class Unusual(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.whole, self.ahead, self.config = inner, torch.nn.Identity(), inner.config
            self.base_model = inner.bert

        def forward(self, input_ids: Any, **inputs: Any) -> Any:
            if before_the_body:
                self.ahead(torch.zeros(*input_ids.shape, 1))
            return self.whole(input_ids=input_ids, **inputs)

    model = encoder(folder)
    model._language_model = replace(model._language_model, inner=Unusual())
    for text, found in zip(SENTENCES, model.observe(SENTENCES, "log-probabilities").values, strict=True):
        np.testing.assert_allclose(found, masked_loop(folder, text), atol=CLOSE)


def test_the_pieces_of_a_word_are_masked_together(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert-masked")
    tokenizer, _ = loaded(folder, "AutoModelForMaskedLM")
    asked = INPUTS[4]
    encoded = tokenizer(asked.text)
    together = {encoded.char_to_token(n) for n in range(12, 20)}
    (found,) = encoder(folder).observe([asked], "log-probabilities").values
    assert len(found) == len(together) > 1
    np.testing.assert_allclose(found, masked_loop(folder, asked.text, together), atol=CLOSE)
    alone = [masked_loop(folder, asked.text)[place - 1] for place in sorted(together)]
    assert np.abs(found - alone).max() > 1e-3


@pytest.mark.parametrize("family", ["bert-masked", "roberta-masked"])
def test_unmasked_log_probabilities_are_those_of_one_pass(tiny_model: TinyModel, family: str) -> None:
    import torch

    folder = tiny_model(family)
    tokenizer, model = loaded(folder, "AutoModelForMaskedLM")
    observed = encoder(folder).observe(SENTENCES, "unmasked-log-probabilities")
    for text, found in zip(SENTENCES, observed.values, strict=True):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            predicted = model(input_ids=ids).logits[0].log_softmax(-1)
        expected = predicted[torch.arange(ids.shape[1]), ids[0]][1:-1]
        np.testing.assert_allclose(found, expected, atol=CLOSE)


@pytest.mark.parametrize("family", ["bert-masked", "roberta-masked"])
def test_attended_log_probabilities_are_weighted_by_attention(tiny_model: TinyModel, family: str) -> None:
    import torch

    folder = tiny_model(family)
    tokenizer, model = loaded(folder, "AutoModelForMaskedLM")
    unmasked, attended = (
        encoder(folder).observe(SENTENCES, "unmasked-log-probabilities").values,
        encoder(folder).observe(SENTENCES, "attended-log-probabilities").values,
    )
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    for text, one, other in zip(SENTENCES, unmasked, attended, strict=True):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            attentions = model(input_ids=ids, output_attentions=True).attentions
        # As in the published code: the mean over layers, then heads, then the tokens that attend.
        received = torch.cat(attentions, 0).mean(0).mean(0).mean(0)[1:-1]
        np.testing.assert_allclose(other, one * received.numpy(), atol=CLOSE)
    model.set_attn_implementation(before)


@pytest.mark.parametrize("family", ["bert-masked", "gpt2-causal"])
def test_other_texts_in_the_batch_change_nothing(tiny_model: TinyModel, family: str) -> None:
    model = encoder(tiny_model(family), dtype="float32")
    all_at_once = model.observe([*SENTENCES, *INPUTS], "log-probabilities").values
    asked: list[Asked] = [*SENTENCES, *INPUTS]
    one_by_one = [model.observe([each], "log-probabilities").values[0] for each in asked]
    for together, alone in zip(all_at_once, one_by_one, strict=True):
        np.testing.assert_allclose(together, alone, atol=1e-6, rtol=1e-6)


def causal_loop(folder: Path, text: str, first: list[int]) -> list[float]:
    import torch

    tokenizer, model = loaded(folder, "AutoModelForCausalLM")
    ids = [*first, *tokenizer(text)["input_ids"]]
    found = []
    for place in range(len(first), len(ids)):
        if not place:
            found.append(np.nan)
            continue
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids[:place]])).logits[0, -1]
        found.append(float(logits.log_softmax(-1)[ids[place]]))
    return found


@pytest.mark.parametrize("special_tokens", ["yes", "no"])
def test_causal_log_probabilities_are_those_of_a_loop(tiny_model: TinyModel, special_tokens: str) -> None:
    folder = tiny_model("gpt2-causal")
    model = encoder(folder, special_tokens=special_tokens)
    tokenizer, _ = loaded(folder, "AutoModelForCausalLM")
    first = [tokenizer.eos_token_id] if special_tokens == "yes" else []
    observed = model.observe(SENTENCES, "log-probabilities")
    for text, found, covered in zip(SENTENCES, observed.values, observed.coverage, strict=True):
        np.testing.assert_allclose(found, causal_loop(folder, text, first), atol=CLOSE)
        assert len(covered.tokens) == len(found)
        assert bool(covered.note) == (special_tokens == "no")
    (word,) = model.observe([INPUTS[1]], "log-probabilities").values
    whole = list(observed.values[0])
    assert any(np.allclose(word, whole[n : n + len(word)], atol=CLOSE) for n in range(1, len(whole)))


BRANCHES = ["The engineer is here .", "The engineer is there .", "The engineer was here .", "wasps", "The"]


def test_a_causal_model_reads_a_shared_beginning_once(tiny_model: TinyModel) -> None:
    folder = tiny_model("gpt2-causal")
    model, (tokenizer, _) = encoder(folder), loaded(folder, "AutoModelForCausalLM")
    assert model._reads_trees
    read: list[int] = []
    hook = lambda _, given: read.append(given[0].numel())  # noqa: E731
    model._language_model.inner.get_input_embeddings().register_forward_pre_hook(hook)
    observed = model.observe(BRANCHES, "log-probabilities")
    first = [tokenizer.eos_token_id]
    for text, found in zip(BRANCHES, observed.values, strict=True):
        np.testing.assert_allclose(found, causal_loop(folder, text, first), atol=CLOSE)
    ids = [[*first, *tokenizer(text)["input_ids"][:-1]] for text in BRANCHES]
    # No token is read to predict nothing, and the positions come from a table that is read apart.
    assert read == [len({tuple(some[:end]) for some in ids for end in range(1, len(some) + 1)})]


@pytest.mark.parametrize("ignored", ["attention_mask", "position_ids"])
def test_a_model_that_cannot_read_trees_reads_single_texts(
    tiny_model: TinyModel, monkeypatch: pytest.MonkeyPatch, ignored: str
) -> None:
    run = TorchModel._run

    def partly(self: TorchModel, inputs: dict[str, Any], **options: bool) -> Any:
        return run(self, {name: value for name, value in inputs.items() if name != ignored}, **options)

    monkeypatch.setattr(TorchModel, "_run", partly)
    folder = tiny_model("gpt2-causal")
    model, (tokenizer, _) = encoder(folder), loaded(folder, "AutoModelForCausalLM")
    assert not model._reads_trees
    for text, found in zip(BRANCHES, model.observe(BRANCHES, "log-probabilities").values, strict=True):
        np.testing.assert_allclose(found, causal_loop(folder, text, [tokenizer.eos_token_id]), atol=CLOSE)


def test_a_text_as_long_as_the_model_reads_leaves_room_for_its_beginning(tiny_model: TinyModel) -> None:
    model = encoder(tiny_model("gpt2-causal"))
    (found,) = model.observe(["is " * 2 * POSITIONS], "log-probabilities").values
    assert len(found) == POSITIONS - 1
    assert np.isfinite(found).all()


def test_the_tokens_of_a_prompt_have_no_log_probability(tiny_model: TinyModel) -> None:
    folder = tiny_model("gpt2-causal")
    (found,) = encoder(folder, prompt="This is ").observe(["a wasp"], "log-probabilities").values
    tokenizer, _ = loaded(folder, "AutoModelForCausalLM")
    whole = causal_loop(folder, "This is a wasp", [tokenizer.eos_token_id])
    np.testing.assert_allclose(found, whole[-len(found) :], atol=CLOSE)
    assert 0 < len(found) < len(whole)


def test_an_empty_text_has_no_log_probabilities(tiny_model: TinyModel) -> None:
    for family in ("bert-masked", "gpt2-causal"):
        observed = encoder(tiny_model(family)).observe(["", "wasps"], "log-probabilities")
        assert [observed.known(row) for row in range(2)] == [False, True]
        assert len(observed.values[0]) == 0


def test_a_model_says_what_it_gives(tiny_model: TinyModel) -> None:
    for family in FAMILIES:
        model = encoder(tiny_model(family))
        assert model.gives == {"vectors", "token-vectors"}
        with pytest.raises(EncoderError, match=naming(str(tiny_model(family)), "log-probabilities")):
            model.observe(SENTENCES, "log-probabilities")
    assert "log-probabilities" in encoder(tiny_model("gpt2-causal")).gives


def test_a_head_that_the_file_lacks_is_not_made_up(tiny_model: TinyModel, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    shutil.copy(tiny_model("bert-masked") / "config.json", folder / "config.json")
    with pytest.raises(EncoderError, match=naming("cls.predictions.bias")):
        encoder(folder).observe(SENTENCES, "log-probabilities")


@pytest.mark.parametrize("family", ["bert-masked", "gpt2-causal"])
def test_a_pair_in_memory_gives_the_same(tiny_model: TinyModel, family: str) -> None:
    kind = "AutoModelForMaskedLM" if family == "bert-masked" else "AutoModelForCausalLM"
    tokenizer, model = loaded(tiny_model(family), kind)
    model.train()
    held = wg.model((model, tokenizer))
    for what in sorted(held.gives):
        expected = encoder(tiny_model(family)).observe(INPUTS, what).values
        for found, row in zip(held.observe(INPUTS, what).values, expected, strict=True):
            np.testing.assert_allclose(found, row, atol=CLOSE)
    assert model.training
    model.eval()


def test_the_audit_asks_once_through_the_cache(
    tiny_model: TinyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = f"hf:{tiny_model('bert-masked')}"
    first = observe(load_encoder(spec), [*INPUTS, *INPUTS], "log-probabilities", InProcess(), Silent())
    assert first.inputs == INPUTS
    monkeypatch.setattr(TransformerEncoder, "_log_probabilities", None)
    again = observe(load_encoder(spec), INPUTS, "log-probabilities", InProcess(), Silent())
    for found, row in zip(again.values, first.values, strict=True):
        np.testing.assert_array_equal(found, row)
    assert again.coverage == first.coverage


def test_a_wrong_span_pooling_is_told_before_weights_are_loaded(tiny_model: TinyModel) -> None:
    with pytest.raises(SpecError, match=naming("span_pooling=men", suggesting="mean")):
        encoder(tiny_model("bert"), span_pooling="men")
