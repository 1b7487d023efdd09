"""`hf:` against hand computations from the hidden states, on tiny models of four architectures."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.transformers.tiny_models import FAMILIES, LAYERS, POSITIONS, SIZE
from tests.messages import mentions, naming

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.transformers import TransformerEncoder
from weatherglass.errors import EncoderError, SpecError, UnsafeFileError, WeatherglassError

TinyModel = Callable[[str], Path]

TEXTS = (
    "This is a rose.",
    "wasp",
    "The engineer is here and people like freedom.",
    "That is an insect.",
    "Unbelievable horrible filth was there",
)

WITH_CLS = ("bert", "roberta")


CLOSE = 1e-10
"""In float64, so that a wrong formula cannot hide behind rounding."""


def encoder(folder: Path, **options: str) -> TransformerEncoder:
    return TransformerEncoder.from_spec(
        Spec("hf", str(folder), tuple({"dtype": "float64", **options}.items()))
    )


@cache
def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).double().eval()


def states_of(folder: Path, text: str, special_tokens: bool = True) -> list[AnyMatrix]:
    """One (tokens, dimensions) matrix per layer for one text alone, straight from transformers."""
    import torch

    tokenizer, model = loaded(folder)
    fed = tokenizer(text, return_tensors="pt", add_special_tokens=special_tokens)
    with torch.no_grad():
        output = model(**fed, output_hidden_states=True)
    torch.testing.assert_close(output.last_hidden_state, output.hidden_states[-1])
    return [state[0].numpy() for state in output.hidden_states]


BY_HAND: dict[str, Callable[[AnyMatrix], AnyMatrix]] = {
    "cls": lambda states: states[0],
    "first": lambda states: states[0],
    "mean": lambda states: states.mean(axis=0),
    "max": lambda states: states.max(axis=0),
    "last": lambda states: states[-1],
}


@pytest.mark.parametrize(
    ("family", "pooling"),
    [(f, pooling) for f in FAMILIES for pooling in BY_HAND if pooling != "cls" or f in WITH_CLS],
)
def test_each_pooling_is_the_hand_computation(tiny_model: TinyModel, family: str, pooling: str) -> None:
    folder = tiny_model(family)
    vectors = encoder(folder, pooling=pooling).encode(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, BY_HAND[pooling](states_of(folder, text)[-1]), atol=CLOSE)


def last_four(s: list[AnyMatrix]) -> AnyMatrix:
    return s[-4] + s[-3] + s[-2] + s[-1]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("layers", "by_hand"),
    [
        ("-1", lambda s: s[3]),
        ("0", lambda s: s[0]),
        ("2", lambda s: s[2]),
        ("sum", lambda s: s[0] + s[1] + s[2] + s[3]),
        ("sum:-4..", last_four),
        ("sum:..1", lambda s: s[0] + s[1]),
        ("mean:1..3", lambda s: (s[1] + s[2] + s[3]) / 3),
        ("concat", lambda s: np.concatenate([s[0], s[1], s[2], s[3]])),
        ("concat:-2..", lambda s: np.concatenate([s[2], s[3]])),
    ],
)
def test_each_choice_of_layers_is_the_hand_computation(
    tiny_model: TinyModel, family: str, layers: str, by_hand: Callable[[list[AnyMatrix]], AnyMatrix]
) -> None:
    folder = tiny_model(family)
    text = TEXTS[0]
    (vector,) = encoder(folder, pooling="mean", layers=layers).encode([text])
    pooled = [states.mean(axis=0) for states in states_of(folder, text)]
    np.testing.assert_allclose(vector, by_hand(pooled), atol=CLOSE)


def test_tokens_are_pooled_before_layers_are_joined(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    (vector,) = encoder(folder, pooling="max", layers="sum").encode([TEXTS[0]])
    states = states_of(folder, TEXTS[0])
    np.testing.assert_allclose(vector, sum(layer.max(axis=0) for layer in states), atol=CLOSE)
    assert np.abs(vector - np.sum(states, axis=0).max(axis=0)).max() > 1e-2


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_has_the_same_vector_in_a_batch_as_alone(
    tiny_model: TinyModel, tmp_path: Path, family: str, side: str
) -> None:
    folder = shutil.copytree(tiny_model(family), tmp_path / "model")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "padding_side": side}))
    for pooling in ("mean", "last"):
        together = encoder(folder, pooling=pooling, batch_size="5").encode(TEXTS)
        alone = encoder(folder, pooling=pooling, batch_size="1").encode(TEXTS)
        np.testing.assert_allclose(together, alone, atol=CLOSE)


def test_a_longest_length_that_is_no_number_is_one_line(tiny_model: TinyModel, tmp_path: Path) -> None:
    """Found by the fuzzer: transformers keeps whatever stands there."""
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": {"512": 1}}))
    with pytest.raises(EncoderError, match=naming("model_max_length", "tokenizer_config.json")):
        encoder(folder).encode(TEXTS)


def test_the_order_of_the_texts_is_kept(tiny_model: TinyModel) -> None:
    model = encoder(tiny_model("bert"), batch_size="2")
    forth, back = model.encode(TEXTS), model.encode(TEXTS[::-1])
    np.testing.assert_allclose(forth, back[::-1], atol=CLOSE)


def test_without_special_tokens_the_first_piece_stands_first(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    model = encoder(folder, pooling="first", special_tokens="no")
    np.testing.assert_allclose(
        model.encode([TEXTS[0]])[0], states_of(folder, TEXTS[0], special_tokens=False)[-1][0], atol=CLOSE
    )
    assert "[CLS]" not in model.coverage([TEXTS[0]])[0].tokens


def test_lowercase_lowers_the_text_before_it_is_split(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    lowered, plain = encoder(folder, lowercase="yes"), encoder(folder)
    np.testing.assert_array_equal(lowered.encode(["This Is"]), plain.encode(["this is"]))
    assert np.abs(plain.encode(["This Is"]) - plain.encode(["this is"])).max() > 1e-2


def test_normalised_vectors_have_unit_length(tiny_model: TinyModel) -> None:
    vectors = encoder(tiny_model("roberta"), pooling="mean", normalise="yes").encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_longer_than_the_model_is_cut_and_the_cut_is_on_record(
    tiny_model: TinyModel, family: str
) -> None:
    model = encoder(tiny_model(family))
    long = "the wasp is here " * 30
    (coverage,) = model.coverage([long])
    assert len(coverage.tokens) == POSITIONS
    assert mentions(coverage.note, POSITIONS)
    assert np.isfinite(model.encode([long])).all()


def test_a_shorter_limit_of_the_users_own_is_kept(tiny_model: TinyModel) -> None:
    (coverage,) = encoder(tiny_model("bert"), max_length="5").coverage(["This is a rose."])
    assert len(coverage.tokens) == 5
    assert coverage.tokens[-1] == "[SEP]"


def test_a_text_without_tokens_is_a_row_of_nan_and_leaves_the_others_alone(tiny_model: TinyModel) -> None:
    model = encoder(tiny_model("gpt2"))
    vectors = model.encode(["", TEXTS[0]])
    assert np.isnan(vectors[0]).all()
    np.testing.assert_allclose(vectors[1], model.encode([TEXTS[0]])[0], atol=CLOSE)
    assert "tokens" in model.coverage([""])[0].note


def test_pieces_unknown_to_the_model_are_on_record(tiny_model: TinyModel) -> None:
    (coverage,) = encoder(tiny_model("bert")).coverage(["a 漢 rose"])
    assert "[UNK]" in coverage.tokens
    assert mentions(coverage.note, 1, "[UNK]")


def test_the_default_pooling_is_the_papers(tiny_model: TinyModel) -> None:
    poolings = {family: encoder(tiny_model(family)).options["pooling"] for family in FAMILIES}
    assert poolings == {"bert": "cls", "roberta": "cls", "gpt2": "last", "openai-gpt": "last"}


def test_the_encoder_half_of_an_encoder_decoder_is_used(tmp_path: Path, tiny_model: TinyModel) -> None:
    import torch
    from transformers import AutoTokenizer, T5Config, T5Model

    tokenizer = AutoTokenizer.from_pretrained(tiny_model("bert"))
    config = T5Config(vocab_size=len(tokenizer), d_model=SIZE, d_kv=8, d_ff=24, num_layers=2, num_heads=2)
    torch.manual_seed(0)
    T5Model(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (vector,) = encoder(tmp_path, pooling="mean").encode([TEXTS[0]])
    ids = tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    with torch.no_grad():
        states = T5Model.from_pretrained(tmp_path).double().eval().encoder(ids).last_hidden_state[0]
    np.testing.assert_allclose(vector, states.mean(dim=0).numpy(), atol=CLOSE)


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({"pooling": "cls", "special_tokens": "no"}, ["pooling=cls", "special_tokens=yes", "pooling=first"]),
        ({"pooling": "men"}, ["pooling=men", "'mean'"]),
        ({"layers": "4"}, ["layers=4", 0, LAYERS]),
        ({"layers": "sum:2..1"}, ["layers=sum:2..1", "2 to 1"]),
        ({"layers": "top"}, ["layers=top", "sum:-4.."]),
        ({"max_length": "41"}, ["max_length=41", POSITIONS]),
        ({"batch_size": "0"}, ["batch_size=0", 1]),
        ({"poling": "mean"}, ["'poling'", "'pooling'"]),
        ({"revision": "main"}, ["revision=main", "folder"]),
    ],
)
def test_a_mistake_in_the_spec_is_told_before_weights_are_loaded(
    tiny_model: TinyModel, options: dict[str, str], facts: list[object]
) -> None:
    with pytest.raises(SpecError, match=r"^[^\n]*$") as caught:
        encoder(tiny_model("bert"), **options)
    assert mentions(str(caught.value), *facts)


def test_cls_pooling_of_a_model_without_cls_token_is_an_error(tiny_model: TinyModel) -> None:
    with pytest.raises(EncoderError, match=naming("pooling=cls", "pooling=first", "mean", "last")):
        encoder(tiny_model("gpt2"), pooling="cls").encode(TEXTS)


def test_a_folder_that_is_no_model_is_told(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    with pytest.raises(SpecError, match=naming(tmp_path, "config.json")):
        encoder(tmp_path)
    with pytest.raises(SpecError, match=naming(f"'{tmp_path / 'absent'}'", "folder")):
        encoder(tmp_path / "absent")


def test_weights_that_the_file_lacks_are_never_made_up(tiny_model: TinyModel, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    lost = next(name for name in weights if "layer.1" in name)
    save_file({k: v for k, v in weights.items() if k != lost}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(EncoderError, match=naming(1, lost)):
        encoder(folder).encode(TEXTS)


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_damaged_file_is_one_line_with_the_models_name(
    tiny_model: TinyModel, tmp_path: Path, file: str
) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[: len(content) // 2])
    with pytest.raises(EncoderError, match=r"^[^\n]*$") as caught:
        encoder(folder).encode(TEXTS)
    assert str(folder) in str(caught.value)


def test_a_tokenizer_of_another_model_is_told(tiny_model: TinyModel, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny_model("roberta") / file, folder / file)
    with pytest.raises(EncoderError, match=naming("tokenizer")):
        encoder(folder).encode(["漢字"])  # bytes whose numbers are above the 120 that this model knows


class TellTale:
    """Unpickled with an ordinary unpickler, it creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def pickled_weights(folder: Path, payload: Path) -> None:
    """Replace the safetensors by a .bin that runs code when it is unpickled."""
    import torch

    (folder / "model.safetensors").unlink(missing_ok=True)
    torch.save({"embeddings.word_embeddings.weight": TellTale(payload)}, folder / "pytorch_model.bin")


