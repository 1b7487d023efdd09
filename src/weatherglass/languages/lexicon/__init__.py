"""What is known of words: senses, synonyms, parts of speech."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.languages.lexicon.lexicon import Lexicon as Lexicon
    from weatherglass.languages.lexicon.lexicon import find_lexicon as find_lexicon

_PLACES = {"find_lexicon": "lexicon", "Lexicon": "lexicon"}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
