"""`spacy:PIPELINE`: the word vectors of a spaCy pipeline, installed or in a folder, read from its files.

No code of the pipeline is run, and spaCy need not be installed. A text is the mean over its words, as with `vectors:`.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Self

from weatherglass.encoders.spec import Spec
from weatherglass.encoders.vectors import CASES, TOKENS, VectorEncoder
from weatherglass.errors import SpecError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.vectors import WordVectors
from weatherglass.vectors.spacy import find_pipeline, pipeline_files, read_pipeline


class SpacyEncoder(VectorEncoder):
    """Averages the vectors of a text's words; by default a word is looked up as spaCy does, exactly as written."""

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """`spacy:NAME-OR-FOLDER?tokens=words|whitespace|none&case=exact|exact-then-lower|lower&language=en`.

        Raises:
            SpecError: if no pipeline is named or an option is wrong.
            VectorFileError: if there is no such pipeline, or it has no vectors.
        """
        if not spec.target:
            raise SpecError(f"'{spec}': name an installed pipeline or its folder, as in spacy:en_core_web_md")
        options = spec.reader()
        tokens = options.choice("tokens", TOKENS, "words")
        case = options.choice("case", CASES, "exact")
        language = options.choice("language", LANGUAGES.names(), DEFAULT_LANGUAGE)
        options.done()
        encoder = cls(find_pipeline(spec.target), tokens, case, language)
        encoder.name = str(spec)
        return encoder

    @staticmethod
    def _check(path: Path) -> None:
        """Nothing: `find_pipeline` has looked."""

    def _read(self, words: Collection[str]) -> WordVectors:
        return read_pipeline(self.path, words)

    def _files(self) -> list[Path]:
        return pipeline_files(self.path)
