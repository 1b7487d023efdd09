"""`dim=`: the first dimensions of any kind's vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.messages import naming

import weatherglass as wg
from weatherglass.encoders import load_encoder
from weatherglass.encoders.cache import EncodingCache
from weatherglass.encoders.transformers import TransformerEncoder
from weatherglass.encoders.views import first_dimensions
from weatherglass.errors import EncoderError, SpecError

TinyModel = Callable[[str], Path]


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    path = tmp_path / "vectors.txt"
    path.write_text("rose 3 4 12\nviolet 0.6 0.8 0\ndaisy 0.6 0 0.8\n")
    return f"vectors:{path}"


def test_unit_vectors_stay_unit_vectors_and_others_keep_their_numbers(vectors: str) -> None:
    short = load_encoder(f"{vectors}?dim=2")
    # daisy had length 1, so (0.6, 0) becomes (1, 0); rose had length 13
    expected = np.array([[3.0, 4.0], [0.6, 0.8], [1.0, 0.0]])
    np.testing.assert_allclose(short.encode(["rose", "violet", "daisy"]), expected, atol=1e-7)


def test_unknown_texts_stay_unknown(vectors: str) -> None:
    assert np.isnan(load_encoder(f"{vectors}?dim=2").encode(["heather"])).all()


def test_warnings_about_the_file_are_those_of_the_whole_vectors(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("naïve 1 2\nnai\u0308ve 3 4\n", encoding="utf-8")
    models = [load_encoder(f"vectors:{path}{options}") for options in ("", "?dim=1")]
    for model in models:
        model.encode(["naïve"])
    whole, cut = (model.warnings() for model in models)
    assert cut == whole != []


def test_dim_is_in_the_name_the_options_and_the_identity(vectors: str) -> None:
    whole, short = load_encoder(vectors), load_encoder(f"{vectors}?case=exact&dim=2")
    assert short.name == f"{vectors}?case=exact&dim=2"
    assert dict(short.options) == {"tokens": "words", "case": "exact", "dim": "2"}
    identities = {load_encoder(f"{vectors}?dim={dim}").identity() for dim in (1, 2, 3)} | {whole.identity()}
    assert len(identities) == 4


def test_more_dimensions_than_there_are(vectors: str) -> None:
    with pytest.raises(EncoderError, match=naming("dim=4", "3 dimensions")):
        load_encoder(f"{vectors}?dim=4").encode(["rose"])
    with pytest.raises(SpecError, match=naming("dim=0", 1)):
        load_encoder(f"{vectors}?dim=0")
    with pytest.raises(SpecError, match=naming("dim=half", "number")):
        load_encoder(f"{vectors}?dim=half")


def test_wordllama_reads_the_option_itself() -> None:
    whole, short = load_encoder("wordllama"), load_encoder("wordllama?dim=64")
    texts = ["This is a rose.", "violet"]
    np.testing.assert_allclose(short.encode(texts), first_dimensions(whole.encode(texts), 64), atol=1e-12)


def test_a_run_shows_whole_and_cut_vectors_side_by_side(tmp_path: Path) -> None:
    words = sorted(load_tests_words("weat7"))
    generator = np.random.default_rng(0)
    path = tmp_path / "vectors.npz"
    np.savez(path, words=np.array(words), vectors=generator.normal(size=(len(words), 8)).astype(np.float32))
    run = wg.run([f"vectors:{path}", f"vectors:{path}?dim=4"], tests="weat7")
    whole, cut = run.results
    assert (whole.model, cut.model) == (f"vectors:{path}", f"vectors:{path}?dim=4")
    np.savez(tmp_path / "cut.npz", words=np.array(words), vectors=np.load(path)["vectors"][:, :4])
    (alone,) = wg.run(f"vectors:{tmp_path / 'cut.npz'}", tests="weat7").results
    assert cut.effect_size == pytest.approx(alone.effect_size, abs=1e-12)
    assert cut.effect_size != whole.effect_size


@pytest.mark.large
def test_all_widths_share_one_entry_of_the_cache_in_any_number_of_processes(
    tiny_model: TinyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = f"hf:{tiny_model('bert')}"
    together = wg.run([spec, f"{spec}?dim=4"], tests="weat[78]", jobs=2)
    (cached,) = EncodingCache().models()
    assert cached.texts == len(load_tests_words("weat7") | load_tests_words("weat8"))

    def encode_again(*_: object) -> None:
        raise AssertionError("a text was encoded although its whole vector is cached")

    monkeypatch.setattr(TransformerEncoder, "observe_views", encode_again)
    alone = wg.run([spec, f"{spec}?dim=4", f"{spec}?dim=2"], tests="weat[78]")
    effects = {(result.model, result.test): result.effect_size for result in alone.results}
    assert len(set(effects.values())) == 6
    for result in together.results:
        assert effects[result.model, result.test] == result.effect_size


def load_tests_words(name: str) -> set[str]:
    from weatherglass.catalogue import load_tests

    return {word for test in load_tests([name]) for word in test.texts}
