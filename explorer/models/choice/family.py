"""Families: the model of each column, and its parameter counts from its shape."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

from explorer.context import context
from explorer.models.specs import (
    BASE,
    LARGER,
    MINI,
    MODEL_KEYS,
    MORE_KINDS,
    Architecture,
    ModelSpec,
    distilled_pair,
)
from explorer.refusal import Refusal, Sentence, brief

PRESETS: dict[str, tuple[str, ...]] = {
    "mini": ("mini",),
    "base": ("base",),
    "large": ("large", "base"),
}
"""Families by name: sizes in order of preference; a column takes the first that it has."""
ONLY = "only"
"""First part of a family of exactly the columns that it names: ``only,before=a,after=b``."""
COLUMN = re.compile(r"[a-z][a-z0-9_]{0,15}")
"""Syntax of a column's name."""
MAX_COLUMNS = 4
CLOSED = "-"
"""Mark of a column that is not shown, in place of a size; no model has this name."""
BAD_NUMBER = Sentence("number-of-columns", f"A family has one to {MAX_COLUMNS} columns.")
LONGEST = 1000
"""Maximum characters of a family name; a longer one is refused."""
OWN: dict[str, ModelSpec] = {}
"""Checkpoints given at the start or typed by visitors, by name."""


def all_specs() -> dict[str, ModelSpec]:
    """Return every spec by name: base, larger, mini, and those of the user."""
    specs = (*BASE.values(), *LARGER.values(), *MINI.values(), *OWN.values())
    return {spec.name: spec for spec in specs}


def column(key: str) -> dict[str, ModelSpec]:
    """Return the models of a column by size: mini, base, larger, then those of the user.

    A column with a name of its own takes every model, by the model's name.
    """
    if has_own_name(key):
        return all_specs()
    tables = {"mini": MINI, "base": BASE}
    standard = {size: table[key] for size, table in tables.items() if key in table}
    more = (*LARGER.values(), *OWN.values())
    return standard | {spec.size: spec for spec in more if spec.key == key}


def has_own_name(key: str) -> bool:
    """Return whether a column is named freely: not after an architecture."""
    return key not in (*MODEL_KEYS, *MORE_KINDS) and bool(COLUMN.fullmatch(key))


def page_columns() -> tuple[str, ...]:
    """Return the columns that the page's reader can choose models for, in their order."""
    return context().columns or tuple(MODEL_KEYS)


def known_columns() -> tuple[str, ...]:
    """Return the columns that a family of the page may have."""
    return tuple(dict.fromkeys((*MODEL_KEYS, *context().columns)))


def is_of_page(family: str) -> bool:
    """Return whether a family's columns are the page's own, or all named after architectures."""
    keys = set(sizes_of(family))
    return keys <= set(MODEL_KEYS) or keys <= set(context().columns)


def member(model: ModelSpec | None, specs: Iterable[ModelSpec]) -> ModelSpec | None:
    """Return the column that holds a model; None if no column does."""
    return next((spec for spec in specs if model and spec.name == model.name), None)


def teacher_of(spec: ModelSpec) -> ModelSpec | None:
    """Return the model whose layers the student's were copied from; None where there is none."""
    return parent_of(spec) if spec.initialised_from else None


def parent_of(spec: ModelSpec) -> ModelSpec | None:
    """Return the model that this one was distilled from or fitted to; None if unknown."""
    key = spec.kind.teacher or spec.fitted_to
    return column(key).get(spec.size) if key and not spec.is_own else None


def is_parent(teacher: ModelSpec, student: ModelSpec) -> bool:
    """Return whether the second is known to be distilled from the first, or fitted to it."""
    parent = parent_of(student)
    return parent is not None and parent.name == teacher.name


def pair_of(
    specs: Mapping[str, ModelSpec], teacher: str = "", student: str = ""
) -> tuple[str, str] | None:
    """Return the columns of teacher and student, or of two models that can be compared like them.

    Where they are not named, these are the columns of the architectures that were distilled, else
    a model and its parent, else the first two with a masked-LM head and vocabularies of one size.
    A column that is named for one part leaves the other part to the other column. None: there is
    no pair.
    """
    found = _first_pair(specs)
    if found is None and not (teacher and student):
        return None
    first, second = found or ("", "")
    return (
        teacher or (first if first != student else second),
        student or (second if second != teacher else first),
    )


