"""`python -m tests.golden PART…`: freeze parts anew; without an argument, all of them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.golden.parts import PARTS, write

for name in sys.argv[1:] or PARTS:
    with tempfile.TemporaryDirectory() as folder:
        write(name, PARTS[name](Path(folder)))
