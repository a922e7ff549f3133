"""CheckResult: what a live check came to and what it says about printed claims; plain data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One printed number against the quantity measured for it."""

    text: str
    holds: bool | None
    """None: the interval of what was measured holds both answers."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check came to, and what that says about each claim it bears on."""

    id: str
    status: str
    """``holds``, ``fails``, ``undecided`` or ``waits``."""
    text: str
    on: str
    published: bool
    claims: dict[str, tuple[ClaimVerdict, ...]]
    timed: bool = False
    """Where it is undecided, more rounds may decide it."""
