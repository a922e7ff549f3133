"""Checkpoints of the user: inspected before loading, then one more size of a column."""

import logging
import re
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from huggingface_hub import snapshot_download
from huggingface_hub.utils import get_session

from explorer.context import context
from explorer.models.choice.family import OWN, all_specs, column
from explorer.models.choice.files import (
    MOST_LOGGED,
    NotAModel,
    check_tensors,
    has_head,
    is_lower_case,
    read_config,
    read_tensors,
    shape_of,
    task_of,
)
from explorer.models.choice.memory import too_large
from explorer.models.hub import STALL_SECONDS, WEIGHT_PATTERNS, OnProgress, reporting_bar
from explorer.models.specs import KINDS, MODEL_KEYS, MORE_KINDS, ModelSpec
from explorer.refusal import brief

logger = logging.getLogger(__name__)
REPO = re.compile(r"\w[\w.-]*/[\w.-]+")
SMALL = ["config.json", "*token*.json", "vocab.*", "merges.txt", "spiece.model"]
NOT_THERE = "no such repository or revision is open to everybody"
NO_ANSWER = "the hub did not answer, or the download broke off"
LONGEST = 200
"""Maximum characters of a typed repository and revision; the hub allows 96 for a name."""
MOST = 64
"""Maximum number of models that visitors may add."""
_adding = threading.Lock()
_fetching: "WeakValueDictionary[str, threading.Lock]" = WeakValueDictionary()
"""Locks held while a repository is inspected and downloaded, so that it is done once."""


def add_models(arguments: Iterable[str], dtype: str = "float32") -> None:
    """Add each ``bert=PATH_OR_REPO[@REVISION]`` to its column; a kind without one gets a column.

    Raises:
        NotAModel: one of them cannot be used.
    """
    for argument in arguments:
        key, _, source = argument.partition("=")
        if not source or key not in {**KINDS, **MORE_KINDS}:
            known = ", ".join({**KINDS, **MORE_KINDS})
            raise NotAModel(
                f"--model takes NAME=PATH_OR_REPO, with a NAME of {known}, not {argument!r}."
            )
        add_spec(own_spec(key, source, dtype=dtype))


def add_spec(spec: ModelSpec) -> ModelSpec:
    """Add a checkpoint to its column, under a unique name; a kind without a column gets one."""
    if spec.key not in KINDS:
        KINDS[spec.key] = MORE_KINDS[spec.key]
        MODEL_KEYS.append(spec.key)
    return _put(spec)


def typed_model(key: str, typed: str, report: OnProgress | None = None) -> str:
    """Return the size for what a visitor typed into a column: one of its sizes, or a repository.

    Raises:
        NotAModel: it is neither, or repositories may not be typed here.
    """
    repo, _, revision = typed.partition("@")
    if typed in column(key):
        return typed
    if not (context().any_model and REPO.fullmatch(repo) and len(typed) <= LONGEST):
        raise NotAModel(f"{brief(typed)!r} is not a choice for this column.")
    with _adding:
        fetching = _fetching.setdefault(repo, threading.Lock())
    with fetching:
        request = (key, repo, revision)
        specs = [own for own in [*OWN.values()] if (own.key, own.repo, own.revision) == request]
        if not specs and len(OWN) >= MOST:
            raise NotAModel(f"This page has {MOST} models of its visitors; it takes no more.")
        spec = specs[0] if specs else _put(own_spec(key, typed, hub_only=True, report=report))
    return spec.size


def _put(spec: ModelSpec) -> ModelSpec:
    """Add the model as one more size of its column, under a unique name."""
    with _adding:
        name = _name(spec.name, spec.key)
        OWN[name] = replace(spec, name=name, size=name)
        return OWN[name]


def own_spec(
    key: str,
    source: str,
    *,
    hub_only: bool = False,
    dtype: str = "float32",
    report: OnProgress | None = None,
) -> ModelSpec:
    """Return the spec of a checkpoint from its files alone; its weights are downloaded if they fit.

    Raises:
        NotAModel: it is not there, of another kind, too large, or contradicts itself.
    """
    kind, folder = KINDS.get(key) or MORE_KINDS[key], Path(source).expanduser()
    repo, _, revision = source.partition("@")
    is_local = folder.is_dir() and not hub_only
    if not is_local:
        folder = _fetched(repo, revision, SMALL)
    config = read_config(folder, kind, source)
    spec = ModelSpec(
        key,
        folder.resolve().name if is_local else repo,
        shape_of(config, kind, source),
        repo="" if is_local else repo,
        revision="" if is_local else revision,
        is_own=True,
        tuned_for=task_of(config),
        folder=folder.resolve() if is_local else None,
        lower_case=is_lower_case(folder, config, source),
    )
    if reason := too_large(spec, dtype):
        raise NotAModel(f"{source} cannot be used: {reason}.")
    if not is_local:
        folder = _fetched(repo, revision, [*SMALL, *WEIGHT_PATTERNS], report)
    tensors = read_tensors(folder, source)
    check_tensors(config, tensors, source)
    shape = replace(spec.architecture, has_pooler=any("pooler" in name for name in tensors))
    return replace(spec, architecture=shape, has_head=has_head(tensors))


def _name(source: str, key: str) -> str:
    """Return a unique name from the last part of its path, valid in links and columns."""
    name = re.sub(r"[^a-z0-9.]+", "-", source.rpartition("/")[2].lower()).strip("-.") or "own"
    taken = {*all_specs(), *(size for column_key in MODEL_KEYS for size in column(column_key))}
    names = (name, f"own-{name}", f"own-{key}-{name}", *(f"{name}-{n}" for n in range(2, 99)))
    return next(candidate for candidate in names if candidate not in taken)


def _fetched(
    repo: str, revision: str, patterns: list[str], report: OnProgress | None = None
) -> Path:
    """Return the folder with the files of these patterns, downloaded where they are not cached."""
    if not REPO.fullmatch(repo):
        raise NotAModel(
            f"{brief(repo, LONGEST)!r} is neither a folder here nor the name of a hub repository."
        )
    get_session().timeout = STALL_SECONDS
    try:
        folder = snapshot_download(
            repo,
            revision=revision or None,
            allow_patterns=patterns,
            tqdm_class=reporting_bar(repo, report),
        )
    except Exception as error:
        # The hub client raises its own, httpx's and the operating system's errors here.
        logger.warning("a download failed: %s", brief(repr(error), MOST_LOGGED))
        response = getattr(error.__cause__ or error, "response", None)
        why = NOT_THERE if getattr(response, "status_code", 0) in (401, 403, 404) else NO_ANSWER
        raise NotAModel(f"{repo} could not be downloaded from the hub: {why}.") from error
    return Path(folder)
