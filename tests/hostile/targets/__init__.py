"""Every reader of ours as a class of inputs; a new reader is a line in one of these tables."""

from __future__ import annotations

from tests.hostile.target import Target
from tests.hostile.targets.arguments import ARGUMENTS
from tests.hostile.targets.corpora import CORPORA
from tests.hostile.targets.files_of_tests import TEST_FILES
from tests.hostile.targets.models import MODELS
from tests.hostile.targets.our_files import OUR_FILES
from tests.hostile.targets.surroundings import SURROUNDINGS
from tests.hostile.targets.vectors import VECTORS
from tests.hostile.targets.word_lists import WORD_LISTS

TARGETS: tuple[Target, ...] = (
    *TEST_FILES,
    *WORD_LISTS,
    *ARGUMENTS,
    *CORPORA,
    *OUR_FILES,
    *VECTORS,
    *MODELS,
    *SURROUNDINGS,
)
