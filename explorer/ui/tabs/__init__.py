"""The tabs in the order they are shown; each module has ID, LABEL, build and show."""

from typing import Any

TABS: tuple[Any, ...] = ()
