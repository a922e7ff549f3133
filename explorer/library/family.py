"""Families of models that the public functions ask: loading, and what they may be asked."""

import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from explorer.inference.ask import DTYPES, Ask
from explorer.inference.cache import CACHE
from explorer.inference.runs import (
    backend,
    devices,
    in_this_thread,
    network_key,
    noted_runs,
    refuse_none,
    runs_with_mlm_head,
)
from explorer.library import refusals, strings
from explorer.library.results import results_of
from explorer.models.choice.family import (
    BAD_NUMBER,
    COLUMN,
    MAX_COLUMNS,
    PRESETS,
    column,
    family_name,
    has_own_name,
    in_columns_of,
    read_family,
    specs_by_key,
)
from explorer.models.choice.labels import LabelNames, with_labels
from explorer.models.run import Run
from explorer.models.specs import MODEL_KEYS, ModelSpec
from explorer.refusal import Refusal, Sentence, brief, joined
from explorer.timing.workload import is_whole

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Family:
    """Models that answer side by side, on one device in one precision; made by ``load``."""

    name: str
    """A preset, or the size in each column: ``bert=large,distilbert=base,albert=xlarge``."""
    specs: Mapping[str, ModelSpec]
    """The model of each column: ``bert``, ``distilbert``, ``albert``, or the columns' own names."""
    device: str = "cpu"
    dtype: str = "float32"
    given: "tuple[LoadedModel, ...]" = ()
    """Networks that the caller holds in memory."""
    is_inline: bool = True
    """True: passes run in the caller's thread. False: on the backend of this process."""
    lock: Any = field(default_factory=RLock, init=False)
    """Held while networks of the caller are asked."""

    def chosen(self, model: str) -> ModelSpec:
        """Return the model of a column; of the first one for an empty name.

        Raises:
            Refusal: the family has no such column.
        """
        return next(iter(self.specs.values())) if model == "" else self.spec(model)

    def spec(self, model: str) -> ModelSpec:
        """Return the model of a column.

        Raises:
            Refusal: the family has no such column.
        """
        if not isinstance(model, str) or model not in self.specs:
            raise Refusal(refusals.no_such_model(list(self.specs)))
        return self.specs[model]

    def ask(self, text: str = "") -> Ask:
        """Return what these models are asked with a text.

        Raises:
            Refusal: the text is no string.
        """
        return Ask(checked_text(text), self.specs, self.device, self.dtype)

    def __repr__(self) -> str:
        labels = ", ".join(spec.label for spec in self.specs.values())
        return f"<Family {labels} on {self.device} in {self.dtype}>"


def named_family(
    family: str,
    device: str = "cpu",
    dtype: str = "float32",
    hint: str = "",
    *,
    is_inline: bool = True,
) -> Family:
    """Return a preset, or the size in each column, as a family; no network is loaded.

    Raises:
        Refusal: there is no such family; its sentence ends with the hint.
    """
    known = read_family(family) if isinstance(family, str) else None
    if known is None:
        sizes = "; ".join(f"{key}: {', '.join(column(key))}" for key in MODEL_KEYS)
        sentence = refusals.BAD_FAMILY.format(presets=", ".join(PRESETS), sizes=sizes)
        raise Refusal(joined(filter(None, (sentence, hint))))
    return Family(known, specs_by_key(known), device, dtype, is_inline=is_inline)


def checked_text(text: object, name: str = "text") -> str:
    """Return a text that a function was given.

    Raises:
        Refusal: it is no string.
    """
    if not isinstance(text, str):
        hint = [strings.MANY_TEXTS] if isinstance(text, list | tuple) else []
        sentence = refusals.NOT_A_STRING.format(name=name, kind=type(text).__name__)
        raise Refusal(joined([sentence, *hint]))
    return text


def is_index(value: object, length: int) -> bool:
    """Return whether a value is a whole number from 0 to length - 1, of Python or numpy."""
    return is_whole(value) and 0 <= int(value) < length


def missing_reasons(missing: Mapping[str, Refusal]) -> dict[str, list[str]]:
    """Return the reasons for missing models under the key ``missing``; empty if none is missing."""
    return {"missing": [str(error) for error in missing.values()]} if missing else {}


@contextmanager
def asked(family: Family | str) -> Iterator[Family]:
    """Use the models of a family, or of its name, inside this context.

    Results of a network that the caller holds are dropped at the end: its weights may change.

    Raises:
        Refusal: there is no such family.
    """
    models = family if isinstance(family, Family) else named_family(family, hint=strings.OWN_FAMILY)
    with ExitStack() as stack:
        stack.enter_context(noted_runs())
        stack.enter_context(results_of(models.specs))
        if models.is_inline:
            stack.enter_context(in_this_thread())
        if models.given:
            from explorer.models.loading import lent

            stack.enter_context(models.lock)
            for network in models.given:
                stack.callback(CACHE.forget, network.spec.name)
                stack.enter_context(lent(network))
        yield models


def masked_runs(
    models: Family, text: str, no_mask: Sentence
) -> tuple[dict[str, Run], Mapping[str, Refusal]]:
    """Return the runs of the models with an MLM head on a text with a mask, and the missing ones.

    Raises:
        Refusal: no model is available, or there is no mask, with the sentence ``no_mask``.
    """
    runs, missing = runs_with_mlm_head(models.ask(text))
    refuse_none(runs, missing)
    if not any(run.tokens.mask_positions for run in runs.values()):
        raise Refusal(no_mask)
    return runs, missing


