"""Import tests from files of other projects: detect the format, check the tests, and write either all of them or
none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, cast

from weatherglass.catalogue.checks import Source, checked_name, write_test_file
from weatherglass.catalogue.imports.formats import (
    FILE_ROLES,
    Draft,
    DraftSet,
    draft_set,
    is_query,
    is_responsibly,
    is_row,
    is_word_sets,
    literals,
    query_draft,
    responsibly_drafts,
    row_draft,
    text_set,
    wefe_drafts,
    word_sets,
    xweat_drafts,
    xweat_language,
)
from weatherglass.catalogue.imports.pairs import read_pair_file
from weatherglass.catalogue.published import (
    catalogue_names,
    catalogue_test,
    list_sets,
    word_set,
)
from weatherglass.catalogue.test import Element, ElementSet, Test, distinct, overlaps
from weatherglass.catalogue.toml_format import LANGUAGE_CODE, quoted, to_toml
from weatherglass.errors import CatalogueError, MissingExtraError, OutputError, output_error
from weatherglass.registry import did_you_mean
from weatherglass.storage.atomic import whole_folder, write_whole
from weatherglass.storage.child_process import Content, read_in_child
from weatherglass.storage.documents import parsed_json, reading_document
from weatherglass.storage.installed import install_command
from weatherglass.storage.reading import errors_in_one_line, is_folder, user_path
from weatherglass.storage.tables import TABLES

SEARCHED = (".json", ".jsonl", ".parquet", *TABLES)
"""Suffixes of the files of a folder that are read; text files are read only if there are no others."""
KNOWN_FORMS = (
    "the published format (targ1, targ2, attr1, attr2), WEATHub's rows, XWEAT's CSV, responsibly's weat.json, "
    "WEFE's queries, a dictionary of word lists, tables with a column per set or a row per word, text, and sentence "
    "pairs (CrowS-Pairs, StereoSet, BEC-Pro, samples of lm-eval, columns more and less)"
)


@dataclass(frozen=True, slots=True)
class ImportedTest:
    """A test, and notes about the file that it came from."""

    test: Test
    form: str
    """The project whose format the file has: "WEATHub", "responsibly"."""
    notes: tuple[str, ...]
    """Notes about duplicates, words in two sets, entries of several words, and an assumed language."""

    def to_toml(self) -> str:
        """Return the test in weatherglass's own format, with the notes as comments at the top."""
        head = [f"Imported from {self.test.source}", *self.notes]
        return "".join(f"# {_one_line(line)}\n" for line in head) + "\n" + to_toml(self.test)


