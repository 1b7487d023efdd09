"""`onnx:` against plain onnxruntime and tokenizers, what it takes from a model's files, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.onnx.tiny_graphs import MODULES, build, lookup
from tests.encoders.transformers.tiny_models import SIZE
from tests.messages import mentions, naming

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders import load_encoder, resolve_spec
from weatherglass.encoders.onnx import OnnxEncoder
from weatherglass.encoders.onnx_files import read_graph
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError, UnsafeFileError, WeatherglassError

pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
onnx = pytest.importorskip("onnx", reason="a development dependency")

TinyModel = Callable[[str], Path]

TEXTS = ["This is a rose.", "wasp", "The engineer is here and the nurse was there", "love", "a 漢 rose"]
CLOSE = 1e-5


@pytest.fixture(scope="session")
def exported(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tiny_model("bert"), tmp_path_factory.mktemp("onnx") / "model")


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return shutil.copytree(exported, tmp_path / "model")


def encoder(target: Path, **options: str) -> OnnxEncoder:
    return OnnxEncoder.from_spec(Spec("onnx", str(target), tuple(options.items())))


def states_of(folder: Path, text: str, graph: str = "model.onnx") -> AnyMatrix:
    """The tokens' vectors by the plain libraries, one text alone."""
    import onnxruntime
    from tokenizers import Tokenizer

    encoding = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text)
    session = onnxruntime.InferenceSession(str(folder / graph))
    columns = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    inputs = {port.name: np.array([columns[port.name]]) for port in session.get_inputs()}
    states: AnyMatrix = session.run(None, inputs)[0][0]
    return states


def test_vectors_are_those_of_plain_onnxruntime(exported: Path) -> None:
    means = np.array([states_of(exported, text).mean(axis=0) for text in TEXTS])
    expected = means / np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(encoder(exported).encode(TEXTS), expected, atol=CLOSE)


def test_vectors_are_those_of_torch_and_sentence_transformers(exported: Path, tiny_model: TinyModel) -> None:
    torch_vectors = load_encoder(f"hf:{tiny_model('bert')}?pooling=mean&normalise=yes", cache=False).encode(
        TEXTS
    )
    np.testing.assert_allclose(encoder(exported).encode(TEXTS), torch_vectors, atol=CLOSE)


@pytest.mark.parametrize(
    ("pooling", "by_hand"),
    [
        ("cls", lambda states: states[0]),
        ("last", lambda states: states[-1]),
        ("max", lambda states: states.max(axis=0)),
        ("mean", lambda states: states.mean(axis=0)),
    ],
)
def test_each_pooling_is_the_hand_computation(
    exported: Path, pooling: str, by_hand: Callable[[AnyMatrix], AnyMatrix]
) -> None:
    vectors = encoder(exported, pooling=pooling, normalise="no").encode(TEXTS)
    np.testing.assert_allclose(vectors, [by_hand(states_of(exported, text)) for text in TEXTS], atol=CLOSE)


def test_a_text_has_the_same_vector_in_a_batch_as_alone(exported: Path) -> None:
    alone = encoder(exported, batch_size="1").encode(TEXTS)
    np.testing.assert_allclose(encoder(exported, batch_size="4").encode(TEXTS), alone, atol=CLOSE)


def test_what_the_models_files_decide_is_on_record(exported: Path) -> None:
    model = encoder(exported)
    assert (model.options["pooling"], model.options["normalise"]) == ("mean", "yes")
    (note,) = model.notes()
    assert mentions(note, f"'{model.name}'", "max_length=40, normalise=yes, pooling=mean")
    assert "pooling=" not in encoder(exported, pooling="cls").notes()[0].rpartition("':")[2]


@pytest.mark.parametrize(
    ("configuration", "pooling"),
    [
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": ["lasttoken"]}, "last"),
        ({"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": False}, "max"),
    ],
)
def test_both_formats_of_a_pooling_configuration_are_read(
    folder: Path, configuration: dict[str, Any], pooling: str
) -> None:
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(configuration))
    assert encoder(folder).options["pooling"] == pooling


def test_pooling_is_never_guessed(folder: Path) -> None:
    shutil.rmtree(folder / "1_Pooling")
    (folder / "modules.json").unlink()
    with pytest.raises(SpecError, match=naming("pooling=mean")):
        encoder(folder)
    assert encoder(folder, pooling="mean").options["normalise"] == "no"


