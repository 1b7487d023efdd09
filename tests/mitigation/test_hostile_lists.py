"""Lists and files that cannot be used: one clear line each, before anything is written."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tests.messages import naming
from tests.sheets import workbook

import weatherglass as wg
from weatherglass.errors import EncoderError, OutputError, SpecError
from weatherglass.mitigation import read_model
from weatherglass.mitigation.lists import class_list, neutral_words, pair_list

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
    ("transform", "content", "facts"),
    [
        ("hard-debias?pairs=LIST", "", ["list.txt:", "word"]),
        ("hard-debias?pairs=LIST", "man\n", ["list.txt, line 1:", "two words", "comma"]),
        ("hard-debias?pairs=LIST", "man\tman\n", ["list.txt, line 1:", "'man'"]),
        ("hard-debias?pairs=LIST", "man\twoman\nman,woman\n", ["list.txt, line 2:", "'man', 'woman'"]),
        ("hard-debias?pairs=LIST", "man\twoman\nwoman\tgirl\n", ["list.txt:", "'woman'", "two"]),
        ("leace?classes=LIST", "man\tmale\nwoman\tmale\n", ["list.txt:", "class", "'male'"]),
        ("leace?classes=LIST", "man\tmale\nman\tfemale\nboy\tmale\n", ["list.txt:", "'man'", "two"]),
        ("inlp?classes=LIST", "man\tmale\nman\tmale\n", ["list.txt, line 2:", "'man'"]),
        ("leace?classes=male_terms,femal_terms", "", ["'femal_terms'", "'female_terms'"]),
        ("leace?classes=male_terms,male_terms", "", ["classes=male_terms,male_terms", "class"]),
        ("hard-debias?pairs=gendr", "", ["pairs=gendr:", "'gender'"]),
        ("sentence-debias?templates=LIST", "no slot here\n", ["list.txt:", "'no slot here'", "slot {}"]),
        ("hard-debias?components=0", "", ["components=0", 1]),
        ("centre?on=LIST", "# only a remark\n", ["list.txt:", "word"]),
        ("saved", "", ["saved?file=gender.transform"]),
        ("saved?file=LIST", "not a transform", ["list.txt:", "damaged"]),
        ("saved?file=absent.transform", "", ["absent.transform:", os.strerror(errno.ENOENT)]),
    ],
)
def test_a_list_that_cannot_be_used_is_one_line_when_it_is_read(
    transform: str, content: str, facts: list[object], tmp_path: Path
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SpecError, match=naming(*facts)) as raised:
        read_model(f"wordllama | {transform.replace('LIST', str(path))}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("transform", "content", "facts"),
    [
        ("hard-debias?pairs=LIST", "king\tqueen\n", ["1 pairs"]),
        ("hard-debias?pairs=LIST", "boy\tgirl\n", ["0 dimensions", " components=1"]),
        ("hard-debias?pairs=LIST&components=2", "man\twoman\n", ["1 dimensions", " components=2"]),
        ("hard-debias?pairs=LIST&components=4", "man\twoman\n", ["4 of 4 dimensions"]),
        ("mean-difference?classes=LIST", "man\ta\nboy\ta\nshe\tb\n", ["class 'b'", "1 words", 2]),
        ("leace?classes=LIST", "man\ta\nboy\ta\nking\tb\nqueen\tb\n", ["class 'b'", 0, "2 words"]),
        ("all-but-the-top?on=LIST", "king\n", ["1 words"]),
        ("all-but-the-top?on=LIST&components=2", "man\nart\n", ["2 words", 3]),
        ("double-hard", "", ["frequent words", 20]),
        ("sentence-debias?pairs=LIST", "king\tqueen\n", ["8 pairs", "sentences"]),
    ],
)
def test_a_list_that_does_not_determine_the_change_is_one_line_and_nothing_is_written(
    transform: str, content: str, facts: list[object], model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EncoderError, match=naming(transform.partition("?")[0], *facts)) as raised:
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
    with pytest.raises(EncoderError, match=naming(saved, "4 dimensions", "vectors:", 256)):
        wg.mitigate("wordllama", f"saved?file={saved}")


def _rewritten(path: Path, change: dict[str, str]) -> None:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        record = {**json.loads(file.metadata()["weatherglass"]), **change}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - this is no mapping
    save_file(arrays, path, metadata={"weatherglass": json.dumps(record)})


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"version": "2"}, ["format 2", "format 1"]),
        ({"checksum": "0"}, ["checksum"]),
        ({"format": "another"}, ["transform", "'weatherglass mitigate'"]),
    ],
)
def test_a_transform_of_another_version_or_a_changed_one_is_refused(
    saved: Path, change: dict[str, str], facts: list[str]
) -> None:
    _rewritten(saved, change)
    with pytest.raises(SpecError, match=naming(saved, *facts)):
        read_model(f"wordllama | saved?file={saved}")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_transform_that_is_cut_off_is_refused(saved: Path, share: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(SpecError, match=naming(saved, "damaged")):
        read_model(f"wordllama | saved?file={saved}")


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("out.xyz", ".transform, .safetensors, .txt, .vec, .bin"),
        ("absent/out.txt", os.strerror(errno.ENOENT)),
        ("model.txt", "model"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line(
    model: Path, tmp_path: Path, name: str, fact: str
) -> None:
    content = model.read_bytes()
    with pytest.raises(OutputError, match=naming(f"{tmp_path / name}:", fact)):
        wg.mitigate(f"vectors:{model}", "mean-difference?classes=male_terms,female_terms").write(
            tmp_path / name
        )
    assert model.read_bytes() == content


def test_an_encoder_has_no_word_vectors_to_write(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=naming(" .transform")):
        wg.mitigate("wordllama", "leace?classes=male_terms,female_terms").write(tmp_path / "out.txt")


def test_no_transform_is_an_error() -> None:
    with pytest.raises(SpecError, match=naming("--with")):
        wg.mitigate("wordllama")


def test_the_lists_of_ours_keep_apart() -> None:
    gender = pair_list("gender")
    fitted = {word for pair in (*gender.pairs, *gender.equalise) for word in pair}
    assert not fitted & {word for pair in gender.held_out for word in pair}
    about_gender = {word.lower() for word in (*fitted, *gender.keep)}
    assert not about_gender & set(neutral_words())
    first, second = gender.classes.words
    assert not set(first) & set(second)


def test_pairs_and_classes_of_an_excel_file(tmp_path: Path) -> None:
    (tmp_path / "pairs.xlsx").write_bytes(workbook({"A": [["he", "she"], ["man", "woman"]]}))
    (tmp_path / "classes.xlsx").write_bytes(workbook({"A": [["he", "male"], ["she", "female"]]}))
    assert pair_list(str(tmp_path / "pairs.xlsx")).pairs == (("he", "she"), ("man", "woman"))
    assert class_list(str(tmp_path / "classes.xlsx")).names == ("male", "female")
