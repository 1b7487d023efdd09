"""Find sentences of a corpus that contain given words, in one pass over the corpus for any number of words.

A word matches as it is written and as a whole word: the characters around it are not letters, digits or combining
marks. A word in lower case also matches with a capital at the beginning of a sentence. In scripts without spaces, such
as Chinese, a word matches anywhere. Each sentence counts once per word, at the first place of the word, and repeated
sentences count once in the sample.

The sample of a word is the sentences with the smallest keys, where the key is a hash of seed, word and sentence. It is
a random sample without replacement that does not depend on the order of files, on other words or on the number of
sentences wanted: a smaller sample is a part of a larger one. Only the sample is in memory.
"""

from __future__ import annotations

import hashlib
import heapq
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from weatherglass.audit.contexts import (
    Contexts,
    WordContexts,
    is_contexts_file,
    read_contexts,
)
from weatherglass.audit.folder import CONTEXTS
from weatherglass.encoders.base import Input
from weatherglass.errors import CorpusError
from weatherglass.languages.tokenise import without_spaces
from weatherglass.progress import Progress, Silent
from weatherglass.registry import check_number, checked_path, checked_texts
from weatherglass.reliability.corpus.readers import documents, source_files
from weatherglass.storage.checksum import file_hash, folder_hash
from weatherglass.storage.reading import exists, is_folder

VERSION = 2
"""The version of the search; increase it if it finds other sentences, so that stored ones are not reused."""
MOST_CHARACTERS = 1000
"""The largest length of a sentence; a longer one is shortened to the words around the one that was searched."""
FEW = 8
"""The number of words in a line above which each sentence is first searched for all of them at once."""
PER_WORD = 100
SHOWN = 5
MEGABYTE = 1_000_000
SENTENCE_GAP = re.compile(r"[.!?…。！？][\"'”’»)\]]*(\s+)|[。！？][」』”]*()")
"""The end of a sentence; its group is the space between two sentences."""
_ABBREVIATIONS = (
    "mr mrs ms messrs dr prof rev hon gen col capt lt sgt gov sen rep st mt jr sr vs etc e.g i.e cf al vol pp fig "
    "jan feb mar apr jun jul aug sep sept oct nov dec hr fr bzw ca usw z.b d.h u.a mme mlle sra srta dña"
)
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
"""Words, in lower case, whose period does not end a sentence."""
LONGEST = 20
"""Characters before a period that are read to recognise an abbreviation, with its quotation marks and brackets."""


class _Letters(dict[int, int]):
    """A translation table that keeps the characters of words and replaces others by spaces; filled on demand."""

    def __missing__(self, code: int) -> int:
        self[code] = code if _is_letter(chr(code)) else ord(" ")
        return self[code]


def _is_letter(character: str) -> bool:
    """Return whether a character can continue a word; a word ends at a character of a script without spaces."""
    known = character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
    return known and not without_spaces(character)


def sentences_of(text: str) -> list[str]:
    """Split a text into sentences; a period after an abbreviation or an initial does not end one.

    >>> sentences_of('Mr. J. Smith left. "Why?" he asked. Nobody knew (e.g. the nurse).')
    ['Mr. J. Smith left.', '"Why?" he asked.', 'Nobody knew (e.g. the nurse).']
    """
    found, start = [], 0
    for gap in SENTENCE_GAP.finditer(text):
        group = 1 if gap[1] is not None else 2
        if group == 1 and not _ends_sentence(text, gap.start(), gap.end()):
            continue
        found.append(text[start : gap.start(group)])
        start = gap.end()
    return [*found, text[start:]] if start < len(text) else found


def _ends_sentence(text: str, mark: int, after: int) -> bool:
    """Return whether the mark at a place ends a sentence whose next one would begin after the space."""
    if text[after : after + 1].islower():
        return False
    if text[mark] != ".":
        return True
    word = text[max(0, mark - LONGEST) : mark].rpartition(" ")[2].lstrip("\"'“‘«([")
    return word.lower() not in ABBREVIATIONS and not (len(word) == 1 and word.isupper() and word != "I")


_LETTERS = _Letters()


