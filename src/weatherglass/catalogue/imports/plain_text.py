"""Lists of words in plain text: one word a line, or several with commas; the file's name is the set's."""

from __future__ import annotations

from weatherglass.catalogue.checks import Source, checked_text
from weatherglass.catalogue.imports.draft import DraftSet
from weatherglass.errors import CatalogueError

COMMENTS = ("#", ";")
ROLES = {"x": 0, "y": 1, "a": 2, "b": 3, "targ1": 0, "targ2": 1, "attr1": 2, "attr2": 3}
"""File names that say which set of a test it is."""


def text_set(source: Source) -> DraftSet:
    """The words of a file, without blank lines and comments.

    Raises:
        CatalogueError: if it holds no word, or a control character.
    """
    words: list[str] = []
    for number, line in enumerate(source.text.splitlines(), start=1):
        if line.lstrip().startswith(COMMENTS):
            continue
        for word in filter(None, map(str.strip, line.split(","))):
            if not word.isprintable():
                raise CatalogueError(f"{source.path}, line {number}: {word!r} has a control character")
            words.append(checked_text(source, source.path.name, word))
    if not words:
        raise CatalogueError(f"{source.path}: holds no words; one a line, or several with commas")
    return DraftSet(source.path.stem, tuple(words))
