"""The `prompt=` and `prompt_name=` options: what is put before every text, from the user or the model's own files.

Embedding models trained with an instruction keep their prompts in config_sentence_transformers.json, by name:
`{"prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": "query"}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weatherglass.encoders.spec import OptionReader
from weatherglass.errors import EncoderError, SpecError

if TYPE_CHECKING:
    from weatherglass.encoders.transformers.hub import ModelFiles

CONFIGURATION = "config_sentence_transformers.json"
NO_PROMPT = "none"
"""`prompt_name=none` leaves out the prompt that the model would use by default."""

DOCUMENT_SIDE = ("document", "passage", "corpus")
"""What models call the prompt of a document; sentence-transformers' `encode_document` looks for them in this order."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What stands before every text, and where it comes from."""

    text: str = ""
    name: str = ""
    """Its name in the model's configuration; empty if the user gave the text."""
    is_default: bool = False
    """Whether the model's configuration chose it, not the user."""
    unused: tuple[str, ...] = ()
    """The names of the prompts that the model has, if none of them is used."""

    @classmethod
    def from_options(cls, options: OptionReader, files: ModelFiles) -> Prompt:
        """What the spec asks for, else the model's default.

        Raises:
            SpecError: if both options are given, or the model has no prompt of that name.
        """
        text, name = options.text("prompt", ""), options.text("prompt_name", "")
        if text and name:
            raise SpecError(f"'{options.spec}': prompt= and prompt_name= are two ways to say it; give one")
        if text:
            return cls(text)
        known, default = configured_prompts(files)
        if name == NO_PROMPT:
            return cls(unused=tuple(known))
        if not (name or default):
            return cls(unused=tuple(known))
        wanted = DOCUMENT_SIDE if name == DOCUMENT_SIDE[0] else (name or default,)
        found = next((candidate for candidate in wanted if candidate in known), None)
        if found is None:
            own = f"its prompts are {', '.join(known)}" if known else "its files name none"
            raise SpecError(
                f"'{options.spec}': the model has no prompt '{name or default}' ({own}); give the text: prompt=TEXT"
            )
        return cls(known[found], found, is_default=not name)

    def before(self, texts: Sequence[str]) -> list[str]:
        """The texts, each with the prompt before it."""
        return [self.text + text for text in texts]

    def as_options(self) -> dict[str, str]:
        """In the spelling of a spec; nothing where there is no prompt."""
        if not self.text:
            return {}
        return {"prompt": self.text} | ({"prompt_name": self.name} if self.name else {})

    def notes(self, model: str) -> list[str]:
        """What the record of a run says."""
        if self.is_default:
            return [
                f"'{model}': every text has the model's default prompt '{self.name}' before it: {self.text!r}"
            ]
        if self.unused:
            names = ", ".join(self.unused)
            return [
                f"'{model}': the model has prompts ({names}) and none is used; to use one: prompt_name=NAME"
            ]
        return []


def configured_prompts(files: ModelFiles) -> tuple[dict[str, str], str]:
    """The model's prompts by name, empty ones left out, and the name of its default, which may be empty.

    Raises:
        EncoderError: if the file has something else where prompts should be.
    """
    table = files.table(CONFIGURATION)
    prompts, default = table.get("prompts") or {}, table.get("default_prompt_name") or ""
    is_valid = isinstance(prompts, dict) and all(isinstance(p, str | None) for p in prompts.values())
    if not (is_valid and isinstance(default, str)):
        raise EncoderError(f"{files.folder / CONFIGURATION}: 'prompts' should be texts by name")
    known = {name: text for name, text in prompts.items() if text}
    return known, default if known.get(default) or default not in prompts else ""
