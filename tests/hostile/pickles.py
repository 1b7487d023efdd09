"""Small pickles that ask for much: each function gives the bytes of one."""

from __future__ import annotations

import io
import struct
import zipfile

MEMO_OF_16_GB = b"\x80\x02Nr\xff\xff\xff\x3f."
"""Nine bytes: None, kept in the memo at place 2^30 - 1."""

MEMO_IN_TEXT = b"Np1000000000\n."
BYTES_OF_8_GB = b"\x80\x04\x8e" + struct.pack("<Q", 2**33) + b"."
TEXT_OF_8_GB = b"\x80\x04\x8d" + struct.pack("<Q", 2**33) + b"."
ARRAY_OF_8_GB = b"\x80\x05\x96" + struct.pack("<Q", 2**33) + b"."
FRAME_OF_8_GB = b"\x80\x04\x95" + struct.pack("<Q", 2**33) + b"N."
MANY_DIGITS = b"L" + b"9" * 5000 + b"L\n."
DOUBLED = b"}(" + b")" + b"2\x86" * 50 + b"Nu."
"""A tuple of twice the tuple before, fifty times, as the key of a dict."""


def keyed_vectors(words: bytes, vectors: bytes = b"N", more: bytes = b"") -> bytes:
    """KeyedVectors of gensim, whose words and vectors are these opcodes."""
    state = b"}(X\x0c\0\0\0index_to_key" + words + b"X\x07\0\0\0vectors" + vectors + more + b"u"
    return b"\x80\x02cgensim.models.keyedvectors\nKeyedVectors\n)\x81" + state + b"b."


def lists_of_lists(levels: int = 40) -> bytes:
    """Opcodes of a list that holds the list before twice: 415 bytes whose text has 2^40 brackets."""
    doubled = b"".join(b"]q%c(h%ch%ce0" % (level + 1, level, level) for level in range(levels))
    return b"]q\x000" + doubled + b"h%c" % levels


def tuples_of_tuples(levels: int = 60, hidden: bytes = b"") -> bytes:
    """The same with tuples, which a dict would hash; `hidden` opcodes stand between each and its place in the memo."""
    doubled = b"".join(b"h%ch%c\x86%sq%c" % (level, level, hidden, level + 1) for level in range(levels))
    return b"\x80\x02}(N\x85q\0" + doubled + b"Nu."


def one_text_as_many_bytes(size: int = 400_000, copies: int = 50_000) -> bytes:
    """A text of `size` characters that is made bytes `copies` times: 20 GB."""
    text = b"X" + struct.pack("<I", size) + b"a" * size
    start = b"\x80\x02c_codecs\nencode\nq\0" + text + b"q\1X\6\0\0\0latin1q\2"
    return start + b"](" + b"h\0h\1h\2\x86R" * copies + b"e."


