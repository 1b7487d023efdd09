"""Models: checkpoints as pickles and torch files, folders of several files, graphs, and the answers of an API."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.hostile.mutations import (
    CUT,
    DAMAGE,
    as_json,
    of_json,
    of_pickle,
    of_safetensors,
    of_zip,
)
from tests.hostile.target import Reading, Sample, Target, same_after

TEXTS = ["this is a dog", "cat"]


def _files(folder: Path, *names: str) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


def _weights() -> dict[str, Any]:
    from tests.encoders.papers.paper_networks import random_recurrent

    return dict(random_recurrent(np.random.default_rng(0), 4, 6, 5, 1, "enc_lstm."))


def _saved(tensors: dict[str, Any], path: Path, zipped: bool) -> bytes:
    import torch

    named = OrderedDict((name, torch.from_numpy(array)) for name, array in tensors.items())
    torch.save(named, path, _use_new_zipfile_serialization=zipped)
    return path.read_bytes()


def _torch_samples(folder: Path) -> list[Sample]:
    old, new = (_saved(_weights(), folder / "m.pkl", zipped) for zipped in (False, True))
    return [
        Sample({"old.pkl": old}, {"old.pkl": of_pickle}, text=False),
        Sample({"new.pkl": new}, {"new.pkl": of_zip({".pkl": of_pickle})}, text=False),
    ]


def _torch(path: Path) -> Reading:
    from weatherglass.storage.torch_file import read_torch, state_dict

    weights = state_dict(read_torch(path), str(path))
    return Reading({name: np.asarray(array).tobytes() for name, array in weights.items()})


def _zip_unchanged(sample: Sample, before: Reading, after: Reading, kind: str) -> str:
    """The newer layout is a zip archive, whose checksums notice damage; the older one has none."""
    kinds = (CUT, DAMAGE) if "new.pkl" in sample.files else (CUT,)
    return same_after(*kinds)(sample, before, after, kind)


GLOVE = b"".join(
    b"%s %s\n" % (word, b" ".join(b"%.4f" % x for x in np.random.default_rng(1).normal(size=6)))
    for word in (b"<s>", b"</s>", b"this", b"is", b"a", b"dog", b"cat")
)


def _infersent_samples(folder: Path) -> list[Sample]:
    checkpoint = _saved(_weights(), folder / "i.pkl", zipped=False)
    return [Sample({"i.pkl": checkpoint, "glove.txt": GLOVE}, {"i.pkl": of_pickle}, text=False)]


def _infersent(path: Path) -> Reading:
    return _encoded(f"infersent:{path}?glove={path.parent / 'glove.txt'}")


def _encoded(spec: str) -> Reading:
    from weatherglass.encoders import load_encoder

    vectors = load_encoder(spec, cache=False).encode(TEXTS)
    return Reading(np.asarray(vectors, dtype=np.float64).tobytes())


def _gensen_samples(folder: Path) -> list[Sample]:
    from tests.encoders.papers.paper_networks import random_recurrent

    words = ["<s>", "<pad>", "</s>", "<unk>", "this", "is", "a", "dog", "cat"]
    rng = np.random.default_rng(0)
    tensors = {"src_embedding.weight": rng.normal(size=(len(words), 4)).astype(np.float32)}
    tensors |= random_recurrent(rng, 3, 4, 3, 1, "encoder.")
    weights = _saved(tensors, folder / "m.model", zipped=False)
    import pickle

    numbered = {"word2id": {word: n for n, word in enumerate(words)}, "id2word": dict(enumerate(words))}
    vocabulary = pickle.dumps(numbered, protocol=2)
    content = {"m.model": of_pickle, "m_vocab.pkl": of_pickle}
    return [Sample({"m.model": weights, "m_vocab.pkl": vocabulary}, content, main=".", text=False)]


def _gensen(path: Path) -> Reading:
    return _encoded(f"gensen:{path}?models=m")


def _pickle_samples(_folder: Path) -> list[Sample]:
    import pickle

    value = {"words": ["a", "b"], "numbers": np.arange(3.0), "nested": {"x": (1, 2.5, None, True, b"y")}}
    return [
        Sample(
            {f"p{protocol}.pkl": pickle.dumps(value, protocol)}, {f"p{protocol}.pkl": of_pickle}, text=False
        )
        for protocol in (0, 2, 4, 5)
    ]


def _pickle(path: Path) -> Reading:
    from weatherglass.storage.unpickle import read_pickle

    return Reading(repr(read_pickle(path)))


def _elmo_samples(folder: Path) -> list[Sample]:
    from tests.encoders.papers.tiny_elmo import write_elmo

    write_elmo(folder / "elmo")
    files = _files(folder / "elmo", "options.json", "lm_weights.hdf5")
    content = {"options.json": of_json(json.loads(files["options.json"]))}
    return [Sample(files, content, main=".", text=False)]


def _elmo(path: Path) -> Reading:
    return _encoded(f"elmo:{path}")


def _model2vec_samples(folder: Path) -> list[Sample]:
    from tests.encoders.test_model2vec import write_model

    made = write_model(folder / "m")
    files = _files(made, "config.json", "tokenizer.json", "model.safetensors")
    content = {name: of_json(json.loads(files[name])) for name in ("config.json", "tokenizer.json")}
    return [Sample(files, {**content, "model.safetensors": of_safetensors}, main=".", text=False)]


def _model2vec(path: Path) -> Reading:
    return _encoded(f"model2vec:{path}")


def _graph_samples(_folder: Path) -> list[Sample]:
    from tests.encoders.onnx.tiny_graphs import lookup

    return [Sample({"m.onnx": lookup(20).SerializeToString()}, text=False)]


def _graph(path: Path) -> Reading:
    from weatherglass.encoders.onnx_files import read_graph

    return Reading(repr(read_graph(path))[:1000])


CHILD = ("tokenizers", "weatherglass.encoders.model_files", "weatherglass.encoders.onnx_files", "onnxruntime")
"""What the child processes import that prove tokenizers and graphs."""


def _program_samples(_folder: Path) -> list[Sample]:
    """Graphs that run: one of a mean, and one whose loop and array have sizes that a mutation can make large."""
    from tests.hostile.models import graphs, tokenizer

    rest = {"tokenizer.json": as_json(tokenizer())}

    return [
        Sample({"model.onnx": graph, **rest}, {"model.onnx": of_graph}, main=".", text=False)
        for graph in (graphs()["good"], _grown_by_shape())
    ]


SIZES = (0, 1, -1, 2, 7, 1000, 2**20, 2**31, 2**40, 2**62)
OPERATORS = (
    "Identity",
    "Loop",
    "Tile",
    "Expand",
    "Mul",
    "Add",
    "Concat",
    "Gather",
    "Cast",
    "Resize",
    "Own",
    "Range",
)


def of_graph(random: Random, content: bytes) -> bytes:
    """Change a size, an operator, an edge or the place of a tensor in a graph, which stays a message of its format."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load_from_string(content)
    graph = model.graph
    bodies = [each.g for node in graph.node for each in node.attribute if each.HasField("g")]
    for _ in range(random.randint(1, 2)):
        node = random.choice([*graph.node, *(node for body in bodies for node in body.node)])
        kind = random.choice(("size", "size", "operator", "edge", "elsewhere", "domain", "twice"))
        inside = [tensor for tensor in graph.initializer if not tensor.external_data]
        if kind == "size" and inside:
            tensor = random.choice(inside)
            values = numpy_helper.to_array(tensor).copy()
            values.flat[random.randrange(values.size)] = random.choice(SIZES)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        elif kind == "operator":
            node.op_type = random.choice(OPERATORS)
        elif kind == "edge" and node.input:
            node.input[random.randrange(len(node.input))] = random.choice(["input_ids", "", *node.output])
        elif kind == "elsewhere" and inside:
            tensor = random.choice(inside)
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(
                key="location", value=random.choice(("../secret.npy", "/etc/passwd", "w"))
            )
        elif kind == "domain":
            node.domain = random.choice(("own", "com.microsoft", "ai.onnx.ml"))
        elif kind == "twice":
            graph.node.add().CopyFrom(node)
    return bytes(model.SerializeToString())


