"""How a good file becomes a hostile one: by its bytes, its tokens, its tree, its header or its members.

Every function takes a `random.Random` and gives the same bytes for the same state of it, so that an input is known by
its number alone. Speed matters more than elegance here: a cheap reader should see over a thousand inputs a second.
"""

from __future__ import annotations

import gzip
import io
import json
import pickletools
import re
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

CUT, DAMAGE, CONTENT = "cut", "damage", "content"
"""What was done: the end is missing; bytes were changed; the content was changed and then packed as it should be."""

Mutation = Callable[[Random, bytes], bytes]

EXTREMES = (
    0,
    1,
    -1,
    127,
    255,
    2**15,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**62,
    2**63 - 1,
    2**63,
    10**12,
)
NUMBERS = (
    *(str(number).encode() for number in EXTREMES), b"nan", b"inf", b"-inf", b"1e309", b"-1e309", b"1e-400", b"0x10",
    b"1_000", b"", b"-0", b"00", b"1.2.3", b"\xd9\xa3",
)  # fmt: skip
TOKENS = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\x8b", b"\r", b"\n", b"\t", b" ", b"\xc2\x85",
    b"\xe2\x80\xa8", b"\x1b[2J", b"\x0c", b'"', b"'", b"'''", b'"""', b"\\", b"\\u0000", b"\\ud800", b"\\x",
    b"%s", b"{}",
    b"[", b"]", b"[[", b"]]", b"{", b"}", b"(", b")", b"=", b"==", b":", b",", b"|", b"?", b"&", b"#", b"<doc ",
    b"</doc>",
    b"..", b"/", b"../../etc/passwd", b"~", b"*", b"null", b"true", b"None", b"e\xcc\x81", b"=cmd|' /C calc'!A0",
    b"__import__('os').system('touch canary')", b"${OPENAI_API_KEY}", b"$(touch canary)", b"`touch canary`",
    b"cos\nsystem\n(S'touch canary'\ntR.",
)  # fmt: skip
LONG = (
    b"9" * 4400, b"1." + b"9" * 5000, b"[" * 3000, b"{" * 3000, b"(" * 3000, b"a." * 4000, b"[a." * 2000,
    b"A" * 70_000, b"\xc3\xa9" * 20_000, b"-" * 3000, b"not " * 1000, b"a=" * 2000, b"{a={" * 1500, b"\n" * 5000,
    b" | " * 1000, b"'" * 3001, b"1e" + b"9" * 400, b'{"a":' * 2000, b"0" * 5000 + b"1", b"a" * 300,
)  # fmt: skip
HEAD = 160
"""Bytes at the start that are changed as often as all the others: headers are there."""

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_TOKEN = re.compile(rb"[^\s,;:=\[\]{}()\"'|&?]+")


def _place(random: Random, length: int) -> int:
    most = min(HEAD, length) if random.random() < 0.5 else length
    return int(random.random() * most)


