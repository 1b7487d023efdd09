"""Provide the language-dependent parts: word forms, sentence templates, tokenisers and lexicons."""

from __future__ import annotations

from weatherglass.languages.base import Language
from weatherglass.registry import Registry

LANGUAGES: Registry[Language] = Registry(
    "language",
    {
        "en": "weatherglass.languages.en:ENGLISH",
        "de": "weatherglass.languages.de:GERMAN",
        "fr": "weatherglass.languages.fr:FRENCH",
        "es": "weatherglass.languages.es:SPANISH",
    },
    entry_points="weatherglass.languages",
)
"""Language packs by code; other packages can add packs."""

DEFAULT_LANGUAGE = "en"
