"""Train a tiny masked language model on the State of the Union addresses: python -m docs.calibration.tiny_model FOLDER.

`weatherglass run hf:FOLDER -t pairs` then audits it. Training takes some minutes on one core; --epochs 1
--dimensions 32 takes about one. It needs the extras transformers, reliability and demo.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from weatherglass.reliability.corpus import CorpusSettings, Tokeniser, encode_corpus
from weatherglass.reliability.study_file import speeches
from weatherglass.reliability.training.masked import MaskedSettings, save_model, train_masked


def main() -> None:
    """Train the model and write its folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the model")
    parser.add_argument("--seed", type=int, default=1)
    for name in ("dimensions", "vocabulary", "epochs"):
        parser.add_argument(f"--{name}", type=int, default=getattr(MaskedSettings, name))
    chosen = parser.parse_args()
    settings = replace(
        MaskedSettings(),
        dimensions=chosen.dimensions,
        vocabulary=chosen.vocabulary,
        epochs=chosen.epochs,
    )
    with TemporaryDirectory() as folder:
        corpus = encode_corpus("sotu", speeches(), Path(folder), CorpusSettings(Tokeniser(sentences=True)))
        save_model(train_masked(corpus, chosen.seed, settings), corpus, chosen.folder)


if __name__ == "__main__":
    main()