def test_weights_that_would_run_code_are_refused_and_do_not_run(
    tiny_model: TinyModel, tmp_path: Path
) -> None:
    import torch

    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    payload = tmp_path / "it ran"
    pickled_weights(folder, payload)
    with pytest.raises(UnsafeFileError, match=r"^[^\n]*$"):
        encoder(folder).encode(TEXTS)
    assert not payload.exists()
    torch.load(folder / "pytorch_model.bin", weights_only=False)  # our own file: shows that it would have run
    assert payload.exists()


def test_safetensors_are_preferred_to_a_pickle_beside_them(tiny_model: TinyModel, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    weights = (folder / "model.safetensors").read_bytes()
    pickled_weights(folder, tmp_path / "it ran")
    (folder / "model.safetensors").write_bytes(weights)
    np.testing.assert_array_equal(encoder(folder).encode(TEXTS), encoder(tiny_model("bert")).encode(TEXTS))
    assert not (tmp_path / "it ran").exists()


def test_a_plain_pickle_of_tensors_is_read(tiny_model: TinyModel, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    np.testing.assert_array_equal(encoder(folder).encode(TEXTS), encoder(tiny_model("bert")).encode(TEXTS))


def code_in_folder(folder: Path, payload: Path) -> None:
    """A model whose config names code that lies beside it."""
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "telltale",
        "auto_map": {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(
        f"from pathlib import Path\nPath({str(payload)!r}).touch()\n"
        "from transformers import BertConfig, BertModel\n"
        "class OwnConfig(BertConfig):\n    model_type = 'telltale'\n"
        "class OwnModel(BertModel):\n    config_class = OwnConfig\n"
    )


def test_a_models_own_code_runs_only_when_the_spec_says_so_and_then_it_is_noted(
    tiny_model: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    payload = tmp_path / "it ran"
    code_in_folder(folder, payload)
    with pytest.raises(
        UnsafeFileError, match=naming("own.OwnConfig", "own.OwnModel", "trust_remote_code=yes")
    ):
        encoder(folder).encode(TEXTS)
    assert not payload.exists()
    assert encoder(folder).notes() == []

    trusting = encoder(folder, trust_remote_code="yes")
    np.testing.assert_array_equal(trusting.encode(TEXTS), encoder(tiny_model("bert")).encode(TEXTS))
    assert payload.exists()
    assert "trust_remote_code=yes" in trusting.notes()[0]


def test_identity_needs_no_torch_and_follows_weights_and_choices(
    tiny_model: TinyModel, tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    first = encoder(folder).identity()
    assert encoder(tiny_model("bert")).identity() == first  # wherever the folder lies
    assert encoder(folder, batch_size="3").identity() == first
    others = [
        {"pooling": "mean"},
        {"layers": "2"},
        {"lowercase": "yes"},
        {"normalise": "yes"},
        {"max_length": "9"},
    ]
    assert len({first, *(encoder(folder, **options).identity() for options in others)}) == 1 + len(others)
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    assert encoder(folder).identity() != first


def test_building_an_encoder_and_asking_its_identity_imports_no_torch(tiny_model: TinyModel) -> None:
    import subprocess

    program = (
        "import sys; from weatherglass.encoders.spec import Spec;"
        "from weatherglass.encoders.transformers import TransformerEncoder as E;"
        f"e = E.from_spec(Spec('hf', {str(tiny_model('bert'))!r})); e.identity(); dict(e.options); e.notes();"
        "sys.exit(sum(name in sys.modules for name in ('torch', 'transformers', 'tokenizers')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_hub_name_without_network_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")  # nothing listens there
    with pytest.raises(WeatherglassError, match=r"^[^\n]*$") as caught:
        encoder(Path("nobody/no-such-model"))
    assert mentions(str(caught.value), "'nobody/no-such-model'", "Hugging Face cache", "folder")


def test_a_hub_name_in_the_local_cache_is_used_without_network(
    tiny_model: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    store = tmp_path / "models--someone--tiny"
    shutil.copytree(tiny_model("bert"), store / "snapshots" / commit)
    (store / "refs").mkdir()
    (store / "refs" / "main").write_text(commit)
    for place in (
        "huggingface_hub.constants.HF_HUB_CACHE",
        "huggingface_hub.file_download.constants.HF_HUB_CACHE",
    ):
        monkeypatch.setattr(place, str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    model = encoder(Path("someone/tiny"))
    assert model.options["revision"] == commit
    np.testing.assert_array_equal(model.encode(TEXTS), encoder(tiny_model("bert")).encode(TEXTS))
