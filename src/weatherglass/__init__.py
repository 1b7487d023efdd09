"""weatherglass: how biased is an embedding, and how far can that number be trusted?"""

from __future__ import annotations

__version__ = "0.1.0"
