"""Find the files of a neural model in a folder or on the Hugging Face hub, and check them before a library reads them.

A hub model in the local cache is used without a network request, and its commit is recorded. `revision=` selects
another commit.

config.json states the size of a network, and transformers builds the network before it reads the weights; missing
weights are allocated and filled with random numbers. The network is built on torch's meta device, where a tensor has a
shape but no memory, so that modules and tensors can be counted and compared with the size of the files.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import string
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError, UnsafeFileError
from weatherglass.storage.checksum import file_hash, folder_hash
from weatherglass.storage.child_process import Content, Limits, prove
from weatherglass.storage.reading import exists, is_folder, reading, require_regular_file, shown_size
from weatherglass.storage.torch_file import check_torch

T = TypeVar("T")

SMALL_FILES = ["*.json", "*.txt", "*.model"]
"""The configuration and the tokenizer, which are enough to check a spec before weights are downloaded."""

HUB_TIMEOUT = 5.0
"""Seconds to wait for the hub; without this limit, its client retries for half a minute before it reports a missing
network.
"""


@dataclass(frozen=True)
class ModelFiles:
    """A model's files, by folder or by hub name and commit."""

    target: str
    """The folder or the hub name, as the libraries take it."""
    folder: Path
    """The folder of the small files."""
    commit: str = ""
    """The commit on the hub; empty for a local folder."""

    def identity(self) -> str:
        """Return a hash of the folder's content, or the name and commit on the hub."""
        return f"{self.target}@{self.commit}" if self.commit else folder_hash(self.folder)

    def size(self) -> int:
        """Return the number of bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def json(self, name: str) -> Any:
        """Return the content of a JSON file of the model, or None if there is no such file."""
        path = self.folder / name
        if not exists(path):
            return None
        with reading(path, EncoderError, "this JSON file"):
            return json.loads(path.read_text(encoding="utf-8"))

    def table(self, name: str) -> dict[str, Any]:
        """Return the object in a JSON file of the model; empty if there is no such file."""
        content = self.json(name)
        return content if isinstance(content, dict) else {}

    @cached_property
    def config(self) -> dict[str, Any]:
        """Return config.json, the configuration for transformers."""
        return self.table("config.json")

    def own_code(self) -> list[str]:
        """Return the classes of the model's own code that its configuration names, such as "modeling_own.OwnModel"."""
        names: set[str] = set()
        for file in ("config.json", "tokenizer_config.json"):
            auto_map = self.table(file).get("auto_map")
            values = auto_map.values() if isinstance(auto_map, dict) else [auto_map]
            for value in values:  # for a tokenizer, a list: slow and fast
                names |= {
                    one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)
                }
        return sorted(names)

    def load(self, loader: Callable[..., T], **options: Any) -> T:
        """Load the model with `loader(target, …)` from local files, or from the hub if there are none."""
        if not self.commit:
            return loader(str(self.folder), local_files_only=True, **options)
        try:
            return loader(self.target, revision=self.commit, local_files_only=True, **options)
        except OSError:
            check_reachable(self.target)
            return loader(self.target, revision=self.commit, local_files_only=False, **options)


def find_model(target: str, revision: str, probes: tuple[str, ...] = ("config.json",)) -> ModelFiles:
    """Return the files of the model `target`, which must include one of `probes`.

    Raises:
        SpecError: if `target` is neither a model folder nor a hub name.
        EncoderError: if the hub does not have the model, or is needed but cannot be reached.
    """
    folder = Path(target).expanduser()
    if is_folder(folder):
        if not any((folder / probe).is_file() for probe in probes):
            raise SpecError(
                f"{target}: this folder has no {' or '.join(probes)}, so it is not a transformers model"
            )
        if revision:
            raise SpecError(f"{target}: revision={revision} is only for hub names, but this is a folder")
        return ModelFiles(target, folder)
    if exists(folder):
        raise SpecError(f"{target}: this is a file; name the folder or the hub name of a model")
    if not target or target.startswith((".", "~", os.sep)) or target.count("/") > 1:
        raise SpecError(
            f"no model '{target[:100]}': it is neither a folder nor a hub name (NAME or OWNER/NAME)"
        )
    _check_name(target)
    return _in_local_cache(target, revision, probes) or _from_hub(target, revision, probes)


