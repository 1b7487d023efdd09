"""Adapt in-memory models of any library to the Model protocol.

No library is imported to recognise its objects, because an object can exist only if the module of its class is already
imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from weatherglass.arrays import AnyMatrix, ArrayError, real_array
from weatherglass.encoders.base import Coverage, Encoder, Model
from weatherglass.errors import EncoderError, WeatherglassError
from weatherglass.registry import checked_text, described, shown


class InMemoryFunction(Encoder):
    """An encoder from a function of a list of texts; each text counts as one token, since its coverage is unknown."""

    in_parts: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        function: Callable[[list[str]], Any],
        options: Mapping[str, str] | None = None,
        identity: str | None = None,
    ) -> None:
        self.name = name
        self.options: Mapping[str, str] = options or {}
        self._function = function
        self._identity = identity

    def identity(self) -> str | None:
        """Return the identity that the caller stated, since a function cannot be hashed."""
        return self._identity

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        try:
            given = self._function(list(texts))
        except WeatherglassError:
            raise
        except Exception as error:  # the user's code may raise anything
            raise EncoderError(
                f"{self.name}: failed on a list of {len(texts)} texts ({type(error).__name__}: {error})"
            ) from error
        return as_matrix(given, self.name, texts)

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return [Coverage((text,)) for text in texts]


def as_matrix(given: Any, name: str, texts: Sequence[str]) -> AnyMatrix:
    """Return an array with one row per text from an array, list, sparse matrix or tensor.

    Raises:
        EncoderError: if the object is anything else; the message states what is expected.
    """
    count = len(texts)
    expected = (
        f"{name}: for a list of {count} texts, the encoder should return an array with {count} rows, "
        "one vector per text"
    )
    try:
        matrix = real_array(given)
    except ArrayError as error:
        if error.row is not None and error.row < len(texts):
            raise EncoderError(f"{name}: the vector of {texts[error.row]!r} {error}") from None
        raise EncoderError(f"{expected}, but it returned {type(given).__name__}, which {error}") from None
    if matrix.ndim != 2 or len(matrix) != len(texts):
        raise EncoderError(f"{expected}, but it returned an array of shape {matrix.shape}")
    return matrix


ACCEPTED = (
    "a spec or path, gensim KeyedVectors, a SentenceTransformer, a (model, tokenizer) pair of transformers, a spaCy "
    "pipeline, an object with .encode or .transform, a dict or frame of word vectors, or a function texts → array"
)


def model(given: Any, name: str | None = None, *, identity: str | None = None, **options: Any) -> Model:
    """Return a model from an object in memory, with a name and options.

    `run`, `measure` and `multiverse` also accept these objects directly; use this function to add a name or options.

    Args:
        given: gensim KeyedVectors (or a model with `.wv`), a SentenceTransformer, a (model, tokenizer) pair of
            transformers, a spaCy pipeline with vectors, an object with `.encode` or `.transform`, a dict word →
            vector, a pandas or polars frame of word vectors, or a function from a list of texts to an array.
        name: the name of the model in results; by default, the name of its function or class.
        identity: for a function or an object that cannot be hashed, a text that you change whenever its vectors
            change, such as a version. With an identity, a stored run can be resumed.
        options: `tokens`, `case` and `language` for word vectors, as in `vectors:FILE?case=lower`; `pooling`, `layers`
            and other options of `hf:` for a pair; `batch_size` for both kinds of neural models.

    Returns:
        A Model for `run`.

    Raises:
        EncoderError: if the object is not a supported model.

    Example:
        >>> vectors = {"sun": [1.0, 0.0], "rain": [0.0, 1.0]}
        >>> model(vectors, name="weather").encode(["sun", "sun rain"])
        array([[1. , 0. ],
               [0.5, 0.5]])
    """
    if name is not None and not checked_text("name", name):
        raise EncoderError("name is empty; omit it to use the name of the class")
    if identity is not None:
        checked_text("identity", identity)
    encoder = _recognised(given, name, identity, {key: _spelt(value) for key, value in options.items()})
    if encoder is None:
        raise EncoderError(f"cannot encode with {_described(given)}; expected {ACCEPTED}")
    return encoder


def models_in(given: Any) -> list[str | Model]:
    """Return the specs and encoders that a caller gave as models, which may be one model, a list, or a dict by
    name.
    """
    if isinstance(given, Mapping) and not _holds_vectors(given):
        return [_named(name, each) for name, each in given.items()]
    several = isinstance(given, list | tuple) and not is_pair(given)
    if several and not given:
        raise EncoderError(f"no model is given; expected {ACCEPTED}, or several in a list")
    found: list[str | Model] = []
    for each in given if several else [given]:
        is_spec = isinstance(each, str | os.PathLike)
        found.append(os.fspath(each) if is_spec else each if is_encoder(each) else model(each))
    return found


def one_model_in(given: Any) -> str | Model:
    """Return the only model that a caller gave, in any form that `models_in` accepts.

    Raises:
        EncoderError: if the caller gave several models.
    """
    found = models_in(given)
    if len(found) > 1:
        raise EncoderError(f"only one model is allowed here, but {len(found)} were given")
    return found[0]


def is_encoder(given: object) -> bool:
    """Return whether an object has the parts of the Model protocol that encoding needs."""
    has_name = all(hasattr(given, name) for name in ("name", "options"))
    return has_name and (hasattr(given, "observe") or all(hasattr(given, n) for n in ("encode", "coverage")))


def is_pair(given: object) -> bool:
    """Return whether an object is a pair of a model and its tokenizer, not two models."""
    return (
        isinstance(given, tuple)
        and len(given) == 2
        and any(hasattr(each, "convert_ids_to_tokens") for each in given)
    )


def _named(name: object, each: Any) -> str | Model:
    if not isinstance(name, str):
        raise EncoderError(f"the names of models should be texts, but one is {type(name).__name__}")
    return f"{name}={each}" if isinstance(each, str | os.PathLike) else model(each, name)


def _recognised(given: Any, name: str | None, identity: str | None, options: dict[str, str]) -> Model | None:
    if isinstance(given, str | os.PathLike):
        raise EncoderError(
            f"'{shown(given)}' is a spec; include its name and options in the spec: NAME=SPEC?option=value"
        )
    if is_pair(given):
        return _pair(given, name, options)
    if words := _word_vectors(given, name, options):
        return words
    if _is_instance(given, "sentence_transformers", "SentenceTransformer"):
        from weatherglass.encoders.in_memory.torch_models import InMemorySentenceTransformer

        batch_size = int(options.pop("batch_size", 32))
        _no_options(given, options)
        return InMemorySentenceTransformer(name or _model_name(given), given, batch_size)
    if hasattr(given, "convert_ids_to_tokens"):
        raise EncoderError(f"{_described(given)} is a tokenizer; give the pair (model, tokenizer)")
    if _is_instance(given, "transformers", "PreTrainedModel"):
        raise EncoderError(f"{_described(given)} needs its tokenizer; give the pair (model, tokenizer)")
    return _function(given, name, identity, options)


def _pair(given: tuple[Any, Any], name: str | None, options: dict[str, str]) -> Model:
    from weatherglass.encoders.in_memory.torch_models import InMemoryTransformer, check_pair

    check_pair(*given)
    return InMemoryTransformer.of(name or _model_name(given[0]), *given, **options)


def _word_vectors(given: Any, name: str | None, options: dict[str, str]) -> Model | None:
    from weatherglass.encoders.in_memory import words
    from weatherglass.encoders.spec import Spec
    from weatherglass.encoders.vectors import CASES, word_options

    case = CASES[0]
    keyed = getattr(given, "wv", given)  # a gensim model has its vectors there
    if _is_instance(keyed, "gensim.models", "KeyedVectors"):
        table = words.of_keyed_vectors(keyed)
    elif _is_instance(given, "spacy.language", "Language"):
        table, case = words.of_spacy(given), "exact"  # as in spaCy
    elif _is_instance(given, "pandas", "DataFrame"):
        table = words.of_pandas(given)
    elif _is_instance(given, "polars", "DataFrame"):
        table = words.of_polars(given)
    elif isinstance(given, Mapping) and _holds_vectors(given):
        table = words.of_mapping(given)
    else:
        return None
    reader = Spec(type(given).__name__, "", tuple(options.items())).reader()
    choices = word_options(reader, case)
    reader.done()
    return words.InMemoryWords(name or type(given).__name__, table, *choices)


def _function(given: Any, name: str | None, identity: str | None, options: dict[str, str]) -> Model | None:
    if isinstance(given, type):
        raise EncoderError(f"{given.__name__} is a class; give an object of it: {given.__name__}(…)")
    method = next((each for each in ("encode", "transform") if callable(getattr(given, each, None))), None)
    if method is None and (not callable(given) or _is_instance(given, "torch.nn", "Module")):
        return None
    _no_options(given, options)
    function = getattr(given, method) if method else given
    own = getattr(given, "__name__", type(given).__name__)
    return InMemoryFunction(name or own, function, {"method": method} if method else {}, identity)


def _no_options(given: object, options: Mapping[str, str]) -> None:
    if options:
        raise EncoderError(f"{_described(given)} does not take the option '{next(iter(options))}'")


def _model_name(given: Any) -> str:
    """Return the folder or hub name of a neural model, or its class if it has neither."""
    card = getattr(getattr(given, "model_card_data", None), "base_model", None)
    known = card or getattr(getattr(given, "config", None), "_name_or_path", "")
    return str(known) or type(given).__name__


def _is_instance(given: object, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None) if module in sys.modules else None
    return isinstance(kind, type) and isinstance(given, kind)


def _holds_vectors(given: Mapping[Any, Any]) -> bool:
    """Return whether a dict contains vectors by word, not models by name."""
    if not given:
        raise EncoderError(
            "an empty dict is not a model; it should contain vectors by word, or models by name"
        )
    return _is_vector(next(iter(given.values())))


def _is_vector(value: Any) -> bool:
    """Return whether a value is meant as a vector, even if it is not a valid one."""
    if isinstance(value, str) or not (isinstance(value, Sequence) or hasattr(value, "__array__")):
        return False
    try:
        array = np.asarray(value) if np.ma.is_masked(value) else real_array(value)
    except ArrayError:
        return isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return array.ndim == 1 and bool(array.size)


def _spelt(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _described(given: object) -> str:
    return "an array, which has no words" if isinstance(given, np.ndarray) else described(given)
