"""A checksum of words: it says whether ours are the published ones, without a copy of them."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def checksum(content: Any) -> str:
    """SHA-256 of `content` as JSON without blanks: keys, texts and their order count, the layout of a file does not."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