@dataclass(frozen=True, slots=True)
class Import:
    """The tests of a file or folder."""

    tests: tuple[ImportedTest, ...]
    passed_over: tuple[str, ...] = ()
    """Files of a folder that contain no test in a known format, each with the reason."""


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of a file: tests, and word sets from which the user can choose the sets of a test."""

    drafts: list[Draft]
    sets: dict[str, DraftSet]


class _UnknownFormError(CatalogueError):
    """A file that can be read, but whose format is unknown."""


def import_tests(
    path: str | Path,
    language: str = "",
    targets: Sequence[str] = (),
    attributes: Sequence[str] = (),
    name: str = "",
) -> Import:
    """Return the tests in a file or folder of another project.

    Args:
        path: the file, or a folder that is searched recursively.
        language: the code of the language; by default, the language stated in the file or its name, or English with a
            note.
        targets: names of the target sets, if the files contain sets instead of tests; they may be sets of the
            catalogue.
        attributes: names of the attribute sets.
        name: the name of the test that is made from the named sets; by default, the name of the file.

    Raises:
        CatalogueError: if files are faulty; the message has one line per file, with the line and the word.
        MissingExtraError: if a Parquet file needs a library that is not installed.
    """
    path = user_path(path, CatalogueError)
    _check_language(language)
    if not is_folder(path) and (found := read_pair_file(path)) is not None:
        tests_of_pairs, form, notes = found
        return Import(tuple(ImportedTest(test, form, notes) for test in tests_of_pairs))
    contents, passed_over = _contents(path, language)
    drafts = [(file, draft) for file, content in contents.items() for draft in content.drafts]
    sets = {key: each for content in contents.values() for key, each in content.sets.items()}
    if targets or attributes:
        drafts = [(path, _chosen(path, sets, targets, attributes, name))]
    elif not drafts:
        drafts = [(path, _by_role(path, sets, name))]
    with errors_in_one_line(
        str(path), "contains no valid tests", "correct the file, or get it again", CatalogueError
    ):
        tests = tuple(_checked(file, draft, language) for file, draft in drafts)
    _refuse_same_names(tests)
    return Import(tests, tuple(passed_over))


def _check_language(language: str) -> None:
    if language and not LANGUAGE_CODE.fullmatch(language):
        raise CatalogueError(f"--language should be a code such as en, de or pt-BR, but is '{language}'")


def import_table(
    path: str | Path,
    language: str = "",
    name: str = "",
    *,
    layout: str = "",
    columns: Mapping[str, str] | None = None,
    sheet: str = "",
    header: bool = True,
) -> Import:
    """Return the tests of a table; see `catalogue.lists.read_sets` for the arguments.

    Raises:
        CatalogueError: if the table can be read in two ways, or does not state the roles of its sets.
    """
    from weatherglass.catalogue.lists import read_sets

    _check_language(language)
    path = user_path(path, CatalogueError)
    drafts = read_sets(path, layout=layout, columns=columns, sheet=sheet, header=header).drafts()
    if name and len(drafts) == 1:
        drafts = [replace(drafts[0], name=name)]
    tests = tuple(_checked(path, draft, language) for draft in drafts)
    _refuse_same_names(tests)
    return Import(tests)


def write_import(imported: Import, output: str | Path) -> list[Path]:
    """Write either all tests as TOML or none: one test to a .toml file, several to a folder.

    Raises:
        CatalogueError: if there are several tests, but the output is one file.
        OutputError: if the output cannot be written.
    """
    output = Path(output)
    if output.suffix.lower() == ".toml":
        if len(imported.tests) != 1:
            raise CatalogueError(
                f"{len(imported.tests)} tests were found, so name a folder for them (-o) instead of {output}"
            )
        write_test_file(output, imported.tests[0].to_toml())
        return [output]
    texts = {f"{each.test.name}.toml": each.to_toml() for each in imported.tests}
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise OutputError(f"{output}: exists already; name a new folder, so that nothing is overwritten")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with whole_folder(output) as folder:
            for file_name, text in texts.items():
                write_whole(folder / file_name, text)
    except OSError as error:
        raise output_error(output, error) from None
    return [output / file_name for file_name in texts]


def _contents(path: Path, language: str) -> tuple[dict[Path, _Content], list[str]]:
    if not is_folder(path):
        return {path: _read(path, language)}, []
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    chosen = [file for file in files if file.suffix.lower() in SEARCHED] or [
        file for file in files if file.suffix.lower() == ".txt"
    ]
    contents: dict[Path, _Content] = {}
    passed_over: list[str] = []
    wrong: list[str] = []
    for file in chosen:
        try:
            contents[file] = _read(file, language)
        except _UnknownFormError as error:
            passed_over.append(str(error))
        except CatalogueError as error:
            wrong.append(str(error))
    if wrong:
        raise CatalogueError("\n".join(wrong))
    if not contents:
        raise CatalogueError(f"{path}: contains no file in a known format; known formats are {KNOWN_FORMS}")
    return contents, passed_over


def _read(path: Path, language: str) -> _Content:
    """Read a file; the suffix determines the parser, and the format is detected from the content."""
    with reading_document(path, CatalogueError):
        return _read_by_suffix(path, language)


def _read_by_suffix(path: Path, language: str) -> _Content:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _rows(Source(path, ""), _parquet_rows(path))
    if suffix == ".csv" and (stated := xweat_language(path, language)):
        return _Content(xweat_drafts(Source.read(path), stated), {})
    if suffix in TABLES or (suffix == ".txt" and b"\t" in path.read_bytes()):
        return _table(path)
    source = Source.read(path)
    if suffix == ".txt":
        return _Content([], {path.stem: text_set(source)})
    if suffix == ".py":
        return _python(source)
    return _form(source, _json(source))


def _table(path: Path) -> _Content:
    """Return the tests of a table, or only its sets if it does not state their roles."""
    from weatherglass.catalogue.lists import read_sets

    try:
        read = read_sets(path)
    except CatalogueError as error:
        raise _UnknownFormError(str(error)) from None
    sets = {name: DraftSet(name, tuple(words)) for each in read.tests for name, words in each.words.items()}
    return _Content(read.drafts() if all(each.roles for each in read.tests) else [], sets)


def _python(source: Source) -> _Content:
    """Return the tests and word lists of a Python file's literals; a list has the name of its variable."""
    content = _Content([], {})
    for name, value in literals(source).items():
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            content.sets[name] = draft_set(source, name, name, value)
        elif _known(value):
            part = _form(source, value, name)
            content.drafts.extend(part.drafts)
            content.sets.update(part.sets)
    if not content.drafts and not content.sets:
        raise _UnknownFormError(
            f"{source.path}: the file contains no literal list, dictionary of words or Query"
        )
    return content