def test_a_pooled_output_is_taken_as_it_is(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    pooled = onnx.helper.make_tensor_value_info("sentence_embedding", onnx.TensorProto.FLOAT, ["batch", SIZE])
    node = onnx.helper.make_node(
        "ReduceMax", ["last_hidden_state"], ["sentence_embedding"], axes=[1], keepdims=0
    )
    model.graph.node.append(node)
    model.graph.output.append(pooled)
    onnx.save(model, folder / "model.onnx")
    chosen = encoder(folder, normalise="no", batch_size="1")
    assert (chosen.options["output"], chosen.options["pooling"]) == ("sentence_embedding", "graph")
    expected = [states_of(folder, text).max(axis=0) for text in TEXTS]
    np.testing.assert_allclose(chosen.encode(TEXTS), expected, atol=CLOSE)
    assert encoder(folder, output="last_hidden_state").options["pooling"] == "mean"
    with pytest.raises(SpecError, match=naming("pooling=mean", "'sentence_embedding'")):
        encoder(folder, pooling="mean")
    with pytest.raises(SpecError, match=naming("'pooler'", "last_hidden_state, sentence_embedding")):
        encoder(folder, output="pooler")


def test_inputs_are_those_that_the_graph_names_in_its_types(folder: Path) -> None:
    onnx.save(lookup(120), folder / "model.onnx")  # input_ids alone, as int32
    vectors = encoder(folder, normalise="no").encode(["wasp", "This is a rose"])
    assert vectors.shape == (2, SIZE)
    assert np.isfinite(vectors).all()


def test_a_graph_is_found_by_folder_by_name_and_by_file(folder: Path) -> None:
    first = encoder(folder).encode(TEXTS)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model_quantized.onnx")
    for found in (encoder(folder), encoder(folder / "onnx" / "model_quantized.onnx")):
        assert found.options["file"] == "onnx/model_quantized.onnx"
        np.testing.assert_array_equal(found.encode(TEXTS), first)
    shutil.copy(folder / "onnx" / "model_quantized.onnx", folder / "onnx" / "model_int8.onnx")
    with pytest.raises(
        SpecError, match=naming("file=NAME", "onnx/model_int8.onnx", "onnx/model_quantized.onnx")
    ):
        encoder(folder)
    assert encoder(folder, file="model_int8.onnx").options["file"] == "onnx/model_int8.onnx"


def test_a_path_alone_is_enough(exported: Path) -> None:
    assert resolve_spec(str(exported / "model.onnx")).kind == "onnx"
    assert resolve_spec(str(exported)).kind == "onnx"


def test_external_tensors_are_read_and_are_a_part_of_the_identity(folder: Path) -> None:
    whole = encoder(folder)
    vectors, identity = whole.encode(TEXTS), whole.identity()
    model = onnx.load(folder / "model.onnx")
    onnx.save(
        model, folder / "model.onnx", save_as_external_data=True, location="model.onnx_data", size_threshold=0
    )
    outside = encoder(folder)
    np.testing.assert_array_equal(outside.encode(TEXTS), vectors)
    before = outside.identity()
    assert before != identity
    tensors = bytearray((folder / "model.onnx_data").read_bytes())
    tensors[100] ^= 1
    (folder / "model.onnx_data").write_bytes(tensors)
    assert encoder(folder).identity() != before
    (folder / "model.onnx_data").unlink()
    with pytest.raises(EncoderError, match=naming(folder / "model.onnx", "'model.onnx_data'")):
        encoder(folder)


@pytest.mark.parametrize("location", ["../secret", "/etc/hosts", "a/../../b", "..\\secret"])
def test_tensors_outside_the_folder_are_refused(folder: Path, location: str) -> None:
    model = lookup(120)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(UnsafeFileError, match=naming(folder / "model.onnx", f"'{location}'")):
        encoder(folder)


def test_custom_operators_are_refused_by_name(folder: Path) -> None:
    onnx.save(lookup(120, domain="ai.onnx.contrib"), folder / "model.onnx")
    with pytest.raises(UnsafeFileError, match=naming("'ai.onnx.contrib.Own'")):
        encoder(folder)


def test_a_custom_operator_within_a_branch_is_found(tmp_path: Path) -> None:
    inner = lookup(9, domain="own").graph
    branch = onnx.helper.make_graph(inner.node, "branch", [], inner.output)
    outer = lookup(9)
    outer.graph.node.append(onnx.helper.make_node("If", ["c"], ["d"], then_branch=branch, else_branch=branch))
    (tmp_path / "model.onnx").write_bytes(outer.SerializeToString())
    with pytest.raises(UnsafeFileError, match=r"'own\.Own'"):
        read_graph(tmp_path / "model.onnx")


def test_functions_within_the_file_are_no_custom_operators(tmp_path: Path) -> None:
    model = lookup(9, domain="own")
    gather = onnx.helper.make_node("Gather", ["t", "i"], ["o"])
    opset = [onnx.helper.make_opsetid("", 17)]
    model.functions.append(onnx.helper.make_function("own", "Own", ["t", "i"], ["o"], [gather], opset))
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    assert ("own", "Own") in read_graph(tmp_path / "model.onnx").operators


def test_modules_that_are_code_are_refused_by_name(folder: Path) -> None:
    own = {"idx": 3, "name": "3", "path": "", "type": "own_module.Own"}
    (folder / "modules.json").write_text(json.dumps([*MODULES, own]))
    with pytest.raises(UnsafeFileError, match=naming("'own_module.Own'")) as caught:
        encoder(folder)
    assert "trust_remote_code" not in str(caught.value)


def test_modules_that_the_graph_leaves_out_are_told(folder: Path) -> None:
    dense = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (folder / "modules.json").write_text(json.dumps([*MODULES[:2], dense]))
    with pytest.raises(SpecError, match=naming("modules.json", "Dense", "pooling=mean")):
        encoder(folder)


@pytest.mark.parametrize(
    ("content", "term"),
    [
        (b"", "empty"),
        (b"a text, and not a model at all", "ONNX"),
        (b"\x08\x08", "outputs"),
        (b"GGUF\x03\x00\x00\x00", "ONNX"),
        (bytes(1000), "ONNX"),
        (None, "damaged"),
    ],
)
def test_a_damaged_or_foreign_file_is_one_line(folder: Path, content: bytes | None, term: str) -> None:
    whole = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(whole[: len(whole) // 2] if content is None else content)
    with pytest.raises(EncoderError, match=r"^[^\n]*$") as caught:
        encoder(folder)
    assert mentions(str(caught.value), folder / "model.onnx", term)


def test_a_flipped_byte_is_our_error_or_none(folder: Path) -> None:
    whole = (folder / "model.onnx").read_bytes()
    random = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(whole)
        for position in random.integers(0, min(3000, len(whole)), size=3):
            damaged[position] ^= int(random.integers(1, 256))
        (folder / "model.onnx").write_bytes(damaged)
        with suppress(WeatherglassError):  # any other error fails the test
            read_graph(folder / "model.onnx")


@pytest.mark.parametrize("file", ["tokenizer.json", "modules.json", "1_Pooling/config.json"])
def test_a_damaged_file_beside_the_graph_is_one_line(folder: Path, file: str) -> None:
    (folder / file).write_text("{")
    with pytest.raises(EncoderError, match=r"^[^\n]*$") as caught:
        encoder(folder).encode(TEXTS)
    assert str(folder / file) in str(caught.value)


def test_what_is_missing_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpecError, match=naming(tmp_path / "empty", "ONNX file")):
        encoder(tmp_path / "empty")
    with pytest.raises(SpecError, match=naming(f"'{tmp_path / 'absent'}'", "hf download")):
        encoder(tmp_path / "absent")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EncoderError, match=naming(folder, "tokenizer.json", "save_pretrained(FOLDER)")):
        encoder(folder)


def test_a_graph_that_is_no_text_encoder_is_told(folder: Path) -> None:
    model = lookup(120)
    model.graph.input[0].name = model.graph.node[0].input[1] = "pixel_values"
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(EncoderError, match=naming("pixel_values", "input_ids")):
        encoder(folder)


def test_a_tokenizer_of_another_model_is_told(folder: Path) -> None:
    onnx.save(lookup(3), folder / "model.onnx")
    with pytest.raises(EncoderError, match=naming("tokenizer")):
        encoder(folder).encode(TEXTS)


def test_a_long_text_is_cut_and_the_cut_is_on_record(exported: Path) -> None:
    model = encoder(exported, max_length="8")
    (coverage,) = model.coverage(["the wasp is here " * 30])
    assert len(coverage.tokens) == 8
    assert mentions(coverage.note, 8)
    assert mentions(model.coverage(["a 漢 rose"])[0].note, 1, "[UNK]")


def test_a_dynamically_quantised_graph_is_encoded_text_by_text(folder: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(str(folder / "model.onnx"), str(folder / "int8.onnx"), weight_type=QuantType.QInt8)
    model = encoder(folder, file="int8.onnx", normalise="no")
    assert model.options["batch_size"] == "1"
    assert mentions(model.notes()[1], "quantised", "batch_size=1")
    expected = [states_of(folder, text, "int8.onnx").mean(axis=0) for text in TEXTS]
    np.testing.assert_allclose(model.encode(TEXTS), expected, atol=CLOSE)
    together = encoder(folder, file="int8.onnx", normalise="no", batch_size="5")
    assert np.abs(together.encode(TEXTS) - expected).max() > CLOSE  # why batches of one are the default
    assert together.identity() != model.identity()


def test_identity_follows_files_and_choices_and_not_the_batch_size(exported: Path, folder: Path) -> None:
    first = encoder(exported).identity()
    assert encoder(folder).identity() == first
    assert encoder(folder, batch_size="3").identity() == first
    others = [
        {"pooling": "cls"},
        {"normalise": "no"},
        {"max_length": "9"},
        {"lowercase": "yes"},
        {"prompt": "a "},
    ]
    assert len({first, *(encoder(folder, **options).identity() for options in others)}) == 1 + len(others)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**tokenizer, "normalizer": {"type": "Lowercase"}}))
    assert encoder(folder).identity() != first


def test_checking_a_spec_loads_neither_onnxruntime_nor_torch(exported: Path) -> None:
    program = (
        "import sys; from weatherglass.encoders import load_encoder;"
        f"e = load_encoder({f'onnx:{exported}'!r}); e.identity(); dict(e.options); e.notes();"
        "sys.exit(sum(name in sys.modules for name in ('torch', 'onnxruntime', 'tokenizers')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_cache_serves_an_onnx_model(exported: Path) -> None:
    first = load_encoder(f"onnx:{exported}").encode(TEXTS)
    again = load_encoder(f"onnx:{exported}")
    np.testing.assert_array_equal(again.encode(TEXTS), first)
    assert "_session" not in vars(again.inner)  # type: ignore[attr-defined]