def _first_pair(specs: Mapping[str, ModelSpec]) -> tuple[str, str] | None:
    if set(distilled_pair()) <= set(specs):
        return distilled_pair()
    for key, spec in specs.items():
        parent = member(teacher_of(spec), specs.values())
        if parent is not None and parent.key != key:
            return parent.key, key
    ready = [spec for spec in specs.values() if spec.has_head]
    alike = [
        (first.key, second.key)
        for first, second in combinations(ready, 2)
        if first.architecture.d_vocab == second.architecture.d_vocab
    ]
    return alike[0] if alike else None


def family_specs(family: str) -> tuple[ModelSpec, ...]:
    """Return the models of a family, column by column: a preset's, or those that it names.

    Raises:
        Refusal: there is no such family.
    """
    specs = {key: column(key)[size] for key, size in sizes_of(family).items()}
    return tuple(in_columns_of(specs).values())


def in_columns_of(models: Mapping[str, ModelSpec]) -> dict[str, ModelSpec]:
    """Return the model of each column under its column's name, with labels that all differ."""
    specs = {
        key: spec.in_column(key, key) if has_own_name(key) or key != spec.key else spec
        for key, spec in models.items()
    }
    times = Counter(spec.label for spec in specs.values())
    return {
        key: spec
        if times[spec.label] == 1 or spec.column_label
        else spec.in_column(key, f"{spec.label} ({key})")
        for key, spec in specs.items()
    }


def specs_by_key(family: str) -> dict[str, ModelSpec]:
    """Return the models of a family by column.

    Raises:
        Refusal: there is no such family.
    """
    return {spec.key: spec for spec in family_specs(family)}


def sizes_of(family: str) -> dict[str, str]:
    """Return the size in each column of a family, like ``base`` or ``base,bert=large``.

    A column that is not named has the preset's size; by default mini: ``bert=large,albert=xlarge``.
    After ``only``, or where a column has a name of its own, there are no other columns:
    ``only,before=mini-bert,after=bert-base-uncased``.

    Raises:
        Refusal: there is no such family, column or size.
    """
    if len(family) > LONGEST:
        raise Refusal(Sentence("family-too-long", "That is too long for a family."))
    preset, *chosen = family.split(",")
    if "=" in preset:
        preset, chosen = "", [preset, *chosen]
    elif preset not in (ONLY, *PRESETS):
        raise Refusal(Sentence("unknown-family", f"There is no family {brief(preset)!r}."))
    named = dict(pair.partition("=")[::2] for pair in chosen)
    for key, size in named.items():
        if size not in column(key):
            raise Refusal(
                Sentence("no-such-size", f"There is no {brief(key)} of size {brief(size)!r}.")
            )
    if preset == ONLY or any(map(has_own_name, named)):
        return _exact_columns(preset, named)
    standard = {key: _preset_size(key, preset or "mini") for key in MODEL_KEYS}
    sizes = {key: named.get(key) or size for key, size in standard.items()}
    return {key: size for key, size in sizes.items() if size}