def find_contexts(
    source: str | Path | Sequence[str],
    words: Iterable[str],
    per_word: int = PER_WORD,
    seed: int = 0,
    progress: Progress | None = None,
) -> Contexts:
    """Return a random sample of the sentences that contain each word.

    Args:
        source: a file or folder in any supported corpus format, or a list of texts.
        words: words or phrases.
        per_word: the maximum number of sentences per word.
        seed: the seed of the sample.
        progress: an object that receives progress updates.

    Raises:
        CorpusError: if the corpus cannot be read or contains none of the words.
    """
    check_number("per_word", per_word, whole=True, least=1)
    shown = progress or Silent()
    wanted = [unicodedata.normalize("NFC", word) for word in dict.fromkeys(words)]
    samples = {word: _Sample(word, per_word, seed) for word in wanted}
    by_first: dict[str, list[_Sample]] = {}
    anywhere: dict[str, _Sample] = {}
    for word, sample in samples.items():
        if any(map(without_spaces, word)):
            anywhere[word] = sample
        elif tokens := word.translate(_LETTERS).split():
            for token in {tokens[0], _capital(tokens[0])} if word.islower() else {tokens[0]}:
                by_first.setdefault(token, []).append(sample)
    about = _about(source, per_word, seed)
    for line in _lines(source, f"finding contexts of {len(wanted)} words", shown):
        text = line if line.isascii() else unicodedata.normalize("NFC", line)
        possible = _possible(text, by_first, anywhere)
        if not possible:
            continue
        for sentence in sentences_of(text.strip()):
            # A line may contain every word and have many sentences.
            few = possible if len(possible) <= FEW else _possible(sentence, by_first, anywhere)
            for sample in few:
                sample.offer(sentence)
    found = {word: samples[unicodedata.normalize("NFC", word)].contexts() for word in dict.fromkeys(words)}
    if found and not any(each.found for each in found.values()):
        raise CorpusError(
            f"{about['corpus']}: contains none of the {len(found)} words ({_some(list(found))}); words match as "
            "written, so check their case and spelling"
        )
    return Contexts(about, found)


def _possible(
    text: str, by_first: Mapping[str, Sequence[_Sample]], anywhere: Mapping[str, _Sample]
) -> Collection[_Sample]:
    """Return the samples of the words that a text may contain."""
    firsts = by_first.keys() & set(text.translate(_LETTERS).split())
    possible = {id(sample): sample for first in firsts for sample in by_first[first]}
    if anywhere and not text.isascii():
        possible |= {id(sample): sample for word, sample in anywhere.items() if word in text}
    return possible.values()


def _lines(source: str | Path | Sequence[str], stage: str, progress: Progress) -> Iterator[str]:
    if not isinstance(source, str | Path):
        progress.stage(stage, 1)
        yield from source
        progress.advance()
        return
    files = source_files(Path(source))
    sizes = [path.stat().st_size for path in files]
    progress.stage(stage, max(1, round(sum(sizes) / MEGABYTE)))
    for path, size in zip(files, sizes, strict=True):
        # A compressed file has more characters than bytes; its steps end with the file.
        left, waiting = size, 0
        for line in documents(path):
            yield line
            waiting += len(line) + 1
            if waiting >= MEGABYTE:
                step = min(waiting, left)
                progress.advance(step / MEGABYTE)
                left, waiting = left - step, 0
        progress.advance(left / MEGABYTE)


def _about(source: str | Path | Sequence[str], per_word: int, seed: int) -> dict[str, Any]:
    """Return where a sample comes from; equal records mean equal samples of the same words."""
    if isinstance(source, str | Path):
        path = Path(source)
        name = path.name or str(path)
        content = folder_hash(path) if is_folder(path) else file_hash(_only_file(path))
    else:
        name = "texts in memory"
        content = hashlib.sha256("\0".join(source).encode("utf-8", "surrogatepass")).hexdigest()
    return {"corpus": name, "content": content, "per_word": per_word, "seed": seed, "version": VERSION}


def _only_file(path: Path) -> Path:
    (file,) = source_files(path)
    return file


