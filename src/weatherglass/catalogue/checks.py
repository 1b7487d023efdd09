"""Check tests from files and from Python. Errors name the file, the line and the key; warnings concern words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from weatherglass.catalogue.published import lexicon
from weatherglass.catalogue.test import ElementSet
from weatherglass.errors import CatalogueError, output_error
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.base import InflectedLanguage
from weatherglass.languages.known import LISTED, is_listed, scripts
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.documents import reading_document
from weatherglass.warnings import Warning


@dataclass(frozen=True, slots=True)
class Source:
    """A file and its text, in which errors look up the line of a key."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Source:
        """Read a file as text without a byte-order mark."""
        with reading_document(path, CatalogueError):
            content = path.read_bytes()
            try:
                return cls(path, content.decode("utf-8-sig"))
            except UnicodeDecodeError as error:
                line = content[: error.start].count(b"\n") + 1
                raise CatalogueError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8") from None

    def error(self, key: str, problem: str) -> CatalogueError:
        """Return the error `path, line 3: key problem` for the line where the key first occurs."""
        line = self._line_of(key)
        place = f"{self.path}, line {line}" if line else str(self.path)
        return CatalogueError(f"{place}: {key} {problem}")

    def _line_of(self, key: str) -> int | None:
        """Return the line that sets a dotted key, or the line of the deepest part of the key that occurs in order."""
        position, matched = 0, False
        first, *others = key.split(".")
        if array := re.fullmatch(r"(\w+)\[(\d+)\]", first):  # targets[2]: the second [[targets]] of TOML
            first = array[1]
            headers = re.finditer(rf"^\s*\[\[\s*[\"']?{first}[\"']?\s*\]\]", self.text, re.MULTILINE)
            header = next(islice(headers, int(array[2]) - 1, None), None)
            position = header.start() if header else 0
        for part in (first, *others):
            name = re.escape(part)
            # "name": in JSON; [name], [outer.name], name = or "name" = in TOML
            pattern = rf'"{name}"\s*[:=]|^\s*{name}\s*[.=]|^\s*\[{{1,2}}(?:.*\.)?"?{name}"?[\].]'
            match = re.compile(pattern, re.MULTILINE).search(self.text, position)
            if match is None:
                break
            position, matched = match.end(), True
        return self.text.count("\n", 0, position) + 1 if matched else None


def checked_texts(source: Source, key: str, value: object) -> list[str]:
    """Check each item and return a list of texts."""
    if not isinstance(value, list):
        raise source.error(key, f"should be a list of texts, but is {type_name(value)}")
    if not value:
        raise source.error(key, "is empty; a set needs at least one element")
    for number, text in enumerate(value, start=1):
        checked_text(source, key, text, part=f"(element {number}) ")
    return value


def checked_text(source: Source, key: str, value: object, part: str = "") -> str:
    """Return a text after checking that it is not blank and contains no lone surrogates."""
    if not isinstance(value, str):
        raise source.error(key, f"{part}should be text, but is {type_name(value)}")
    if not value.strip():
        raise source.error(key, f"{part}is blank")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise source.error(key, f"{part}contains half a character (a lone surrogate)")
    return value


def checked_name(source: Source, value: object) -> str:
    """Return the name of a test, which must be valid both as a file name and in a table."""
    name = checked_text(source, "name", value)
    if any(character in "/\\" or not character.isprintable() for character in name) or name.startswith("."):
        raise source.error("name", f"{name!r} has a slash or a control character, or begins with a dot")
    return name


def type_name(value: object) -> str:
    """Return the type of a value in plain words."""
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "a table",
        str: "text",
    }
    return "null" if value is None else names.get(type(value), type(value).__name__)


def belonging(language: str, sets: Sequence[ElementSet], names: Collection[str] = ()) -> list[Warning]:
    """Return warnings about words in mixed scripts, in another script, or in another language.

    Args:
        language: the code of the test's language.
        sets: the sets of the test; sentences in them are skipped.
        names: words whose class in the file is "given name", which may occur in any language.
    """
    elements = (element for element_set in sets for element in element_set.elements)
    words = dict.fromkeys(element.word.strip() for element in elements if not _is_sentence(element.word))
    found = {word: scripts(word) for word in words}
    script_of = {word: next(iter(each)) for word, each in found.items() if len(each) == 1}
    warnings = [
        Warning.of("mixed-script", word=word, scripts=" and ".join(sorted(each)))
        for word, each in found.items()
        if len(each) > 1
    ]
    if language not in LISTED:
        return warnings + _several_scripts(script_of)
    foreign = [word for word, script in script_of.items() if script != "Latin"]
    if foreign:
        warnings.append(Warning.of("other-script", words=foreign, language=_language_name(language)))
    return warnings + _unlisted(language, [w for w, script in script_of.items() if script == "Latin"], names)


def _is_sentence(text: str) -> bool:
    return text.rstrip().endswith((".", "!", "?"))


def _several_scripts(script_of: Mapping[str, str]) -> list[Warning]:
    used = set(script_of.values())
    if "Japanese" in used:
        used.discard("Chinese")  # a Japanese word may be written in Chinese characters alone
    if len(used) < 2:
        return []
    examples = {
        script: next(word for word in script_of if script_of[word] == script) for script in sorted(used)
    }
    scripts_named = [f"{script} ({word})" for script, word in examples.items()]
    return [Warning.of("several-scripts", scripts=scripts_named)]


def _unlisted(language: str, words: Sequence[str], names: Collection[str]) -> list[Warning]:
    others = [code for code in LISTED if code != language]
    unknown = [word for word in words if word not in names and not _is_known(word, language)]
    homes = {word: [code for code in others if _is_known(word, code)] for word in unknown}
    if language != "de":  # a capital letter marks a name, but in German any noun
        unknown = [word for word in unknown if homes[word] or not word[:1].isupper()]
    if not unknown:
        return []
    nearest = max(others, key=lambda code: sum(code in homes[word] for word in unknown))
    known_there = sum(nearest in homes[word] for word in unknown)
    suggested = 2 * known_there >= len(unknown)
    other = (
        {"other": _language_name(nearest), "other_code": nearest}
        if suggested
        else {"other": "", "other_code": ""}
    )
    return [
        Warning.of(
            "not-in-lexicon",
            words=unknown,
            language=_language_name(language),
            known_there=known_there,
            **other,
        )
    ]


def _is_known(word: str, language: str) -> bool:
    if is_listed(word, language):
        return True
    if language == DEFAULT_LANGUAGE:
        return word in lexicon().classes
    pack = LANGUAGES.get(language)
    return isinstance(pack, InflectedLanguage) and (
        word in pack.lexicon.classes or pack.lexicon.form("singular", word) is not None
    )


def _language_name(language: str) -> str:
    return LANGUAGES.get(language).name


def write_test_file(path: str | Path, text: str) -> None:
    """Write a test file, and create its folder if needed.

    Raises:
        OutputError: if the file cannot be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise output_error(path, error) from None