def one_buffer_as_many_arrays(size: int = 400_000, copies: int = 5_000) -> bytes:
    """The bytes of one array in the other order, which numpy has to copy, as `copies` arrays: 2 GB."""
    dtype = (
        b"cnumpy\ndtype\nq\0X\2\0\0\0f4K\0K\1\x87R(K\3X\1\0\0\0>NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tbq\1"
    )
    data = b"\x80\x03" + dtype + b"B" + struct.pack("<I", size) + bytes(size) + b"q\2"
    head = b"cnumpy.core.multiarray\n_reconstruct\nq\3cnumpy\nndarray\nq\4"
    one = b"h\3h\4K\0\x85C\1b\x87R(K\1" + b"J" + struct.pack("<i", size // 4) + b"\x85h\1\x89h\2tb"
    return data + head + b"](" + one * copies + b"e."


def entries_of_no_bytes() -> bytes:
    """An array of 10^12 texts of no characters."""
    dtype = b"cnumpy\ndtype\nX\2\0\0\0S0K\0K\1\x87R"
    state = b"(K\1\x8a\6" + (10**12).to_bytes(6, "little") + b"\x85" + dtype + b"\x89C\0tb"
    return b"\x80\x03cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85C\1b\x87R" + state + b"."


def one_word_for_every_row(size: int = 400_000, rows: int = 200_000) -> bytes:
    """KeyedVectors whose words are one text of `size` characters, again and again."""
    words = b"](X" + struct.pack("<I", size) + b"a" * size + b"q\1" + b"h\1" * (rows - 1) + b"e"
    return keyed_vectors(words)


def _text(text: str) -> bytes:
    return b"X" + struct.pack("<I", len(text)) + text.encode()


def _tuple(*numbers: int) -> bytes:
    return b"(" + b"".join(b"J" + struct.pack("<i", number) for number in numbers) + b"t"


def torch_zip(pickled: bytes, storage: bytes = bytes(4), compression: int = zipfile.ZIP_STORED) -> bytes:
    """What torch.save writes since 1.6, with this pickle and one storage."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", storage)
    return file.getvalue()


def tensor(shape: tuple[int, ...], strides: tuple[int, ...], length: int = 1) -> bytes:
    """Opcodes of a tensor on a storage of `length` numbers."""
    reference = b"(" + _text("storage") + b"ctorch\nFloatStorage\n" + _text("0") + _text("cpu")
    reference += b"J" + struct.pack("<i", length) + b"tQ"
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + reference
        + b"K\0"
        + _tuple(*shape)
        + _tuple(*strides)
        + b"\x89NtR"
    )


def stretched_tensor() -> bytes:
    """A state dict with one number as a tensor of 2 000 000 000: its strides are zero."""
    name = _text("enc_lstm.weight_ih_l0")
    return torch_zip(b"\x80\x02}(" + name + tensor((2, 1_000_000_000), (0, 0)) + b"u.")


def compressed_storage(size: int = 300 * 2**20) -> bytes:
    """300 kB that unpack to 300 MB of zeros."""
    pickled = b"\x80\x02}(" + _text("a") + tensor((size // 4,), (1,), size // 4) + b"u."
    return torch_zip(pickled, bytes(size), zipfile.ZIP_DEFLATED)


def modules_of_modules(levels: int = 40) -> bytes:
    """A pickled module that holds the module before twice, forty times."""
    kept = b"cmodels\nInferSent\nq\0)\x81q\1"
    for level in range(levels):
        child = b"h%c" % (level + 1)
        children = b"}(" + _text("_modules") + b"}(" + _text("a") + child + _text("b") + child + b"uu"
        kept += b"h\0)\x81q%c" % (level + 2) + children + b"b"
    return torch_zip(b"\x80\x02" + kept + b".")


def module_in_itself() -> bytes:
    """A pickled module that is its own child."""
    state = b"}(" + _text("_modules") + b"}(" + _text("a") + b"h\0uu"
    return torch_zip(b"\x80\x02cmodels\nInferSent\n)\x81q\0" + state + b"b.")


def nested_reference() -> bytes:
    """A reference out of the pickle that is a list of lists: its text would never end."""
    return torch_zip(b"\x80\x02" + lists_of_lists() + b"Q.")


HIDDEN = {
    "built with nothing": b"Nb",
    "nothing added": b"(u",
    "nothing appended": b"(e",
    "uncovered": b"N0",
    "marked": b"(0",
}
"""Opcodes that leave a tuple as it is, so that it does not come right before its place in the memo."""

BOMBS = {
    "memo of 16 GB": MEMO_OF_16_GB,
    "memo in text": MEMO_IN_TEXT,
    "bytes of 8 GB": BYTES_OF_8_GB,
    "text of 8 GB": TEXT_OF_8_GB,
    "array of 8 GB": ARRAY_OF_8_GB,
    "frame of 8 GB": FRAME_OF_8_GB,
    "many digits": MANY_DIGITS,
    "a tuple doubled": DOUBLED,
    "tuples of tuples": tuples_of_tuples(),
    **{f"tuples of tuples, {name}": tuples_of_tuples(hidden=opcodes) for name, opcodes in HIDDEN.items()},
    "entries of no bytes": entries_of_no_bytes(),
    "one text as many bytes": one_text_as_many_bytes(),
    "one buffer as many arrays": one_buffer_as_many_arrays(),
}
"""Refused by whoever reads a pickle."""

_WORD = b"](" + _text("a") + b"e"
_ROW = b"cnumpy.core.numeric\n_frombuffer\n(c_codecs\nencode\n" + _text("aaaa") + _text("latin1") + b"\x86R"
_ROW += b"cnumpy\ndtype\n" + _text("f4") + b"K\0K\1\x87R" + _tuple(1, 1) + _text("C") + b"tR"
"""Opcodes of an array of one row and one column."""
_VOCAB = b"}(" + _text("a") + b"cgensim.models.keyedvectors\nVocab\n)\x81}(" + _text("count")

KEYED_VECTORS = {
    "lists for words": keyed_vectors(b"](" + lists_of_lists() + b"e"),
    "a long word for every row": one_word_for_every_row(),
    "numbers of 5 000 digits": keyed_vectors(b"](\x8b" + struct.pack("<i", 3000) + b"\x7f" * 3000 + b"e"),
    "a list for the array beside": keyed_vectors(_WORD, more=_text("__numpys") + lists_of_lists()),
}

LISTS_FOR_COUNTS = keyed_vectors(_WORD, _ROW, _text("vocab") + _VOCAB + lists_of_lists() + b"ubu")
"""Readable: what are no counts are none."""

CHECKPOINTS = {
    "a stretched tensor": stretched_tensor(),
    "modules of modules": modules_of_modules(),
    "a module in itself": module_in_itself(),
    "a nested reference": nested_reference(),
}
