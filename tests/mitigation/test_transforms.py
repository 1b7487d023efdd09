"""Transforms behind a model, and names for models: how they are spelt, and what they do to vectors."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from tests.messages import naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.encode import encode_texts
from weatherglass.audit.plan import PlannedModel
from weatherglass.errors import EncoderError, SpecError, UnknownNameError
from weatherglass.mitigation import read_model
from weatherglass.mitigation.centring import Centre
from weatherglass.parallel import InProcess
from weatherglass.progress import Silent

WORDS = ["man", "woman", "he", "she", "career", "family", "math", "arts"]


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """A file of word vectors that all have much in common."""
    rng = np.random.default_rng(3)
    rows = 5.0 + rng.standard_normal((len(WORDS), 4))
    lines = [f"{word} {' '.join(map(repr, row))}" for word, row in zip(WORDS, rows.tolist(), strict=True)]
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "name", "spec", "transforms"),
    [
        ("wordllama", "", "wordllama", []),
        ("small=wordllama", "small", "wordllama", []),
        ("My model=vectors:a.txt?case=lower", "My model", "vectors:a.txt?case=lower", []),
        ("vectors:a.txt?case=lower", "", "vectors:a.txt?case=lower", []),
        ("folder/a=b.txt", "", "folder/a=b.txt", []),
        ("wordllama | centre", "", "wordllama", ["centre?on=catalogue"]),
        ("c=wordllama|x | centre | centre", "c", "wordllama|x", ["centre?on=catalogue"] * 2),
    ],
)
def test_a_spelling_has_a_name_a_spec_and_transforms(
    text: str, name: str, spec: str, transforms: list[str]
) -> None:
    spelling = read_model(text)
    assert (spelling.name, spelling.spec) == (name, spec)
    assert [transform.name for transform in spelling.transforms] == transforms


def test_a_file_whose_own_name_has_a_bar_or_an_equals_sign_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a=b | c.txt").write_text("man 1 2\n", encoding="utf-8")
    assert read_model("a=b | c.txt").spec == "a=b | c.txt"


@pytest.mark.parametrize(
    ("text", "error", "facts"),
    [
        ("wordllama | centr", UnknownNameError, ["'centr'", "'centre'"]),
        ("wordllama | ", SpecError, ["'|'"]),
        ("wordllama | centre?off=x", SpecError, ["'off'", "on"]),
        ("wordllama | centre?on=absent.txt", SpecError, ["absent.txt:", os.strerror(errno.ENOENT)]),
    ],
)
def test_a_mistake_in_a_transform_is_one_line(text: str, error: type[Exception], facts: list[str]) -> None:
    with pytest.raises(error, match=naming(*facts)) as raised:
        read_model(text)
    assert "\n" not in str(raised.value)


def test_centring_leaves_the_words_of_its_list_with_mean_zero(vectors: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("man\nwoman\nhe\nshe\nunknown-word\n", encoding="utf-8")
    model = PlannedModel.of(f"vectors:{vectors} | centre?on={words}")
    texts = [*WORDS, *model.texts()]
    plain = encode_texts(model.encoder, texts, InProcess(), Silent())
    centred = plain.transformed(model.transforms)
    listed = [centred.row[word] for word in ("man", "woman", "he", "she")]
    assert centred.vectors[listed].mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    # Differences between words are untouched: a translation is all that happened.
    a, b = plain.row["career"], plain.row["family"]
    assert centred.vectors[a] - centred.vectors[b] == pytest.approx(plain.vectors[a] - plain.vectors[b])


def test_a_list_of_which_the_model_knows_nothing_is_an_error() -> None:
    with pytest.raises(EncoderError, match=naming("words.txt", "1 words")):
        Centre("words.txt", ("absent",)).fit(np.full((1, 4), np.nan))


def test_a_run_names_the_model_as_the_user_does_and_keeps_the_two_apart(tmp_path: Path) -> None:
    finished = wg.run(
        ["plain=wordllama", "wordllama | centre"], tests="weat7", trust="none", folder=tmp_path / "run"
    )
    first, second = finished.results
    assert [first.model, second.model] == ["plain", "wordllama | centre?on=catalogue"]
    assert "centre?on=catalogue" in second.options
    assert abs(first.effect_size - second.effect_size) > 1e-6
    again = wg.run("wordllama | centre", tests="weat7", trust="none", folder=tmp_path / "run")
    assert again.results[0].seconds == second.seconds  # from the journal, not computed anew


def test_the_identity_of_a_transform_is_the_content_of_its_list(tmp_path: Path) -> None:
    for name, words in (("a", "man\nwoman\n"), ("b", "man\n\n woman\nman\n"), ("c", "man\nher\n")):
        (tmp_path / name).write_text(words, encoding="utf-8")
    a, b, c = (PlannedModel.of(f"wordllama | centre?on={tmp_path / name}").identity for name in "abc")
    assert a == b != c


def test_an_object_of_the_users_own_still_goes_in_as_it_is() -> None:
    assert PlannedModel.of(HashedEncoder()).transforms == ()
