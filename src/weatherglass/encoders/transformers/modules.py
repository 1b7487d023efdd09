"""modules.json of a sentence-transformers model: its modules, and the refusal of those that are not its own."""

from __future__ import annotations

from typing import Any

from weatherglass.encoders.spec import Spec
from weatherglass.encoders.transformers.hub import ModelFiles
from weatherglass.errors import EncoderError, UnsafeFileError

OWN_MODULES = "sentence_transformers."


def read_modules(files: ModelFiles) -> list[dict[str, Any]] | None:
    """The entries of modules.json; None without that file.

    Raises:
        EncoderError: if the file is not a list of modules.
    """
    modules = files.json("modules.json")
    if modules is None:
        return None
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise EncoderError(f"{files.folder / 'modules.json'}: should be a list of modules")
    return modules


def module_types(files: ModelFiles) -> list[tuple[str, str]]:
    """The last part of each module's type, such as "Pooling", and its folder."""
    modules = read_modules(files) or []
    return [(str(m.get("type", "")).rpartition(".")[2], str(m.get("path", ""))) for m in modules]


def refuse_foreign_modules(spec: Spec, files: ModelFiles, remedy: str = "") -> None:
    """Refuse modules from elsewhere: a name in modules.json is enough to import its code.

    Raises:
        UnsafeFileError: naming the module, with `remedy` after it.
    """
    for module in read_modules(files) or []:
        kind = str(module.get("type", ""))
        if not kind.startswith(OWN_MODULES):
            raise UnsafeFileError(
                f"'{spec}': its module '{kind}' is code that comes with the model, which is not run{remedy}"
            )