def _grown_by_shape() -> bytes:
    """A graph with a loop and an array whose sizes are numbers in the file, which mutations make large."""
    from onnx import TensorProto, helper, numpy_helper

    node, info = helper.make_node, helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Mul", ["value", "value"], ["next"])],
        "body",
        [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("value", 1, None)],
        [info("on", TensorProto.BOOL, []), info("next", 1, None)],
    )
    graph = helper.make_graph(
        [
            node("Cast", ["input_ids"], ["read"], to=TensorProto.FLOAT),
            node("ReduceMean", ["read"], ["mean"], axes=[1], keepdims=1),
            node("Loop", ["rounds", "", "mean"], ["looped"], body=body),
            node("Expand", ["looped", "size"], ["wide"]),
            node("Tile", ["wide", "times"], ["sentence_embedding"]),
        ],
        "g",
        [info("input_ids", TensorProto.INT64, ["texts", "tokens"])],
        [info("sentence_embedding", TensorProto.FLOAT, ["texts", "width"])],
        [
            numpy_helper.from_array(np.array(value), name)
            for name, value in (("rounds", 3), ("size", [1, 2]), ("times", [1, 2]))
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(made.SerializeToString())


def _program(path: Path) -> Reading:
    from weatherglass.encoders import load_encoder

    vectors = load_encoder(f"onnx:{path}", cache=False).encode(["a", "b", "a"])
    return Reading(vectors.tobytes())


def _component(kind: str, **options: Any) -> dict[str, Any]:
    return {"type": kind, **options}


NORMALIZERS = [
    _component(
        "BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True
    ),
    _component("Strip", strip_left=True, strip_right=True),
    _component("Replace", pattern={"String": "a"}, content="aa"),
    _component("Replace", pattern={"Regex": "(a|a)*b"}, content="c"),
    _component("Prepend", prepend="x"),
    *map(_component, ("NFC", "NFKC", "NFD", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")),
]
SPLITTERS = [
    *map(_component, ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")),
    _component("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
    _component("Metaspace", replacement="\u2581", prepend_scheme="always", split=True),
    _component("Split", pattern={"Regex": "\\s+"}, behavior="Isolated", invert=False),
    _component("CharDelimiterSplit", delimiter="-"),
    _component("Punctuation", behavior="Isolated"),
    _component("Digits", individual_digits=True),
]
TOKENS = ["[UNK]", "[CLS]", "[SEP]", "a", "b", "##b", "ab", "d", "o", "g"]
VOCABULARY = {token: number for number, token in enumerate(TOKENS)}
PIECES = [
    _component("WordLevel", vocab=VOCABULARY, unk_token="[UNK]"),
    _component(
        "WordPiece", vocab=VOCABULARY, unk_token="[UNK]", continuing_subword_prefix="##",
        max_input_chars_per_word=100,
    ),
    _component(
        "BPE", vocab=VOCABULARY, merges=[["a", "b"]], unk_token="[UNK]", dropout=None, fuse_unk=False,
        byte_fallback=False, ignore_merges=False, continuing_subword_prefix=None, end_of_word_suffix=None,
    ),
    _component("Unigram", vocab=[[token, -1.5] for token in TOKENS], unk_id=0, byte_fallback=False),
]  # fmt: skip
ENDINGS = [
    _component("BertProcessing", sep=["[SEP]", 2], cls=["[CLS]", 1]),
    _component(
        "RobertaProcessing", sep=["[SEP]", 2], cls=["[CLS]", 1], trim_offsets=True, add_prefix_space=True
    ),
    _component(
        "TemplateProcessing",
        single=[{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        pair=[{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        special_tokens={"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}},
    ),
    _component("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
]
ADDED = {
    "id": 10, "content": "[X]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
    "special": True,
}  # fmt: skip
CUTTING = {
    "truncation": {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0},
    "padding": {
        "strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
        "pad_type_id": 0, "pad_token": "[UNK]",
    },
}  # fmt: skip


def _tokenizer_samples(_folder: Path) -> list[Sample]:
    """Each component of the format once, and all of a kind in a sequence."""
    from tests.hostile.models import tokenizer

    chains = {"normalizer": ("normalizers", NORMALIZERS), "pre_tokenizer": ("pretokenizers", SPLITTERS)}
    trees = [tokenizer(normalizer=one) for one in NORMALIZERS]
    trees += [tokenizer(pre_tokenizer=one) for one in SPLITTERS]
    trees += [tokenizer(model=one) for one in PIECES]
    trees += [tokenizer(post_processor=one) for one in ENDINGS]
    trees += [
        tokenizer(**{name: _component("Sequence", **{each: some})}) for name, (each, some) in chains.items()
    ]
    trees += [tokenizer(**CUTTING, added_tokens=[ADDED])]
    return [Sample({"tokenizer.json": as_json(tree)}, {"tokenizer.json": of_json(tree)}) for tree in trees]


def _tokenizer(path: Path) -> Reading:
    from weatherglass.encoders.model_files import read_tokenizer
    from weatherglass.errors import EncoderError
    from weatherglass.storage.reading import errors_in_one_line

    read = read_tokenizer(path, "this tokenizer")
    read.no_padding()
    read.no_truncation()
    with errors_in_one_line(str(path), "cannot tokenise", "get it again", EncoderError):
        return Reading([each.ids for each in read.encode_batch(TEXTS)])


def _gguf_samples(folder: Path) -> list[Sample]:
    from gguf import GGUFWriter

    path = folder / "m.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(40)
    writer.add_token_list(["a", "b", "c"])
    writer.add_tensor("token_embd.weight", np.ones((3, 4), dtype=np.float32))
    for step in ("write_header_to_file", "write_kv_data_to_file", "write_tensors_to_file", "close"):
        getattr(writer, step)()
    return [Sample({"m.gguf": path.read_bytes()}, text=False)]


def _gguf(path: Path) -> Reading:
    from weatherglass.encoders.gguf import read_metadata

    return Reading(repr(read_metadata(path)))


ANSWER = {"data": [{"object": "embedding", "index": n, "embedding": [0.5 + n, -1.0, 2e-3]} for n in (1, 0)]}


def _answer(path: Path) -> Reading:
    """What the encoder makes of a body that a server sent; nothing leaves the machine."""
    import ssl
    from unittest.mock import patch

    import httpx

    from weatherglass.encoders.openai import OpenAIEncoder
    from weatherglass.encoders.spec import Spec

    body = path.read_bytes()
    spec = Spec("openai", "m", (("base_url", "http://127.0.0.1:9/v1"), ("retries", "0")))
    # Certificates, which take longer to load than all else, are for addresses that begin with https.
    with (
        patch.object(ssl, "create_default_context", return_value=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)),
        patch.object(httpx.HTTPTransport, "handle_request", lambda *_: httpx.Response(200, content=body)),
    ):
        return Reading((OpenAIEncoder.from_spec(spec).encode(TEXTS).tolist(), body))


def _numbers_are_numbers(_sample: Sample, _before: Reading, after: Reading, _kind: str) -> str:
    """Read once more, strictly: the vectors are those of the body, by whole indices, and all of it is numbers.

    A whole number that no double holds is the nearest double.
    """
    rows, body = after.value
    entries = json.loads(body)["data"]
    strict = {
        entry["index"]: [float(x) for x in entry["embedding"]]
        for entry in entries
        if type(entry["index"]) is int
        and all(type(x) in (int, float) and math.isfinite(x) for x in entry["embedding"])
    }
    same = len(strict) == len(entries) and [strict.get(n) for n in range(len(rows))] == rows
    return "" if same else "an answer was read as other numbers than it has"


def _hf_samples(folder: Path) -> list[Sample]:
    """Weights as safetensors, and as both layouts of torch."""
    import torch
    from safetensors.torch import load_file
    from tests.encoders.transformers.tiny_models import build

    made = build("bert", folder / "bert")
    files = _files(made, *(path.name for path in sorted(made.iterdir()) if path.is_file()))
    small = {name: content for name, content in files.items() if name.endswith(".json")}
    content: dict[str, Any] = {name: of_json(json.loads(small[name])) for name in small}
    samples = [Sample(files, {**content, "model.safetensors": of_safetensors}, main=".", text=False)]
    tensors = load_file(made / "model.safetensors")
    for zipped, mutation in ((True, of_zip({".pkl": of_pickle})), (False, of_pickle)):
        torch.save(tensors, made / "b.bin", _use_new_zipfile_serialization=zipped)
        pickled = {**small, "pytorch_model.bin": (made / "b.bin").read_bytes()}
        samples.append(Sample(pickled, {**content, "pytorch_model.bin": mutation}, main=".", text=False))
    return samples


def _hf(path: Path) -> Reading:
    return _encoded(f"hf:{path}?pooling=mean")


def _st_samples(folder: Path) -> list[Sample]:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as models
    from tests.encoders.transformers.tiny_models import SIZE, build

    first = models.Transformer(str(build("bert", folder / "bert")))
    modules = [first, models.Pooling(SIZE), models.Dense(SIZE, 3)]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "st"), create_model_card=False)
    paths = sorted(path for path in (folder / "st").rglob("*") if path.is_file())
    files = _files(folder / "st", *(str(path.relative_to(folder / "st")) for path in paths))
    content: dict[str, Any] = {
        name: of_json(json.loads(files[name])) for name in files if name.endswith(".json")
    }
    content |= {name: of_safetensors for name in files if name.endswith(".safetensors")}
    return [Sample(files, content, main=".", text=False)]


def _st(path: Path) -> Reading:
    return _encoded(f"st:{path}")


MODELS = (
    Target("pickles", _pickle_samples, _pickle, same_after(CUT), "vectors"),
    Target("torch files", _torch_samples, _torch, _zip_unchanged, "models"),
    Target("InferSent", _infersent_samples, _infersent, group="models"),
    Target("GenSen", _gensen_samples, _gensen, group="models"),
    Target(
        "ELMo", _elmo_samples, _elmo, group="models", weight=3,
        child_imports=("h5py", "weatherglass.storage.array_file"),
    ),
    Target("model2vec", _model2vec_samples, _model2vec, group="models", child_imports=CHILD),
    Target("ONNX programs", _program_samples, _program, group="models", child_imports=CHILD, weight=3),
    Target("tokenizers", _tokenizer_samples, _tokenizer, group="models", child_imports=CHILD, weight=3),
    Target("ONNX graphs", _graph_samples, _graph, group="models"),
    Target("GGUF headers", _gguf_samples, _gguf, group="models"),
    Target("transformers folders", _hf_samples, _hf, group="models", child_imports=CHILD, weight=6),
    Target("sentence-transformers folders", _st_samples, _st, group="models", child_imports=CHILD, weight=6),
    Target(
        "answers of an API", lambda _: [Sample({"a.json": as_json(ANSWER)}, {"a.json": of_json(ANSWER)})], _answer,
        _numbers_are_numbers, "vectors",
    ),
)  # fmt: skip
