"""Templates that were compiled once are read from the cache folder: compiling is most of the work of a small page."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from weatherglass.storage.atomic import write_whole
from weatherglass.storage.fingerprint import cache_folder

DIGEST = hashlib.sha256().digest_size


class CompiledTemplates(jinja2.BytecodeCache):
    """A file for each template. One that cannot be read or written, or was damaged, costs time and nothing else."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, where the file is whole; jinja checks that it is of this template and this Python."""
        with contextlib.suppress(OSError):
            content = self._file(bucket).read_bytes()
            digest, code = content[:DIGEST], content[DIGEST:]
            if hashlib.sha256(code).digest() == digest:  # unmarshalling damaged code could end the process
                bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        code = bucket.bytecode_to_string()
        file = self._file(bucket)
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, hashlib.sha256(code).digest() + code)

    @staticmethod
    def _file(bucket: Bucket) -> Path:
        return cache_folder() / "templates" / f"{bucket.key}-{jinja2.__version__}.bin"
