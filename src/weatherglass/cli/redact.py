"""Text without secrets: keys of the environment and of options do not get into a log that a user may pass on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

HIDDEN = "***"
SHORTEST_VALUE = 8
"""Shorter values of variables that sound secret are switches such as TOKENIZERS_PARALLELISM=false."""
_SECRET_NAME = re.compile("key|token|secret|passw|auth|credential", re.IGNORECASE)
_OPTION = re.compile(r"([\w.-]+)[=:]([^\s&|?;,'\"]+)")
_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_BEARER = re.compile(r"(?<=Bearer )\S+", re.IGNORECASE)


def without_secrets(text: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The text with *** for every secret that the arguments or the environment hold.

    >>> without_secrets("KeyError: 'sk-123456'", [], {"OPENAI_API_KEY": "sk-123456"})
    "KeyError: '***'"
    """
    for secret in sorted({*_secrets(arguments, environment)}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _BEARER.sub(HIDDEN, _IN_ADDRESS.sub(HIDDEN, text))


def _secrets(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and len(value.strip()) >= SHORTEST_VALUE:
            yield value.strip()
    for name, value in (option for argument in arguments for option in _OPTION.findall(argument)):
        if name == "key_env":
            if secret := environment.get(value, "").strip():
                yield secret
        elif _SECRET_NAME.search(name):
            yield value
