"""The language of a corpus is told from its words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.messages import mentions

from weatherglass.reliability.corpus import detected_language, language_fact

TEXTS = {
    "en": "We hold these truths to be self evident that all men are created equal",
    "de": "Die Würde des Menschen ist unantastbar sie zu achten und zu schützen ist Verpflichtung aller",
    "fr": "Les hommes naissent et demeurent libres et égaux en droits les distinctions sociales",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos",
    "": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan",
}
"""From declarations and constitutions; of Finnish there is no list."""


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_is_told(language: str) -> None:
    words = Counter(TEXTS[language].lower().split())
    told, share = detected_language(list(words), np.array(list(words.values())))
    assert told == language
    assert share > 0.8 if language else share < 0.5


def test_a_corpus_of_numbers_has_none() -> None:
    assert detected_language(["1", "2"], np.array([3, 4])) == ("", 0.0)
    assert mentions(language_fact(["1"], np.array([3])), "language", "0 %")
