"""Lists and files that cannot be used: one clear line each, before anything is written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import weatherglass as wg
from weatherglass.errors import EncoderError, OutputError, SpecError, WeatherglassError
from weatherglass.mitigation import read_model
from weatherglass.mitigation.lists import neutral_words, pair_list

WORDS = ["man", "woman", "he", "she", "boy", "girl", "art", "math", "nurse"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Nine words; boy and girl have the same vector, and he − she is parallel to man − woman."""
    rows = np.random.default_rng(0).standard_normal((len(WORDS), 4))
    rows[3] = rows[2] - 2 * (rows[0] - rows[1])
    rows[5] = rows[4]
    path = tmp_path / "model.txt"
    lines = [f"{word} {' '.join(map(repr, row))}" for word, row in zip(WORDS, rows.tolist(), strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("transform", "content", "message"),
    [
        ("hard-debias?pairs=LIST", "", "no word here"),
        ("hard-debias?pairs=LIST", "man\n", "line 1: should be two words, with a tab or a comma between"),
        ("hard-debias?pairs=LIST", "man\tman\n", "line 1: 'man' is paired with itself"),
        ("hard-debias?pairs=LIST", "man\twoman\nman,woman\n", "line 2: the pair 'man', 'woman' stands twice"),
        ("hard-debias?pairs=LIST", "man\twoman\nwoman\tgirl\n", "'woman' is on two sides of the list"),
        ("leace?classes=LIST", "man\tmale\nwoman\tmale\n", "has one class only, 'male'"),
        ("leace?classes=LIST", "man\tmale\nman\tfemale\nboy\tmale\n", "'man' is on two sides"),
        ("inlp?classes=LIST", "man\tmale\nman\tmale\n", "line 2: 'man' stands twice"),
        ("leace?classes=male_terms,femal_terms", "", "no set 'femal_terms'; did you mean 'female_terms'?"),
        ("leace?classes=male_terms,male_terms", "", "one class only"),
        (
            "hard-debias?pairs=gendr",
            "",
            "pairs=gendr: no list and no file of this name; did you mean 'gender'?",
        ),
        ("sentence-debias?templates=LIST", "no slot here\n", "'no slot here' should have one slot {}"),
        ("hard-debias?components=0", "", "components=0 is below 1"),
        ("centre?on=LIST", "# only a remark\n", "no word here"),
        ("saved", "", "name the file, as in saved?file=gender.transform"),
        ("saved?file=LIST", "not a transform", "cut off or damaged"),
        ("saved?file=absent.transform", "", "absent.transform: cannot be read (No such file or directory)"),
    ],
)
def test_a_list_that_cannot_be_used_is_one_line_when_it_is_read(
    transform: str, content: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SpecError, match=re.escape(message)) as raised:
        read_model(f"wordllama | {transform.replace('LIST', str(path))}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("transform", "content", "message"),
    [
        ("hard-debias?pairs=LIST", "king\tqueen\n", "the model knows both words of none of the 1 pairs"),
        ("hard-debias?pairs=LIST", "boy\tgirl\n", "span 0 dimensions, but components=1"),
        (
            "hard-debias?pairs=LIST&components=2",
            "man\twoman\n",
            "1 known pairs span 1 dimensions, but components=2",
        ),
        ("hard-debias?pairs=LIST&components=4", "man\twoman\n", "removing 4 of 4 dimensions leaves nothing"),
        (
            "mean-difference?classes=LIST",
            "man\ta\nboy\ta\nshe\tb\n",
            "the model knows 1 of the 1 words of class 'b'",
        ),
        ("leace?classes=LIST", "man\ta\nboy\ta\nking\tb\nqueen\tb\n", "knows 0 of the 2 words of class 'b'"),
        ("all-but-the-top?on=LIST", "king\n", "the model knows none of the 1 words of the list"),
        (
            "all-but-the-top?on=LIST&components=2",
            "man\nart\n",
            "the model knows 2 of the 2 words of the list; 3 are",
        ),
        ("double-hard", "", "frequent words; 20 are needed"),
        ("sentence-debias?pairs=LIST", "king\tqueen\n", "reads none of the 8 pairs of sentences"),
    ],
)
def test_a_list_that_does_not_determine_the_change_is_one_line_and_nothing_is_written(
    transform: str, content: str, message: str, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EncoderError, match=re.escape(message)) as raised:
        wg.mitigate(f"vectors:{model}?tokens=none", transform.replace("LIST", str(path))).write(
            tmp_path / "out.txt"
        )
    assert "\n" not in str(raised.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["list.txt", "model.txt"]


@pytest.fixture
def saved(model: Path, tmp_path: Path) -> Path:
    (tmp_path / "pairs.txt").write_text("man\twoman\n", encoding="utf-8")
    path = tmp_path / "gender.transform"
    wg.mitigate(f"vectors:{model}", f"hard-debias?pairs={tmp_path / 'pairs.txt'}").write(path)
    return path


def test_a_saved_transform_gives_the_same_vectors_as_the_fitted_one(
    saved: Path, model: Path, tmp_path: Path
) -> None:
    fitted = wg.mitigate(f"vectors:{model}", f"hard-debias?pairs={tmp_path / 'pairs.txt'}").encode(WORDS)
    loaded = wg.mitigate(f"vectors:{model}", f"saved?file={saved}").encode(WORDS)
    assert (fitted == loaded).all()
    first = saved.read_bytes()
    wg.mitigate(f"vectors:{model}", f"hard-debias?pairs={tmp_path / 'pairs.txt'}").write(saved)
    assert saved.read_bytes() == first


def test_a_transform_for_another_width_is_refused_with_both_widths(saved: Path) -> None:
    with pytest.raises(
        EncoderError, match=r"fitted on vectors of 4 dimensions \(vectors:.*\), but this model's have 256"
    ):
        wg.mitigate("wordllama", f"saved?file={saved}")


def _rewritten(path: Path, change: dict[str, str]) -> None:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        record = {**json.loads(file.metadata()["weatherglass"]), **change}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - this is no mapping
    save_file(arrays, path, metadata={"weatherglass": json.dumps(record)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "2"}, "a transform of format 2, but this version reads format 1"),
        ({"checksum": "0"}, "the checksum does not match"),
        ({"format": "another"}, "this is no transform of weatherglass"),
    ],
)
def test_a_transform_of_another_version_or_a_changed_one_is_refused(
    saved: Path, change: dict[str, str], message: str
) -> None:
    _rewritten(saved, change)
    with pytest.raises(SpecError, match=re.escape(message)):
        read_model(f"wordllama | saved?file={saved}")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_transform_that_is_cut_off_is_refused(saved: Path, share: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(SpecError, match="cut off or damaged"):
        read_model(f"wordllama | saved?file={saved}")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("out.xyz", OutputError, "should end in one of .transform, .safetensors, .txt, .vec, .bin"),
        ("absent/out.txt", OutputError, "cannot be written (No such file or directory)"),
        ("model.txt", OutputError, "this is the model itself"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line(
    model: Path, tmp_path: Path, name: str, error: type[WeatherglassError], message: str
) -> None:
    content = model.read_bytes()
    with pytest.raises(error, match=re.escape(message)):
        wg.mitigate(f"vectors:{model}", "mean-difference?classes=male_terms,female_terms").write(
            tmp_path / name
        )
    assert model.read_bytes() == content


def test_an_encoder_has_no_word_vectors_to_write(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"name a file that ends in \.transform instead"):
        wg.mitigate("wordllama", "leace?classes=male_terms,female_terms").write(tmp_path / "out.txt")


def test_no_transform_is_an_error() -> None:
    with pytest.raises(SpecError, match="no transform is named"):
        wg.mitigate("wordllama")


def test_the_lists_of_ours_keep_apart() -> None:
    gender = pair_list("gender")
    fitted = {word for pair in (*gender.pairs, *gender.equalise) for word in pair}
    assert not fitted & {word for pair in gender.held_out for word in pair}
    about_gender = {word.lower() for word in (*fitted, *gender.keep)}
    assert not about_gender & set(neutral_words())
    first, second = gender.classes.words
    assert not set(first) & set(second)
