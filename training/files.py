"""Files that are there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which replaces ``path`` at the end.

    A kill leaves the old file or the new one, never half of one.
    """
    part = path.with_suffix(".part")
    yield part
    os.replace(part, path)
