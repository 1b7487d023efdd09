"""Prompts: the user's text, or the model's own by name, against sentence-transformers' `encode(prompt_name=…)`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.messages import mentions, naming

from weatherglass.encoders import load_encoder
from weatherglass.encoders.base import Input, ModelEncoder
from weatherglass.encoders.prompts import CONFIGURATION
from weatherglass.errors import EncoderError, SpecError, UnsafeFileError

pytest.importorskip("sentence_transformers", reason="the transformers extra is not installed")

TEXTS = ["This is a rose.", "wasp", "The engineer is here"]
PROMPTS = {"query": "This is ", "passage": "Here are ", "empty": ""}


@pytest.fixture
def folder(tiny_model: Callable[[str], Path], tmp_path: Path) -> Path:
    """A model with two prompts of its own and no default."""
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    configure(folder, prompts=PROMPTS)
    own = "sentence_transformers.models."
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{own}Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{own}Pooling"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"word_embedding_dimension": 16}')
    return folder


def configure(folder: Path, **content: object) -> None:
    (folder / CONFIGURATION).write_text(json.dumps(content))


def encoder(folder: Path, options: str = "", kind: str = "st") -> ModelEncoder:
    return load_encoder(f"{kind}:{folder}{options}", cache=False)


@pytest.mark.parametrize(
    ("name", "theirs"), [("query", "query"), ("passage", "passage"), ("document", "passage")]
)
def test_a_named_prompt_is_sentence_transformers_own(folder: Path, name: str, theirs: str) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(folder), device="cpu").encode(TEXTS, prompt_name=theirs)
    named = encoder(folder, f"?prompt_name={name}")
    np.testing.assert_allclose(named.encode(TEXTS), expected, atol=1e-5)
    assert (named.options["prompt"], named.options["prompt_name"]) == (PROMPTS[theirs], theirs)
    by_text = encoder(folder, f"?prompt={PROMPTS[theirs]}")
    np.testing.assert_allclose(by_text.encode(TEXTS), expected, atol=1e-5)


def test_the_models_default_is_used_and_said(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    configure(folder, prompts=PROMPTS, default_prompt_name="query")
    default = encoder(folder)
    expected = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(default.encode(TEXTS), expected, atol=1e-5)
    assert default.options["prompt"] == "This is "
    (note,) = default.notes()
    assert mentions(note, f"'{default.name}'", "'query'", "'This is '")
    without = encoder(folder, "?prompt_name=none")
    assert np.abs(without.encode(TEXTS) - default.encode(TEXTS)).max() > 1e-3
    assert "prompt" not in without.options
    assert without.identity() != default.identity()


def test_prompts_that_are_not_used_are_said(folder: Path) -> None:
    plain = encoder(folder)
    assert mentions(plain.notes()[0], f"'{plain.name}'", "query, passage", "prompt_name=NAME")
    assert encoder(folder, "?prompt=a ").notes() == []


@pytest.mark.parametrize("kind", ["hf", "st"])
def test_kinds_agree_and_the_prompt_is_part_of_key_and_tokens(folder: Path, kind: str) -> None:
    prompted, plain = encoder(folder, "?prompt_name=query", kind), encoder(folder, "", kind)
    np.testing.assert_allclose(prompted.encode(["wasp"]), plain.encode(["This is wasp"]), atol=1e-6)
    assert prompted.coverage(["wasp"]) == plain.coverage(["This is wasp"])
    assert prompted.identity() != plain.identity()


def test_a_mistake_is_one_line(folder: Path) -> None:
    with pytest.raises(SpecError, match=naming("'passages'", "query, passage")):
        encoder(folder, "?prompt_name=passages")
    with pytest.raises(SpecError, match=naming("prompt= ", "prompt_name= ")):
        encoder(folder, "?prompt_name=query&prompt=a")
    configure(folder, prompts={}, default_prompt_name="lost")
    with pytest.raises(SpecError, match=naming("'lost'", "prompt=TEXT")):
        encoder(folder)
    configure(folder, prompts=["query"])
    with pytest.raises(EncoderError, match=naming("config_sentence_transformers.json", "'prompts'")):
        encoder(folder)


def test_a_configuration_that_trusts_itself_runs_no_code(folder: Path, tmp_path: Path) -> None:
    (folder / "own.py").write_text(f"from pathlib import Path\nPath({str(tmp_path / 'it ran')!r}).touch()\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.C", "AutoModel": "own.M"}}
    (folder / "config.json").write_text(json.dumps(config))
    trusting = {key: {"trust_remote_code": True} for key in ("model_args", "config_args", "tokenizer_args")}
    (folder / "sentence_bert_config.json").write_text(json.dumps(trusting))
    with pytest.raises(UnsafeFileError, match=naming("own.C", "own.M")):
        encoder(folder).encode(TEXTS)
    assert not (tmp_path / "it ran").exists()


@pytest.mark.parametrize("kind", ["st", "hf"])
def test_a_query_and_a_passage_have_prompts_of_their_own(folder: Path, kind: str) -> None:
    configure(folder)
    model = encoder(folder, "?query=This is &passage=Here are &prompt=There is ", kind)
    plain = encoder(folder, "", kind)
    before = {"query": "This is ", "passage": "Here are ", "text": "There is "}
    inputs = [Input(text, kind=side) for text in TEXTS for side in ("query", "passage", "text")]
    expected = plain.encode([before[asked.kind] + asked.text for asked in inputs])
    found = model.observe(inputs)
    np.testing.assert_allclose(found.matrix, expected, atol=1e-5)
    assert np.abs(found.matrix[0] - found.matrix[1]).max() > 1e-3
    assert found.coverage == plain.observe([before[asked.kind] + asked.text for asked in inputs]).coverage
    assert (model.options["query"], model.options["passage"]) == ("This is ", "Here are ")
    assert len({model.identity(), plain.identity(), encoder(folder, "?query=This is ", kind).identity()}) == 3


def test_a_query_has_the_prompt_of_the_models_configuration_unless_the_spec_says_otherwise(
    folder: Path,
) -> None:
    inputs = [Input("wasp", kind="query"), Input("wasp", kind="passage"), Input("wasp")]
    plain = encoder(folder)
    assert not {"prompt", "query", "passage"} & set(plain.options)
    expected = plain.encode(["This is wasp", "Here are wasp", "wasp"])
    np.testing.assert_allclose(plain.observe(inputs).matrix, expected, atol=1e-5)
    without = encoder(folder, "?query=")
    np.testing.assert_allclose(without.observe(inputs).matrix, expected[[2, 1, 2]], atol=1e-5)


def test_a_model_without_prompts_reads_queries_and_passages_as_texts(folder: Path) -> None:
    configure(folder)
    observed = encoder(folder).observe([Input("wasp", kind=side) for side in ("query", "passage", "text")])
    np.testing.assert_allclose(observed.matrix, encoder(folder).encode(["wasp"] * 3), atol=1e-5)