def _flip(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(1 + int(random.random() * 3)):
        changed[_place(random, len(changed))] ^= 1 << int(random.random() * 8)
    return bytes(changed)


def _set_byte(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    changed[_place(random, len(changed))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, 0x20, 0x0A))
    return bytes(changed)


def _number_in_binary(random: Random, content: bytes) -> bytes:
    size, letter = random.choice(((1, "B"), (2, "H"), (4, "I"), (8, "Q")))
    place = _place(random, len(content))
    order = random.choice("<<<>")
    packed = struct.pack(order + letter, random.choice(EXTREMES) % (1 << (8 * size)))
    return content[:place] + packed + content[place + size :]


def _delete(random: Random, content: bytes) -> bytes:
    place = _place(random, len(content))
    return content[:place] + content[place + 1 + int(random.random() ** 3 * 60) :]


def _repeat(random: Random, content: bytes) -> bytes:
    place, length = _place(random, len(content)), 1 + int(random.random() ** 2 * 80)
    times = random.choice((1, 1, 1, 2, 50))
    return content[: place + length] + content[place : place + length] * times + content[place + length :]


def _move(random: Random, content: bytes) -> bytes:
    start, end = sorted((_place(random, len(content)), _place(random, len(content))))
    chunk, rest = content[start : min(end, start + 200)], content[:start] + content[min(end, start + 200) :]
    place = _place(random, len(rest) + 1)
    return rest[:place] + chunk + rest[place:]


def _insert(random: Random, content: bytes) -> bytes:
    place = _place(random, len(content) + 1)
    token = random.choice(LONG) if random.random() < 0.04 else random.choice(TOKENS)
    return content[:place] + token + content[place:]


def _noise(random: Random, content: bytes) -> bytes:
    place = _place(random, len(content) + 1)
    return content[:place] + random.randbytes(1 + int(random.random() * 12)) + content[place:]


def _in_text(pattern: re.Pattern[bytes], choices: Sequence[bytes]) -> Mutation:
    def replaced(random: Random, content: bytes) -> bytes:
        found = pattern.search(content, _place(random, len(content))) or pattern.search(content)
        if found is None:
            return _insert(random, content)
        token = random.choice(LONG) if random.random() < 0.04 else random.choice(choices)
        return content[: found.start()] + token + content[found.end() :]

    return replaced


def _swap_tokens(random: Random, content: bytes) -> bytes:
    first = _TOKEN.search(content, _place(random, len(content)))
    second = first and _TOKEN.search(content, first.end() + int(random.random() * 60))
    if not first or not second:
        return _flip(random, content)
    between = content[first.end() : second.start()]
    return content[: first.start()] + second[0] + between + first[0] + content[second.end() :]


def _lines(random: Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    place = int(random.random() * len(lines))
    kind = int(random.random() * 4)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(int(random.random() * len(lines)), lines[place])
    elif kind == 2:
        lines[place] = lines[place] + b" " + lines[int(random.random() * len(lines))]
    else:
        other = int(random.random() * len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    return b"\n".join(lines)


_numbers, _tokens = _in_text(_NUMBER, NUMBERS), _in_text(_TOKEN, TOKENS)
OF_BYTES: tuple[Mutation, ...] = (
    _flip, _flip, _set_byte, _number_in_binary, _number_in_binary, _delete, _repeat, _move, _insert, _noise,
)  # fmt: skip
OF_TEXT: tuple[Mutation, ...] = (
    _numbers, _numbers, _tokens, _tokens, _swap_tokens, _lines, _insert, _insert, _delete, _repeat, _flip, _move,
)  # fmt: skip


def damaged(random: Random, content: bytes, text: bool) -> tuple[str, bytes]:
    """What was done, and the bytes after one to four changes, or without their end."""
    if random.random() < 0.12:
        return CUT, content[: int(random.random() * len(content))]
    changed = content
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        mutations = OF_TEXT if text and random.random() < 0.8 else OF_BYTES
        changed = random.choice(mutations)(random, changed or b"0")
    return DAMAGE, changed


def mutated_text(random: Random, content: bytes) -> bytes:
    """Changed as text: for a header or a member that is packed again."""
    return damaged(random, content, text=True)[1]


def mutated_bytes(random: Random, content: bytes) -> bytes:
    """Changed as bytes: for a member that is packed again."""
    return damaged(random, content, text=False)[1]


BIG = "@@an integer of 4 400 digits@@"
"""Stands for a number that Python would refuse to write."""


@cache
def _leaves() -> tuple[Any, ...]:
    deep: Any = 0
    for _ in range(400):
        deep = [deep]
    texts = (
        "",
        " ",
        "\x00",
        "\ud800",
        "a" * 5000,
        "é",
        "é",
        "nan",
        "../x",
        "a/b",
        ".",
        "\n",
        "\x1b[0m",
        BIG,
        "1",
    )
    return (
        None, True, False, *EXTREMES, 0.5, -0.0, 1e308, float("inf"), float("nan"), *texts, [], {}, [[]], [None],
        [1, "a"], {"": ""}, {"a": {"a": 1}}, deep, ["a"] * 2000,
    )  # fmt: skip


def changed_tree(random: Random, tree: Any) -> Any:
    """A copy of a tree of dicts and lists with one to three nodes changed, removed, renamed, wrapped or doubled."""
    for _ in range(random.choice((1, 1, 2, 3))):
        tree = _changed(random, tree)
    return tree


def _changed(random: Random, node: Any) -> Any:
    children = (
        list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    )
    if not children or random.random() < 0.15:
        if random.random() < 0.25:
            return random.choice(([node], {"a": node}, [node, node], str(node)[:200], {str(node)[:50]: 1}))
        return random.choice(_leaves())
    place = random.choice(children)
    if isinstance(node, list):
        copy = list(node)
        kind = random.random()
        if kind < 0.15:
            del copy[place]
        elif kind < 0.3:
            copy.insert(place, random.choice(copy))
        elif kind < 0.35:
            copy *= random.choice((0, 2, 30))
        else:
            copy[place] = _changed(random, copy[place])
        return copy
    content = dict(node)
    kind = random.random()
    if kind < 0.15:
        del content[place]
    elif kind < 0.25:
        content[str(random.choice((*children, "", "x", "\ud800", "a.b", "name", "set")))] = content.pop(place)
    elif kind < 0.35:
        content[place] = content[random.choice(children)]
    else:
        content[place] = _changed(random, content[place])
    return content


def as_json(tree: Any, indent: int | None = None) -> bytes:
    """A tree as JSON, half characters and all."""
    text = json.dumps(tree, ensure_ascii=False, indent=indent)
    return text.replace(f'"{BIG}"', "9" * 4400).encode("utf-8", "surrogatepass")


def as_toml(tree: Any) -> bytes:
    """A tree as TOML: a line for each key, with tables in the line; what TOML does not have is empty text."""
    content = tree if isinstance(tree, dict) else {"value": tree}
    lines = [f"{json.dumps(str(key))} = {_toml(value)}" for key, value in content.items()]
    return "\n".join(lines).replace(f'"{BIG}"', "9" * 4400).encode("utf-8", "surrogatepass") + b"\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool) or value is None:
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else json.dumps(value)


def of_json(tree: Any, indent: int | None = None) -> Mutation:
    """Changes the tree and writes it again."""
    return lambda random, _: as_json(changed_tree(random, tree), indent)


def of_toml(tree: Any) -> Mutation:
    """Changes the tree and writes it again."""
    return lambda random, _: as_toml(changed_tree(random, tree))


def of_json_lines(random: Random, content: bytes) -> bytes:
    """Changes the tree of one line of JSON."""
    lines = content.split(b"\n")
    place = int(random.random() * len(lines))
    try:
        lines[place] = as_json(changed_tree(random, json.loads(lines[place] or b"{}")))
    except (ValueError, RecursionError):
        return mutated_text(random, content)
    return b"\n".join(lines)


def of_gzip(random: Random, content: bytes, inner: Mutation = mutated_text) -> bytes:
    """Unpacks, changes and packs again."""
    return gzip.compress(inner(random, gzip.decompress(content)), 1, mtime=0)


def of_npy(random: Random, content: bytes) -> bytes:
    """Changes the header of an array and states its length again; or the numbers behind it."""
    length = int.from_bytes(content[8:10], "little")
    header, data = content[10 : 10 + length], content[10 + length :]
    if random.random() < 0.8:
        choices = (
            b"|S0",
            b"|O",
            b"<U0",
            b"<f2",
            b">f8",
            b"|V8",
            b"<c16",
            b"<M8[s]",
            b"()",
            b"(0,)",
            b"(1000000000000,)",
        )
        if random.random() < 0.4:
            header = re.sub(rb"'[<>|][a-zA-Z]\d+'", b"'" + random.choice(choices[:8]) + b"'", header, count=1)
        if random.random() < 0.4:
            header = re.sub(rb"\([\d, ]*\)", random.choice(choices[8:]), header, count=1)
        header = mutated_text(random, header) if random.random() < 0.7 else header
    else:
        data = mutated_bytes(random, data)
    return content[:8] + struct.pack("<H", len(header) % 65536) + header + data


def of_zip(inner: Mapping[str, Mutation], other: Mutation = mutated_bytes) -> Mutation:
    """Changes a member by its ending, renames, doubles or removes one, and packs all with right checksums."""

    def changed(random: Random, content: bytes) -> bytes:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
        place = int(random.random() * len(members))
        name, data = members[place]
        kind = random.random()
        if kind < 0.08:
            del members[place]
        elif kind < 0.14:
            members[place] = (random.choice((members[0][0], "x", "../x", "a" * 300, name + ".npy", "")), data)
        elif kind < 0.2:
            members.append((name, data))
        else:
            mutation = next((each for ending, each in inner.items() if name.endswith(ending)), other)
            members[place] = (name, mutation(random, data))
        packed = io.BytesIO()
        with zipfile.ZipFile(
            packed, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
        ) as archive:
            for name, data in members:
                archive.writestr(zipfile.ZipInfo(name), data)
        return packed.getvalue()

    return changed


def of_safetensors(random: Random, content: bytes) -> bytes:
    """Changes the header's tree, or a JSON text within its metadata, and states its length again."""
    length = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    metadata = header.get("__metadata__", {})
    if metadata and random.random() < 0.5:
        key = random.choice(list(metadata))
        try:
            metadata[key] = json.dumps(changed_tree(random, json.loads(metadata[key])))
        except ValueError:
            metadata[key] = mutated_text(random, metadata[key].encode()).decode("latin1")
    else:
        if random.random() < 0.3:
            tensor = header[random.choice([name for name in header if name != "__metadata__"])]
            tensor["dtype"] = random.choice(
                ("F8_E4M3", "F8_E5M2", "BF16", "F16", "I64", "U8", "BOOL", "F64", "C64", "F4")
            )
        header = changed_tree(random, header) if random.random() < 0.8 else header
    text = json.dumps(header).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(text)) + text + data


@cache
def _opcodes(content: bytes) -> tuple[tuple[int, ...], ...]:
    """Where the operations of a pickle begin and end; in a row of pickles, those of each.

    What follows them in a checkpoint of torch are numbers, and a count of 128 begins like a pickle.
    """
    found, start = [], 0
    while start < len(content) and content[start : start + 1] == b"\x80":
        stream = io.BytesIO(content[start:])
        try:
            places = [start + (place or 0) for _, _, place in pickletools.genops(stream)]
        except ValueError:
            break
        start += stream.tell()
        found.append((*places, start))
    return tuple(found)


def _called(function: bytes, *texts: bytes) -> bytes:
    """A global function called with texts, in the oldest protocol."""
    given = b"".join(b"U" + bytes([len(text)]) + text for text in texts)
    return b"c" + function + b"\n(" + given + b"tR"


PAYLOADS = (
    _called(b"posix\nsystem", b"touch canary"),
    _called(b"os\nsystem", b"touch canary"),
    _called(b"builtins\neval", b"open('canary', 'w').close()"),
    _called(b"__builtin__\nexec", b"open('canary', 'w').close()"),
    _called(b"builtins\nopen", b"canary", b"w"),
    _called(b"os\ngetenv", b"OPENAI_API_KEY"),
    _called(b"numpy\nload", b"secret.npy"),
    _called(b"torch\nload", b"secret.npy"),
    _called(b"numpy.core.multiarray\n_reconstruct"),
    b"(U\x0ctouch canaryios\nsystem\n",
    b"\x8c\x02os\x8c\x06system\x93\x8c\x0ctouch canary\x85R",
    b"csubprocess\nPopen\n((U\x05touchU\x06canaryltR",
    b"cbuiltins\nbytearray\n(J\x00\x00\x00\x7ftR",
    b"c__builtin__\nrange\n(J\xff\xff\xff\x7ftR",
)
"""Operations that would run code, read a secret or take memory."""


def of_pickle(random: Random, content: bytes) -> bytes:
    """Removes, doubles or swaps operations, changes their arguments, or puts a payload between two of them."""
    pickles = _opcodes(content)
    if not pickles:
        return mutated_bytes(random, content)
    places = random.choice(pickles)
    number = int(random.random() * (len(places) - 1))
    start, end = places[number], places[number + 1]
    kind = random.random()
    if kind < 0.3:
        return content[:start] + random.choice(PAYLOADS) + content[start:]
    if kind < 0.4:
        return content[:start] + content[end:]
    if kind < 0.5:
        return content[:end] + content[start:end] * random.choice((1, 2, 100)) + content[end:]
    if kind < 0.6:
        other = int(random.random() * (len(places) - 1))
        return content[:start] + content[places[other] : places[other + 1]] + content[end:]
    operation = bytearray(content[start:end])
    if len(operation) > 1:
        size = random.choice((1, 2, 4))
        extreme = random.choice(EXTREMES) % (1 << (8 * size))
        operation[1 : 1 + size] = extreme.to_bytes(size, "little")
    else:
        operation[0] = random.choice(
            b"().0125BCFGIJKLMNPQRSTUVX]abcdeghijlopqrstu}\x80\x81\x85\x8a\x8b\x8c\x8f\x93\x94\x95"
        )
    return content[:start] + bytes(operation) + content[end:]
