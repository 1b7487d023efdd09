"""The files of a transformers model: from a folder, or from the Hugging Face hub and its local cache.

A hub model that is in the local cache is used from there, without a network request; its commit is in the record.
`revision=` names another one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.fingerprint import folder_hash
from weatherglass.storage.reading import exists, is_folder, reading

T = TypeVar("T")

SMALL_FILES = ["*.json", "*.txt", "*.model"]
"""Configuration and tokenizer: enough to check a spec before any weights are fetched."""

HUB_TIMEOUT = 5.0
"""Seconds. The hub's own client retries for half a minute before it reports that there is no network."""


@dataclass(frozen=True)
class ModelFiles:
    """A model's files, by folder or by hub name and commit."""

    target: str
    """What the libraries are given: the folder or the hub name."""
    folder: Path
    """Where the small files are."""
    commit: str = ""
    """The hub's commit; empty for a folder of the user's own."""

    def identity(self) -> str:
        """A hash of the folder's content, or the hub's name and commit, which say the same."""
        return f"{self.target}@{self.commit}" if self.commit else folder_hash(self.folder)

    def size(self) -> int:
        """Bytes of all its files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def json(self, name: str) -> Any:
        """A small JSON file of the model; None where there is none."""
        path = self.folder / name
        if not exists(path):
            return None
        with reading(path, EncoderError, "not readable as JSON: the file"):
            return json.loads(path.read_text(encoding="utf-8"))

    def table(self, name: str) -> dict[str, Any]:
        """A small JSON file that should hold an object; empty where there is none."""
        content = self.json(name)
        return content if isinstance(content, dict) else {}

    @cached_property
    def config(self) -> dict[str, Any]:
        """config.json, in which transformers keeps what a model is."""
        return self.table("config.json")

    def own_code(self) -> list[str]:
        """The classes of its own that a model's configuration names, such as "modeling_own.OwnModel"."""
        names: set[str] = set()
        for file in ("config.json", "tokenizer_config.json"):
            auto_map = self.table(file).get("auto_map")
            values = auto_map.values() if isinstance(auto_map, dict) else [auto_map]
            for value in values:  # of a tokenizer, a list: slow and fast
                names |= {
                    one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)
                }
        return sorted(names)

    def load(self, loader: Callable[..., T], **options: Any) -> T:
        """`loader(target, …)`, from the local files first and only then from the hub."""
        if not self.commit:
            return loader(str(self.folder), local_files_only=True, **options)
        try:
            return loader(self.target, revision=self.commit, local_files_only=True, **options)
        except OSError:
            check_reachable(self.target)
            return loader(self.target, revision=self.commit, local_files_only=False, **options)


def find_model(target: str, revision: str, probes: tuple[str, ...] = ("config.json",)) -> ModelFiles:
    """The files of the model called `target`; one of `probes` must be among them.

    Raises:
        SpecError: if `target` is neither a model folder nor a hub name.
        EncoderError: if the hub does not have it, or is needed and cannot be reached.
    """
    folder = Path(target).expanduser()
    if is_folder(folder):
        if not any((folder / probe).is_file() for probe in probes):
            raise SpecError(
                f"{target}: this folder has no {' or '.join(probes)}, so it is not a transformers model"
            )
        if revision:
            raise SpecError(f"{target}: revision={revision} is for hub names; this is a folder")
        return ModelFiles(target, folder)
    if exists(folder):
        raise SpecError(f"{target}: a file, but a model's folder or hub name is needed")
    if not target or target.startswith((".", "~", os.sep)) or target.count("/") > 1:
        raise SpecError(f"no folder '{target[:100]}' (and it is not a hub name either: NAME or OWNER/NAME)")
    _check_name(target)
    return _in_local_cache(target, revision, probes) or _from_hub(target, revision, probes)


def _check_name(name: str) -> None:
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        raise SpecError(
            f"no folder '{name[:100]}' (and it is not a hub name either: letters, digits, - _ and . , 96 at most)"
        ) from None


def _in_local_cache(name: str, revision: str, probes: tuple[str, ...]) -> ModelFiles | None:
    from huggingface_hub import try_to_load_from_cache

    for probe in probes:
        cached = try_to_load_from_cache(name, probe, revision=revision or None)
        if isinstance(cached, str):
            return _snapshot(name, Path(cached).parent)
    return None


def _snapshot(name: str, folder: Path) -> ModelFiles:
    return ModelFiles(name, folder, commit=folder.name)


def _from_hub(name: str, revision: str, probes: tuple[str, ...]) -> ModelFiles:
    from huggingface_hub import errors, snapshot_download

    check_reachable(name)
    try:
        folder = Path(snapshot_download(name, revision=revision or None, allow_patterns=SMALL_FILES))
    except errors.GatedRepoError:
        raise EncoderError(
            f"'{name}' is gated: accept its terms on the hub, then run: hf auth login"
        ) from None
    except errors.RepositoryNotFoundError:
        raise EncoderError(
            f"the hub has no model '{name}' (or it is private; then run: hf auth login)"
        ) from None
    except errors.RevisionNotFoundError:
        raise EncoderError(f"the hub's '{name}' has no revision '{revision}'") from None
    except (OSError, errors.HfHubHTTPError) as error:
        raise EncoderError(f"'{name}' could not be downloaded from the hub: {first_line(error)}") from None
    if not any((folder / probe).is_file() for probe in probes):
        raise EncoderError(
            f"the hub's '{name}' has no {' or '.join(probes)}, so it is not a transformers model"
        )
    return _snapshot(name, folder)


def check_reachable(name: str) -> None:
    """Send one request to the hub, so that without a network the error comes within seconds.

    Raises:
        EncoderError: saying how to use the model without the hub.
    """
    from huggingface_hub import constants, get_session

    try:
        if constants.HF_HUB_OFFLINE:
            raise OSError("HF_HUB_OFFLINE is set")
        get_session().head(constants.ENDPOINT, timeout=HUB_TIMEOUT)
    except Exception as error:  # the HTTP client differs between versions, and so do its errors
        raise EncoderError(
            f"'{name}' is not in the local Hugging Face cache and the hub cannot be reached ({first_line(error)});"
            " run once with a network, or copy the model's folder here and give its path"
        ) from None


def first_line(error: BaseException) -> str:
    """The first line of a library's error message, which may have many."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