def _known(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return (
        is_responsibly(value)
        or is_word_sets(value)
        or (bool(items) and all(is_row(item) or is_query(item) for item in items))
    )


def _form(source: Source, content: Any, name: str = "") -> _Content:
    """Return the tests and sets of parsed content in any known format."""
    if isinstance(content, dict) and isinstance(content.get("rows"), list):  # the Hub wraps each row
        content = [row.get("row", row) if isinstance(row, dict) else row for row in content["rows"]]
    if is_row(content):
        return _Content([row_draft(source, content)], {})
    if isinstance(content, list) and content and any(map(is_row, content)):
        return _rows(source, content)
    if is_responsibly(content):
        return _Content(responsibly_drafts(source, content), {})
    if is_query(content):
        return _Content([query_draft(source, content, name)], {})
    if isinstance(content, list) and content and all(map(is_query, content)):
        stem = name or source.path.stem
        return _Content(
            [query_draft(source, query, f"{stem}-{number}") for number, query in enumerate(content, start=1)],
            {},
        )
    if isinstance(content, dict) and content and all(map(is_query, content.values())):
        return _Content([query_draft(source, query, key) for key, query in content.items()], {})
    if is_word_sets(content):
        sets = word_sets(source, content)
        return _Content(wefe_drafts(source, sets), sets)
    raise _UnknownFormError(f"{source.path}: unknown format; known formats are {KNOWN_FORMS}")


def _rows(source: Source, rows: Sequence[Any]) -> _Content:
    drafts = []
    for number, row in enumerate(rows, start=1):
        if not is_row(row):
            raise CatalogueError(
                f"{source.path}, row {number}: not a test, although other rows of the file are"
            )
        drafts.append(row_draft(source, row, f"(row {number}) "))
    return _Content(drafts, {})


def _json(source: Source) -> Any:
    """Return the JSON value of a file, or a list of values if there is one per line."""
    try:
        return parsed_json(source.text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise CatalogueError(
                f"{source.path}, line {error.lineno}, column {error.colno}: malformed JSON ({error.msg})"
            ) from None
    values = []
    for number, line in enumerate(source.text.split("\n"), start=1):
        try:
            values += [parsed_json(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            raise CatalogueError(
                f"{source.path}, line {number}, column {error.colno}: malformed JSON ({error.msg})"
            ) from None
    return values


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    if find_spec("polars") is None:
        raise MissingExtraError(f"{path}: Parquet needs polars; run: {install_command('encodings')}")
    rows, _ = read_in_child(f"{__name__}:parquet_rows", path, CatalogueError)
    return cast(list[dict[str, Any]], rows)


def parquet_rows(path: Path) -> Content:
    """Read the rows of a Parquet file in a child process, since polars may crash on a damaged file."""
    import polars

    with errors_in_one_line(str(path), "not a Parquet file", "get it again", CatalogueError):
        return json.loads(json.dumps(polars.read_parquet(path).to_dicts(), default=str)), {}


def _chosen(
    path: Path, sets: Mapping[str, DraftSet], targets: Sequence[str], attributes: Sequence[str], name: str
) -> Draft:
    """Return a test with the sets that the user names, which come from the files or from the catalogue."""
    known = {entry.name for entry in list_sets()}

    def named(set_name: str) -> DraftSet:
        if set_name in sets:
            return sets[set_name]
        if set_name in known:
            element_set = word_set(set_name)
            return DraftSet(element_set.category, element_set.words)
        raise CatalogueError(
            f"{path}: no set is called '{set_name}'{did_you_mean(set_name, (*sets, *known))} (sets: "
            f"{', '.join(sets)})"
        )

    for kind, names in (("target", targets), ("attribute", attributes)):
        if not names:
            raise CatalogueError(f"{path}: no {kind} set is named; give --{kind} at least once")
    return Draft(
        name or path.stem, tuple(map(named, targets)), tuple(map(named, attributes)), origin="word lists"
    )


def _by_role(path: Path, sets: Mapping[str, DraftSet], name: str) -> Draft:
    """Return a test from sets whose names are their roles: X, Y, A and B, or targ1, targ2, attr1 and attr2."""
    roles = {FILE_ROLES[key.lower()]: key for key in sets if key.lower() in FILE_ROLES}
    if set(roles) == set(range(4)):
        x, y, a, b = (roles[number] for number in range(4))
        return _chosen(path, sets, (x, y), (a, b), name)
    raise CatalogueError(
        f"{path}: contains word sets, but no test; name the sets to compare with --target and --attribute "
        f"(sets: {', '.join(sets)})"
    )


def _checked(path: Path, draft: Draft, language: str) -> ImportedTest:
    """Return the test made from a draft, with notes about duplicates, overlaps and the language."""
    source = Source(path, "")
    drafts = (*draft.targets, *draft.attributes)
    notes = list(draft.notes)
    sets: list[ElementSet] = []
    for each in drafts:
        element_set, repeats = distinct("", each.category, (Element(word, word) for word in each.words))
        notes += [f"duplicates in {repeat}" for repeat in repeats]
        if each.blanks:
            notes.append(f"{each.category}: {each.blanks} blank entries left out")
        sets.append(element_set)
    targets, attributes = tuple(sets[: len(draft.targets)]), tuple(sets[len(draft.targets) :])
    notes += [f"overlap: {overlap}" for overlap in overlaps(targets, attributes)]
    for target, attribute in product(targets, attributes):
        if shared := [word for word in target.words if word in attribute.words]:
            notes.append(f"overlap: {target.category} and {attribute.category} share {', '.join(shared)}")
    for element_set in sets:
        if several := [word for word in element_set.words if len(word.split()) > 1]:
            notes.append(f"entries with more than one word in {element_set.category}: {', '.join(several)}")
    stated = language or draft.language
    if not stated:
        notes.append("language: en, since the file does not state a language; change it with --language")
    elif not LANGUAGE_CODE.fullmatch(stated):
        raise CatalogueError(f"{path}: language should be a code such as en, de or pt-BR, but is '{stated}'")
    single = [element_set.category for element_set in targets if len(element_set) < 2]
    if single:
        notes.append(f"only one word in {', '.join(single)}; WEAT needs two in each target set")
    origin = (
        draft.origin
        if path.name in draft.origin
        else f"{draft.origin}: {'/'.join(path.resolve().parts[-2:])}"
    )
    test = Test(
        checked_name(source, re.sub(r"[\s/\\]+", "-", draft.name)),
        targets=targets,
        attributes=attributes,
        source=origin,
        citation=draft.citation,
        language=stated or "en",
        topic=draft.topic or _known_topic(targets, attributes),
    )
    return ImportedTest(test, draft.origin, tuple(notes))


def _known_topic(targets: Sequence[ElementSet], attributes: Sequence[ElementSet]) -> str:
    """Return the topic of the catalogue's test with the same categories, in any language; empty if there is none."""
    wanted = tuple(_key(each.category) for each in (*targets, *attributes))
    tests = map(catalogue_test, catalogue_names())
    return next((test.topic for test in tests if tuple(map(_key, test.categories)) == wanted), "")


def _key(category: str) -> str:
    """Normalise a category for comparison: "Male terms" and "MaleTerms" are the same."""
    return "".join(character for character in category.lower() if character.isalpha())


def _refuse_same_names(tests: Sequence[ImportedTest]) -> None:
    sources: dict[str, str] = {}
    for each in tests:
        if each.test.name in sources:
            raise CatalogueError(
                f"two tests are called '{each.test.name}': in {sources[each.test.name]} and in {each.test.source}; "
                "import them separately"
            )
        sources[each.test.name] = each.test.source


def _one_line(text: str) -> str:
    """Return a text that is safe in a comment, where a line break would end the comment."""
    return text if text.isprintable() else quoted(text)