def load(
    models: str | Mapping[str, Any] = "mini",
    *,
    only: bool = False,
    device: object = "cpu",
    dtype: object = "float32",
    labels: LabelNames | None = None,
) -> Family:
    """Load a family of models, in this process and without any thread or server.

    Args:
        models: "mini" (bundled), "base" or "large" (published checkpoints, downloaded where they
            are not in the hub's cache), a size for each model
            ("bert=large,distilbert=base,albert=xlarge"), or a mapping from columns to models. A
            model is a size ("large") in a column that is named after its architecture, a model's
            name ("mini-bert", "bert-base-uncased") in any other column, a folder, a hub
            repository, a model object of transformers, or a pair (model, tokenizer). Columns named
            "bert", "distilbert", "albert" and "roberta" hold these architectures; if there are no
            others, those that are not named are miniatures. Columns with other names, small letters
            and digits such as "before" and "after", hold any architecture, and are then the only
            ones. There are one to four columns; two of them may hold the same model.
        only: True: a mapping's columns are the only ones, whatever their names.
        device: "cpu", "cuda", "cuda:1", "mps" or "auto"; a torch.device. A model object's own
            device and precision hold for the whole family.
        dtype: "float32", "bfloat16", "float16"; a torch.dtype.
        labels: Names for the labels of a fine-tuned model's head, by column and in the order of its
            outputs, where its config.json has LABEL_0, LABEL_1: {"bert": ["negative", "positive"]}.

    Returns:
        The family, to be given to every other function.

    Raises:
        Refusal: a model cannot be used, or is not available; the message is one sentence.

    Example:
        >>> explorer.load("mini")
        <Family mini-BERT, mini-DistilBERT, mini-ALBERT on cpu in float32>
    """
    device, dtype = _known_device(str(device)), str(dtype).removeprefix("torch.")
    if dtype not in DTYPES:
        raise Refusal(refusals.BAD_DTYPE.format(dtype=brief(dtype), known=", ".join(DTYPES)))
    if isinstance(models, Mapping):
        family = _own_family(models, (device, dtype), labels, only=only)
    else:
        family = named_family(models, device, dtype, strings.OWN_FAMILY)
        family = replace(family, specs=with_labels(family.specs, labels))
    with asked(family):
        for spec in family.specs.values():
            backend().load(network_key(spec, family.ask()), None)
    return family


def _known_device(device: str) -> str:
    """Return the name of a device of this machine as torch writes it.

    Raises:
        Refusal: this machine has no such device.
    """
    with in_this_thread():
        known = devices()
    name = known[-1] if device == "auto" else device.removesuffix(":0")
    if name not in known:
        raise Refusal(refusals.NO_DEVICE.format(device=brief(device), known=", ".join(known)))
    return name


def _own_family(
    models: Mapping[str, Any], place: tuple[str, str], labels: LabelNames | None, *, only: bool
) -> Family:
    """Return a family with the caller's checkpoints in their columns.

    Raises:
        Refusal: one of them cannot be used.
    """
    columns = _checked_columns(models, only=only)
    own, given = list[ModelSpec](), list["LoadedModel"]()
    read: dict[Any, ModelSpec] = {}
    for key, source in models.items():
        known = _known_model(key, source)
        # The same checkpoint in two columns is one network.
        twice = source if isinstance(source, str | Path | tuple) else id(source)
        where = (None if has_own_name(key) else key, twice)
        if known is None and where not in read:
            read[where] = _own_spec(key, source, place[1], given)
            own.append(read[where])
        columns[key] = known or read[where]
    places = {(network.device, network.dtype) for network in given} or {place}
    if len(places) > 1:
        raise Refusal(refusals.TWO_DEVICES)
    sizes = {key: spec.name if has_own_name(key) else spec.size for key, spec in columns.items()}
    specs = with_labels(in_columns_of(columns), labels)
    family = Family(family_name(sizes), specs, *places.pop(), given=tuple(given))
    # A lambda or a bound method would hold the family for ever.
    weakref.finalize(family, _forget, tuple(spec.name for spec in own)).atexit = False
    return family


def _checked_columns(models: Mapping[str, Any], *, only: bool) -> dict[str, ModelSpec]:
    """Return the columns that are there beside those that the caller names: miniatures, or none.

    Raises:
        Refusal: a column has no valid name, or there are too many or none.
    """
    for key in models:
        if not (isinstance(key, str) and COLUMN.fullmatch(key)):
            raise Refusal(refusals.NO_COLUMN.format(key=brief(key)))
    fills_up = not only and not any(map(has_own_name, models))
    columns = specs_by_key("mini") if fills_up else {}
    if not 1 <= len({*columns, *models}) <= MAX_COLUMNS:
        raise Refusal(BAD_NUMBER)
    return columns


def _known_model(key: str, source: object) -> ModelSpec | None:
    """Return the bundled or published model that a source names; None if it is the caller's own."""
    return column(key).get(source) if isinstance(source, str) else None


def _own_spec(key: str, source: Any, dtype: str, given: "list[LoadedModel]") -> ModelSpec:  # noqa: ANN401
    from explorer.models.choice.own import named_uniquely, own_spec

    if isinstance(source, str | Path):
        return named_uniquely(own_spec(key, str(source), dtype=dtype))
    from explorer.models.loading import given_model

    pair = (source or (None,)) if isinstance(source, tuple) else (source,)
    given.append(given_model(key, *pair[:2]))
    return given[-1].spec


def _forget(names: tuple[str, ...]) -> None:
    """Remove checkpoints that no family has any more: specs, networks and results."""
    from explorer.models.choice.own import TAKEN
    from explorer.models.loading import forget_all
    from explorer.timing.networks import forget_timed_networks

    for name in names:
        CACHE.forget(name)
        forget_timed_networks(name)  # another model may get this name
    forget_all(lambda name: name in names)
    TAKEN.difference_update(names)
