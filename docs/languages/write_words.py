"""Write the word lists of src/weatherglass/languages/known/ from the Python package wordfreq.

Each list has the 60 000 most frequent words of a language in lower case, without those that one of the other three
languages uses ten times as often: "the" stands in German texts, too, but is no German word.
"""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import wordfreq

LANGUAGES = ("en", "de", "fr", "es")
SIZE = 60_000
FOREIGN = 10
"""How many times as frequent a word must be in another language to be left out."""
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FOLDER = Path(__file__).parents[2] / "src" / "weatherglass" / "languages" / "known"


def main() -> None:
    frequencies = {code: wordfreq.get_frequency_dict(code, "large") for code in LANGUAGES}
    for code in LANGUAGES:
        others = [frequencies[other] for other in LANGUAGES if other != code]
        own = sorted(frequencies[code].items(), key=lambda item: (-item[1], item[0]))
        words = [
            word
            for word, frequency in own
            if len(word) > 1
            and WORD.fullmatch(word)
            and all(other.get(word, 0) <= FOREIGN * frequency for other in others)
        ]
        text = "\n".join(sorted(words[:SIZE])) + "\n"
        (FOLDER / f"{code}.txt.xz").write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    main()