def _exact_columns(preset: str, named: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a family that has no others, in the order in which it names them.

    Raises:
        Refusal: there are none or too many, or they are said to be those of a preset.
    """
    if preset in PRESETS:
        own = next(filter(has_own_name, named))
        raise Refusal(Sentence("not-in-family", f"There is no {own} in the family {preset}."))
    if not 1 <= len(named) <= MAX_COLUMNS:
        raise Refusal(BAD_NUMBER)
    return dict(named)


def _preset_size(key: str, preset: str) -> str | None:
    """Return a preset's size in a column; a column of user checkpoints only has its first."""
    sizes = column(key)
    own = [size for size, spec in sizes.items() if spec.is_own]
    first = own[:1] if len(own) == len(sizes) else []
    return next((size for size in (*PRESETS[preset], *first) if size in sizes), None)


def family_name(sizes: Mapping[str, str]) -> str:
    """Return the canonical name of these sizes: a preset's name, else each column's size.

    It begins with ``only`` unless the columns are those of the presets.
    """
    name = next((preset for preset in PRESETS if sizes_of(preset) == sizes), None)
    pairs = [f"{key}={size}" for key, size in sizes.items()]
    return name or ",".join(pairs if is_full(sizes) else [ONLY, *pairs])


def is_full(keys: Collection[str]) -> bool:
    """Return whether these columns are those of the presets, in their order."""
    standard = list(sizes_of("mini"))
    return list(keys) in (standard, [*standard, *(key for key in MORE_KINDS if key in keys)])


def read_family(family: object) -> str | None:
    """Return the canonical name of a family; None where there is no such family."""
    try:
        return family_name(sizes_of(str(family)))
    except Refusal:
        return None


def opened_family(requested: str | None) -> str | None:
    """Return the family to open: the requested one, else the models given at the start, if any.

    Raises:
        Refusal: there is no family of that name.
    """
    if requested:
        known = read_family(requested)
        if known is None:
            raise Refusal(Sentence("unknown-family", f"There is no family {brief(requested)!r}."))
        return known
    own = {spec.key: spec.size for spec in OWN.values()}
    return family_name(sizes_of("mini") | own) if own else None


def in_columns(params: dict[str, str]) -> dict[str, str]:
    """Return the fields of a link with a family that is no preset as one field per column.

    Columns with names of their own stay in the one field: a column may be called ``text``.
    """
    if params["family"] in PRESETS or is_exact(params["family"]):
        return params
    rest = {name: value for name, value in params.items() if name != "family"}
    return {**rest, **sizes_of(params["family"])}


def is_exact(family: str) -> bool:
    """Return whether a family has exactly the columns that it names."""
    return family.partition(",")[0] == ONLY


def of_one_family(params: Mapping[str, str]) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return a link's fields with its columns as one family, and the names of invalid fields.

    Columns that a link names, each as a field or all in its family, override those of a preset.
    """
    rest = {name: value for name, value in params.items() if name not in (*MODEL_KEYS, "family")}
    family = str(params.get("family", ""))
    known = read_family(family)
    if is_exact(family) or is_exact(known or ""):
        return ({**rest, "family": known} if known else rest), (() if known else ("family",))
    choices = str(params["family"])[: LONGEST + 1].split(",") if "family" in params else []
    choices += [f"{key}={params[key]}" for key in MODEL_KEYS if key in params]
    valid = [choice for choice in dict.fromkeys(choices) if read_family(choice)]
    invalid = [choice.partition("=") for choice in choices if choice not in valid]
    wrong = [key if equals and key in MODEL_KEYS else "family" for key, equals, _ in invalid]
    if valid:
        # The preset comes before the columns that override it.
        rest["family"] = ",".join(sorted(valid, key=lambda choice: "=" in choice))
    return rest, tuple(dict.fromkeys(wrong))


def layer_counts(shape: Architecture) -> dict[str, int]:
    """Return parameters of one layer: attention 4 H^2 + 4 H, FFN 2 H F + F + H, two norms 4 H."""
    h, f = shape.d_model, shape.d_ffn
    return {"attention": 4 * h * h + 4 * h, "ffn": 2 * h * f + f + h, "layer_norm": 4 * h}


def copies(shape: Architecture, sharing: str | None = None) -> dict[str, int]:
    """Return the number of stored copies of each part, over all layers.

    Each of the two norms stays with the part before it, so a shared part shares its norm.
    """
    mode = sharing or ("all" if shape.shares_layers else "none")
    attention = 1 if mode in {"attention", "all"} else shape.n_layers
    ffn = 1 if mode in {"ffn", "all"} else shape.n_layers
    return {"attention": attention, "ffn": ffn}


def shape_counts(shape: Architecture, sharing: str | None = None) -> dict[str, int]:
    """Return the parameters of each component of an encoder with this shape, as released.

    ``sharing`` is ``none``, ``attention``, ``ffn`` or ``all``; by default as in the shape.
    """
    h, e = shape.d_model, shape.d_embedding
    layer, times = layer_counts(shape), copies(shape, sharing)
    return {
        "word_embeddings": shape.d_vocab * e,
        "position_embeddings": shape.n_positions * e,
        "token_type_embeddings": shape.n_segments * e,
        "embedding_projection": (e * h + h) * shape.has_projection,
        "attention": layer["attention"] * times["attention"],
        "ffn": layer["ffn"] * times["ffn"],
        "layer_norm": 2 * e + 2 * h * (times["attention"] + times["ffn"]),
        "pooler": (h * h + h) * shape.has_pooler,
    }


def shape_total(shape: Architecture, sharing: str | None = None) -> int:
    """Return the number of parameters of an encoder with this shape."""
    return sum(shape_counts(shape, sharing).values())


def head_total(shape: Architecture) -> int:
    """Return the parameters of the masked-LM head outside the encoder: transform, norm, bias.

    An output layer that is not tied to the word embeddings has V E weights and a bias of its own;
    DistilBERT's bias is the head's, so V too many are counted there.
    """
    e = shape.d_embedding
    output = 0 if shape.ties_words else shape.d_vocab * (e + 1)
    return shape.d_model * e + e + 2 * e + shape.d_vocab + output
