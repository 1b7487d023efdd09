"""Word forms, sentence templates, tokenisers and lexicons: what depends on a language."""

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
"""Language packs by their code; a package of someone else's adds one."""

DEFAULT_LANGUAGE = "en"