class _Sample:
    """The sentences of one word with the smallest keys so far."""

    def __init__(self, word: str, size: int, seed: int) -> None:
        self._word = word
        self._capital = _capital(word) if word.islower() else ""
        self._size = size
        self._start = hashlib.blake2b(f"{seed}\0{word}\0".encode(), digest_size=8)
        self._heap: list[int] = []  # negative keys, so that the largest key is first
        self._kept: dict[int, Input] = {}
        self._found = 0

    def offer(self, sentence: str) -> None:
        """Add a sentence to the sample if it contains the word and its key is small enough."""
        place = _place(sentence, self._word)
        if self._capital and self._capital in sentence:
            start = next((i for i, character in enumerate(sentence) if _is_letter(character)), -1)
            if start >= 0 and _place(sentence, self._capital) == start:
                place = start
        if place < 0:
            return
        self._found += 1
        hashed = self._start.copy()
        hashed.update(sentence.encode("utf-8", "surrogatepass"))
        key = int.from_bytes(hashed.digest(), "big")
        if key in self._kept or (len(self._heap) == self._size and key > -self._heap[0]):
            return
        if len(self._heap) == self._size:
            del self._kept[-heapq.heappop(self._heap)]
        heapq.heappush(self._heap, -key)
        whole = sentence.encode(
            "utf-8", "replace"
        ).decode()  # "?" for half a character, which no file can contain
        self._kept[key] = _shortened(whole, place, place + len(self._word))

    def contexts(self) -> WordContexts:
        """Return the sample in the order of its keys."""
        return WordContexts(self._found, tuple(self._kept[key] for key in sorted(self._kept)))


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def _place(sentence: str, word: str) -> int:
    """Return the first place where a text contains a word as a whole word, or -1.

    >>> _place("The woman and the man's hat", "man"), _place("We can't", "can")
    (18, -1)
    """
    start = sentence.find(word)
    while start >= 0:
        end = start + len(word)
        before, after = sentence[start - 1 : start] if start else "", sentence[end : end + 1]
        if not (before and _is_letter(before)) and not (after and _is_letter(after)):
            ending = sentence[end + 1 : end + 3] if after in ("'", "’") else ""
            own = ending[:1] in ("s", "S") and not (ending[1:] and _is_letter(ending[1:]))
            if own or not (ending and _is_letter(ending[0])):  # "man's", but not "can" in "can't"
                return start
        start = sentence.find(word, start + 1)
    return -1


def _shortened(sentence: str, start: int, end: int) -> Input:
    """Return a sentence with the span of its word; a long one is cut at spaces around the word."""
    if len(sentence) <= MOST_CHARACTERS:
        return Input(sentence, (start, end))
    room = max(0, MOST_CHARACTERS - (end - start))
    first = max(0, min(start - room // 2, len(sentence) - MOST_CHARACTERS))
    last = max(end, min(len(sentence), first + MOST_CHARACTERS))
    if first and (space := sentence.find(" ", first, start)) >= 0:
        first = space + 1
    if last < len(sentence) and (space := sentence.rfind(" ", end, last)) >= 0:
        last = space
    return Input(sentence[first:last], (start - first, end - first))


def contexts_for(
    source: object, words: Sequence[str], per_word: int, seed: int, folder: Path | None, progress: Progress
) -> Contexts:
    """Return the contexts of words: from a corpus, from contexts.json, or from a run that has one.

    Args:
        source: a corpus, contexts.json, the folder of a run with contexts, a list of texts, or Contexts.
        words: the words of the tests.
        per_word: the maximum number of sentences per word.
        seed: the seed of the sample.
        folder: the folder of this run; if it has the contexts of the same corpus, the corpus is not read again.
        progress: an object that receives progress updates.

    Raises:
        CorpusError: if the source cannot be read, or a file of contexts was made for other words.
    """
    check_number("per_word", per_word, whole=True, least=1)
    if isinstance(source, Contexts):
        return _stored(source, "contexts", words, per_word)
    if isinstance(source, list | tuple):
        return find_contexts(checked_texts("contexts", source), words, per_word, seed, progress)
    path = checked_path("contexts", source).expanduser()
    stored = path / CONTEXTS if is_folder(path) else path
    # A damaged contexts.json does not start like one, and would be a corpus of its own lines.
    if (stored.name == CONTEXTS and exists(stored)) or is_contexts_file(stored):
        return _stored(read_contexts(stored), str(stored), words, per_word)
    if folder and exists(folder / CONTEXTS):
        try:
            earlier = read_contexts(folder / CONTEXTS)
        except CorpusError:  # it is found and written again
            earlier = None
        if earlier and earlier.source == _about(path, per_word, seed) and set(words) <= set(earlier.words):
            return earlier.only(words)
    return find_contexts(path, words, per_word, seed, progress)


def _stored(contexts: Contexts, name: str, words: Sequence[str], per_word: int) -> Contexts:
    lacking = [word for word in words if word not in contexts.words]
    if lacking:
        raise CorpusError(
            f"{name}: was made for other tests and lacks {len(lacking)} words ({_some(lacking)}); "
            "name the corpus itself"
        )
    if words and not any(contexts.words[word].sample for word in words):
        raise CorpusError(f"{name}: contains no sentence with a word of the tests; name the corpus itself")
    return contexts.only(words).limited_to(per_word)


def _some(words: Sequence[str]) -> str:
    return ", ".join([*words[:SHOWN], *(["…"] if len(words) > SHOWN else [])])