def _check_name(name: str) -> None:
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        raise SpecError(
            f"no model '{name[:100]}': it is neither a folder nor a hub name (at most 96 letters, digits, "
            "- _ and .)"
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
    """Send one request to the hub, so that a missing network is reported within seconds.

    Raises:
        EncoderError: if the hub cannot be reached; the message states how to use the model without the hub.
    """
    from huggingface_hub import constants, get_session

    try:
        if constants.HF_HUB_OFFLINE:
            raise OSError("HF_HUB_OFFLINE is set")
        get_session().head(constants.ENDPOINT, timeout=HUB_TIMEOUT)
    except Exception as error:  # the HTTP client and its errors differ between versions
        raise EncoderError(
            f"'{name}' is not in the local Hugging Face cache and the hub cannot be reached ({first_line(error)});"
            " run once with a network, or copy the model's folder here and give its path"
        ) from None


def first_line(error: BaseException) -> str:
    """Return the first line of a library's error message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


OWN_MODULES = "sentence_transformers."


def read_modules(files: ModelFiles) -> list[dict[str, Any]] | None:
    """Return the entries of modules.json, or None if there is no such file.

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
    """Return the last part of each module's type, such as "Pooling", and its folder."""
    modules = read_modules(files) or []
    return [(str(m.get("type", "")).rpartition(".")[2], str(m.get("path", ""))) for m in modules]


def refuse_foreign_modules(spec: Spec, files: ModelFiles, remedy: str = "") -> None:
    """Refuse modules that are not from sentence-transformers, because a name in modules.json can import code.

    Raises:
        UnsafeFileError: if a module is not from sentence-transformers; the message names it and the remedy.
    """
    for module in read_modules(files) or []:
        kind = str(module.get("type", ""))
        if not kind.startswith(OWN_MODULES):
            raise UnsafeFileError(
                f"'{spec}': its module '{kind}' is code that comes with the model, which is not run{remedy}"
            )


TOKENIZER = "tokenizer.json"


def read_tokenizer(path: Path, noun: str) -> Any:
    """Read a tokenizer with the library tokenizers.

    Args:
        path: the file.
        noun: what error messages call the file.

    Raises:
        EncoderError: if it is damaged, or needs more time or memory than a tokenizer of its size.
    """
    from tokenizers import Tokenizer

    prove_tokenizer(path)
    with reading(path, EncoderError, noun):
        return Tokenizer.from_file(str(path))


TOKENIZER_RATIO = 10
"""The limit on memory as a multiple of a tokenizer's file, for vocabularies of a million tokens."""


def prove_tokenizer(path: Path) -> None:
    """Try a tokenizer in a child process with limits, once per content.

    A file of 4 kB can replace each letter by sixteen, eight times in turn, or number a token so that the library
    allocates gigabytes, and the library ends the process if memory runs out.

    Raises:
        EncoderError: if it is damaged, or needs more time or memory than a tokenizer of its size.
    """
    size = require_regular_file(path, EncoderError).st_size
    identity = (file_hash(path), version("tokenizers"))
    prove(f"{__name__}:try_tokenizer", path, EncoderError, identity, Limits(size, TOKENIZER_RATIO))


def try_tokenizer(path: Path) -> Content:
    """Read a tokenizer and tokenise every kind of text; only the limits of the process matter, not the tokens."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.get_vocab()
    tokenizer.to_str()
    for text in probe():
        with contextlib.suppress(Exception):  # a tokenizer without an unknown token refuses unknown texts
            tokenizer.encode(text)
    return None, {}


def probe() -> Iterator[str]:
    """Yield texts that contain every character below U+3000, runs of each letter and digit, and a long text."""
    for start in range(0, 0x3000, 64):
        yield "".join(map(chr, range(start, start + 64)))
    for character in string.ascii_letters + string.digits + string.punctuation:
        yield 40 * character
    yield 50 * "the quick brown fox jumps over the lazy dog "


NUMBERS = 2**26
NUMBERS_PER_BYTE = 8
"""The maximum number of parameters of a network: 256 MB as float32, plus what its files can store at one bit each."""

PARTS = 10_000
BYTES_PER_PART = 32
"""The maximum number of modules and tensors: a fixed number, plus one per 32 bytes of the files."""

ADAPTER = "adapter_config.json"

MOST_OF_A_KIND = 2**20
LONGEST_WINDOW = 2**16
_LIMITS = (
    (re.compile(r"(layers?|labels|groups|experts|blocks|stages)$"), MOST_OF_A_KIND),
    (re.compile(r"(attention_window|block_size|chunk_length)$"), LONGEST_WINDOW),
)
"""Limits by the end of a key, for counts that a library iterates over and lengths that texts are padded to."""


def check_counts(name: str, config: Mapping[str, Any]) -> None:
    """Refuse counts that would keep a library busy before a network is built, or that would pad every text.

    Raises:
        EncoderError: if a count is too large; the message names the first one.
    """
    tables: list[Mapping[str, Any]] = [config]
    while tables:
        for key, value in tables.pop().items():
            if isinstance(value, dict):
                tables.append(value)
            largest = max(
                (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, int)),
                default=0,
            )
            for end, most in _LIMITS:
                if largest > most and end.search(key):
                    raise EncoderError(
                        f"'{name}': its configuration has {key} = {largest}, but at most {most} is "
                        "supported; if the file is damaged, get it again"
                    )


def check_module_sizes(name: str, files: ModelFiles) -> None:
    """Refuse a module of sentence-transformers that is far larger than the model's files.

    All modules except the first are built in memory; two numbers in their configuration are the shape of the largest
    array.

    Raises:
        EncoderError: if a module is too large; the message names its configuration.
    """
    for kind, path in module_types(files):
        if kind == "Transformer":
            continue
        file = str(Path(path) / "config.json")
        config = files.table(file)
        check_counts(f"{name}, {file}", config)
        sizes = sorted(value for value in config.values() if isinstance(value, int))
        if len(sizes) > 1 and sizes[-1] * sizes[-2] > NUMBERS + NUMBERS_PER_BYTE * files.size():
            raise EncoderError(_too_large(name, file, sizes[-1] * sizes[-2], "numbers", files.size()))


@contextmanager
def limited_by_files(name: str, files: ModelFiles) -> Iterator[None]:
    """Refuse a network that has more parts or numbers than the model's files can store.

    An adapter is not checked, since the files of its base model are elsewhere. Weights that torch.save wrote are
    checked before torch reads them.

    Raises:
        EncoderError: at the first part beyond the limit, before it is allocated.
        VectorFileError: if a file of weights asks for more bytes than it has.
    """
    with _checked_weights(), _counted_network(name, files):
        yield


@contextmanager
def _checked_weights() -> Iterator[None]:
    """Make torch.load check each file first, since only the library knows which files it reads."""
    import torch

    load = torch.load

    def checked(file: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(file, str | PathLike):
            check_torch(Path(file))
        return load(file, *arguments, **options)

    torch.load = checked
    try:
        yield
    finally:
        torch.load = load


@contextmanager
def _counted_network(name: str, files: ModelFiles) -> Iterator[None]:
    if exists(files.folder / ADAPTER):
        yield
        return
    from torch.nn.modules import module as torch_modules

    numbers: dict[tuple[int, str], int] = {}
    total = 0

    def count(owner: Any, part: str, value: Any) -> None:
        nonlocal total
        place = (id(owner), part)  # weights replace the numbers of the built network
        added = value.numel() if hasattr(value, "numel") else 0
        total += added - numbers.get(place, 0)
        numbers[place] = added
        if total > NUMBERS and total > NUMBERS + NUMBERS_PER_BYTE * files.size():
            raise EncoderError(_too_large(name, "config.json", total, "numbers", files.size()))
        if len(numbers) > PARTS and len(numbers) > PARTS + files.size() // BYTES_PER_PART:
            raise EncoderError(_too_large(name, "config.json", len(numbers), "parts", files.size()))

    hooks = [
        torch_modules.register_module_module_registration_hook(count),
        torch_modules.register_module_parameter_registration_hook(count),
        torch_modules.register_module_buffer_registration_hook(count),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _too_large(name: str, file: str, count: int, noun: str, size: int) -> str:
    return (
        f"'{name}': {file} describes a network of at least {count} {noun}, but all files of the model together have"
        f" {shown_size(size)}; get the configuration and the weights again"
    )
