"""Add prompts before texts, taken from the options `prompt=`, `prompt_name=`, `query=` and `passage=` or the model's
files.

Embedding models that were trained with an instruction store their prompts in config_sentence_transformers.json by
name: `{"prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": "query"}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from weatherglass.encoders.base import Asked, Input, text_of
from weatherglass.encoders.spec import OptionReader
from weatherglass.errors import EncoderError, SpecError

if TYPE_CHECKING:
    from weatherglass.encoders.model_files import ModelFiles

CONFIGURATION = "config_sentence_transformers.json"
NO_PROMPT = "none"
"""The value of `prompt_name=` that omits the model's default prompt."""

DOCUMENT_SIDE = ("document", "passage", "corpus")
"""Names of the document prompt, in the order that `encode_document` of sentence-transformers uses."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompts of a model and where they come from."""

    text: str = ""
    name: str = ""
    """The name of the prompt in the model's configuration; empty if the user gave the text."""
    is_default: bool = False
    """Whether the model's configuration chose the prompt."""
    unused: tuple[str, ...] = ()
    """The names of the model's prompts, if none of them is used."""
    given: Mapping[str, str] = field(default_factory=dict)
    """The user's prompt for each kind of input, `query` or `passage`."""
    configured: Mapping[str, str] = field(default_factory=dict)
    """The prompt in the model's configuration for each kind, used if the user does not give one."""

    @classmethod
    def from_options(cls, options: OptionReader, files: ModelFiles) -> Prompt:
        """Return the prompts of the spec, or the model's default prompt.

        Raises:
            SpecError: if both prompt= and prompt_name= are given, or the model has no prompt with that name.
        """
        given = given_by_kind(options)
        known, default = configured_prompts(files)
        sides = {"query": ("query",), "passage": DOCUMENT_SIDE}
        configured = {
            kind: known[name] for kind, names in sides.items() for name in names[::-1] if name in known
        }
        return replace(cls._of_every_text(options, known, default), given=given, configured=configured)

    @classmethod
    def _of_every_text(cls, options: OptionReader, known: Mapping[str, str], default: str) -> Prompt:
        text, name = options.text("prompt", ""), options.text("prompt_name", "")
        if text and name:
            raise SpecError(
                f"'{options.spec}': prompt= and prompt_name= cannot be combined; give one of them"
            )
        if text:
            return cls(text)
        if name == NO_PROMPT:
            return cls(unused=tuple(known))
        if not (name or default):
            return cls(unused=tuple(known))
        wanted = DOCUMENT_SIDE if name == DOCUMENT_SIDE[0] else (name or default,)
        found = next((candidate for candidate in wanted if candidate in known), None)
        if found is None:
            own = f"its prompts are {', '.join(known)}" if known else "its files do not name a prompt"
            raise SpecError(
                f"'{options.spec}': the model has no prompt '{name or default}' ({own}); give the text: prompt=TEXT"
            )
        return cls(known[found], found, is_default=not name)

    def of(self, asked: Asked) -> str:
        """Return the prompt of an input, which is the prompt of its kind or the prompt of all texts."""
        if isinstance(asked, Input) and asked.kind != "text":
            return self.given.get(asked.kind, self.configured.get(asked.kind, self.text))
        return self.text

    def before(self, inputs: Sequence[Asked]) -> list[str]:
        """Return the texts, each preceded by its prompt."""
        return [self.of(asked) + text_of(asked) for asked in inputs]

    def as_options(self) -> dict[str, str]:
        """Return the prompts as options of a spec; empty if there is none."""
        of_text = {"prompt": self.text, "prompt_name": self.name}
        return {name: text for name, text in of_text.items() if text} | dict(self.given)

    def notes(self, model: str) -> list[str]:
        """Return notes for the record of a run."""
        if self.is_default:
            return [
                f"'{model}': the model's default prompt '{self.name}' is added before every text: {self.text!r}"
            ]
        if self.unused:
            names = ", ".join(self.unused)
            return [
                f"'{model}': the model has prompts ({names}), but none is used; use one with prompt_name=NAME"
            ]
        return []


def given_by_kind(options: OptionReader) -> dict[str, str]:
    """Return the options `query=` and `passage=` if they are given; an empty value means no prompt."""
    given = [kind for kind in ("query", "passage") if kind in options.unread]
    texts = {kind: options.text(kind, "") for kind in ("query", "passage")}
    return {kind: texts[kind] for kind in given}


def configured_prompts(files: ModelFiles) -> tuple[dict[str, str], str]:
    """Return the model's prompts by name, without empty prompts, and the name of its default prompt, which may be
    empty.

    Raises:
        EncoderError: if the prompts in the file are malformed.
    """
    table = files.table(CONFIGURATION)
    prompts, default = table.get("prompts") or {}, table.get("default_prompt_name") or ""
    is_valid = isinstance(prompts, dict) and all(isinstance(p, str | None) for p in prompts.values())
    if not (is_valid and isinstance(default, str)):
        raise EncoderError(f"{files.folder / CONFIGURATION}: 'prompts' should be texts by name")
    known = {name: text for name, text in prompts.items() if text}
    return known, default if known.get(default) or default not in prompts else ""
