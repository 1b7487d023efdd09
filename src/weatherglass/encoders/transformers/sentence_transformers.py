"""`st:NAME-OR-FOLDER`: sentence-transformers models, pooled and normalised as the model's own files say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyMatrix, unit_length
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.kinds import require
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.transformers.hub import ModelFiles, find_model
from weatherglass.encoders.transformers.torch_model import DEVICES, one_line_errors, pick_device, quiet
from weatherglass.errors import EncoderError, UnsafeFileError

OWN_MODULES = "sentence_transformers."
HUB_OWNER = "sentence-transformers/"


class SentenceTransformerEncoder:
    """A sentence-transformers model: a list of modules, of which the first reads tokens and the others pool."""

    costly: ClassVar[bool] = True

    def __init__(self, spec: Spec, files: ModelFiles, choices: Mapping[str, str], batch_size: int) -> None:
        self._spec = spec
        self._files = files
        self._choices = dict(choices)
        self._batch_size = batch_size

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Check the spec and what the model consists of; weights are loaded at the first `encode`."""
        require(str(spec), ("torch", "transformers", "sentence_transformers"), "transformers")
        options = spec.reader()
        # As sentence-transformers does: a name without owner is one of its own.
        is_complete = "/" in spec.target or Path(spec.target).expanduser().exists()
        target = spec.target if is_complete else HUB_OWNER + spec.target
        files = find_model(target, options.text("revision", ""), ("modules.json", "config.json"))
        choices = {
            "normalise": _yes_no(options.flag("normalise", False)),
            "max_length": str(options.integer("max_length", 0, least=0)),
            "prompt": options.text("prompt", ""),
            "device": options.choice("device", DEVICES, "auto"),
            "trust_remote_code": _yes_no(options.flag("trust_remote_code", False)),
        }
        batch_size = options.integer("batch_size", 32)
        options.done()
        if choices["trust_remote_code"] == "no":
            _check_modules(spec, files)
        return cls(spec, files, choices, batch_size)

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def options(self) -> Mapping[str, str]:
        modules = [str(module.get("type", "")).rpartition(".")[2] for module in _modules(self._files)]
        chosen = {name: value for name, value in self._choices.items() if value not in ("", "0")}
        revision = {"revision": self._files.commit} if self._files.commit else {}
        return {"modules": "+".join(modules), **chosen, "batch_size": str(self._batch_size), **revision}

    def identity(self) -> str:
        """Weights, choices and library versions; not the batch size, which changes no more than the last digit."""
        names = ("torch", "transformers", "tokenizers", "sentence-transformers")
        content = ["st", self._files.identity(), self._choices, {name: version(name) for name in names}]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def notes(self) -> list[str]:
        if self._choices["trust_remote_code"] == "no":
            return []
        return [f"'{self.name}': trust_remote_code=yes, so code that came with the model was allowed to run"]

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer

        with one_line_errors(self.name), quiet():
            model = self._files.load(
                SentenceTransformer,
                device=pick_device(self._choices["device"]),
                trust_remote_code=self._choices["trust_remote_code"] == "yes",
            )
        if (limit := int(self._choices["max_length"])) > 0:
            model.max_seq_length = limit
        return model.float().eval()

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        vectors: AnyMatrix = self._model.encode(
            list(texts),
            prompt=self._choices["prompt"] or None,
            batch_size=self._batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return unit_length(vectors) if self._choices["normalise"] == "yes" else vectors

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return [self._coverage(self._choices["prompt"] + text) for text in texts]

    def _coverage(self, text: str) -> Coverage:
        tokenizer = self._model.tokenizer
        if not hasattr(
            tokenizer, "convert_ids_to_tokens"
        ):  # a static model, with a plain tokenizers.Tokenizer
            return Coverage(tuple(tokenizer.encode(text, add_special_tokens=False).tokens))
        tokens = tokenizer.convert_ids_to_tokens(tokenizer(text, verbose=False)["input_ids"])
        limit = self._model.max_seq_length
        if limit is None or len(tokens) <= limit:
            return Coverage(tuple(tokens))
        return Coverage(tuple(tokens[:limit]), note=f"cut to {limit} of {len(tokens)} tokens")


def _yes_no(flag: bool) -> str:
    return "yes" if flag else "no"


def _modules(files: ModelFiles) -> list[dict[str, Any]]:
    """The entries of modules.json; without that file, a transformer with mean pooling."""
    modules = files.json("modules.json")
    if modules is None:
        return [{"type": f"{OWN_MODULES}Transformer"}, {"type": f"{OWN_MODULES}Pooling"}]
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise EncoderError(f"{files.folder / 'modules.json'}: should be a list of modules")
    return modules


def _check_modules(spec: Spec, files: ModelFiles) -> None:
    """Refuse modules from elsewhere: a name in modules.json is enough to import its code."""
    for module in _modules(files):
        kind = str(module.get("type", ""))
        if not kind.startswith(OWN_MODULES):
            raise UnsafeFileError(
                f"'{spec}': its module '{kind}' is code that comes with the model, which is not run;"
                " if you trust it, add trust_remote_code=yes"
            )
