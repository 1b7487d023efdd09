"""A spelling with * stands for a family of models, each with a name of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.messages import naming

from weatherglass.audit.plan import distinct_parts, expand_families
from weatherglass.errors import SpecError


def touched(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).touch()
    return folder


def test_a_family_is_its_files_in_order_and_options_stay(tmp_path: Path) -> None:
    folder = touched(tmp_path, "sgns-seed2.txt", "sgns-seed10.txt", "sgns-seed1.txt", "other.bin")
    models, families = expand_families(
        [f"forum=vectors:{folder}/sgns-*.txt?case=lower | centre", "wordllama", f"{folder}/*.bin"]
    )
    assert models == [
        f"forum[seed1]=vectors:{folder}/sgns-seed1.txt?case=lower | centre",
        f"forum[seed10]=vectors:{folder}/sgns-seed10.txt?case=lower | centre",
        f"forum[seed2]=vectors:{folder}/sgns-seed2.txt?case=lower | centre",
        "wordllama",
        f"*.bin[other]={folder}/other.bin",
    ]
    assert families == {
        "forum": ("forum[seed1]", "forum[seed10]", "forum[seed2]"),
        "*.bin": ("*.bin[other]",),
    }


def test_models_without_a_star_and_files_that_have_one_are_left_alone(tmp_path: Path) -> None:
    own = str(touched(tmp_path, "a*b.txt") / "a*b.txt")
    given = ["a=vectors:glove.txt", "wordllama | centre?on=catalogue", own]
    assert expand_families(given) == (given, {})


def test_what_tells_paths_apart_is_whole_words() -> None:
    assert distinct_parts(["a/x-0fb-seed001.npz", "a/x-0fb-seed002.npz"]) == ["seed001", "seed002"]
    assert distinct_parts(["run1/best/model", "run2/last/model"]) == ["run1-best", "run2-last"]
    assert distinct_parts(["a/c", "a/c-2"]) == ["", "2"]


def test_a_pattern_without_a_match_and_a_name_given_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=naming("nowhere/seed*.txt")):
        expand_families(["a=vectors:nowhere/seed*.txt"])
    folder = touched(tmp_path, "a1.txt", "b1.txt")
    with pytest.raises(SpecError, match=naming("two families", "twice", "b*.txt")):
        expand_families([f"twice=vectors:{folder}/a*.txt", f"twice=vectors:{folder}/b*.txt"])
