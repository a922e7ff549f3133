"""Families: which model stands in each column, and the size of each from its shape."""

from collections.abc import Mapping

from explorer.models.specs import BASE, LARGER, MINI, MODEL_KEYS, Architecture, ModelSpec
from explorer.refusal import Refusal, brief

PRESETS: dict[str, tuple[str, ...]] = {
    "mini": ("mini",),
    "base": ("base",),
    "large": ("large", "base"),
}
"""Whole families by name; where a column lacks the first size, it has the next."""
LONGEST = 1000
"""Characters of a family as it is written; more are read by nobody."""
OWN: dict[str, ModelSpec] = {}
"""Checkpoints given at the start, by name."""


def all_specs() -> dict[str, ModelSpec]:
    """Every architecture by name: base, larger, mini, and those given at the start."""
    listed = (*BASE.values(), *LARGER.values(), *MINI.values(), *OWN.values())
    return {spec.name: spec for spec in listed}


def column(key: str) -> dict[str, ModelSpec]:
    """The choices of a column by size, the smallest first, then those given at the start."""
    tables = {"mini": MINI, "base": BASE}
    whole = {size: table[key] for size, table in tables.items() if key in table}
    more = (*LARGER.values(), *OWN.values())
    return whole | {spec.size: spec for spec in more if spec.key == key}


def teacher_of(spec: ModelSpec) -> ModelSpec | None:
    """The model whose layers a student's were copied from; None where there was none."""
    return parent_of(spec) if spec.initialised_from else None


def parent_of(spec: ModelSpec) -> ModelSpec | None:
    """The model that this one was distilled from or fitted to; None if that is not known."""
    return column(spec.kind.teacher or spec.fitted_to).get("" if spec.is_own else spec.size)


def family_specs(family: str) -> tuple[ModelSpec, ...]:
    """The models of a family, in the fixed order: a preset's, or one chosen in each column.

    Raises:
        Refusal: there is no such family.
    """
    return tuple(column(key)[size] for key, size in sizes_of(family).items())


def specs_by_key(family: str) -> dict[str, ModelSpec]:
    """Return the models of a family by key, in the fixed order.

    Raises:
        Refusal: there is no such family.
    """
    return {spec.key: spec for spec in family_specs(family)}


def sizes_of(family: str) -> dict[str, str]:
    """The size in each column of ``base``, ``bert=large,albert=xlarge`` or ``base,bert=large``.

    A column that is not named has the preset's size, by default the miniature.

    Raises:
        Refusal: there is no such family, column or size.
    """
    if len(family) > LONGEST:
        raise Refusal("That is too long for a family.")
    preset, *chosen = family.split(",")
    if "=" in preset:
        preset, chosen = "mini", [preset, *chosen]
    if preset not in PRESETS:
        raise Refusal(f"There is no family {brief(preset)!r}.")
    sizes = {key: size for key in MODEL_KEYS if (size := _preset_size(key, preset))}
    for one in chosen:
        key, _, size = one.partition("=")
        if size not in column(key):
            raise Refusal(f"There is no {brief(key)} of size {brief(size)!r}.")
        sizes[key] = size
    return {key: sizes[key] for key in MODEL_KEYS if key in sizes}


def _preset_size(key: str, preset: str) -> str | None:
    """A preset's size of a column; a column of own checkpoints alone has its first in all."""
    sizes = column(key)
    own = [size for size, spec in sizes.items() if spec.is_own]
    first = own[:1] if len(own) == len(sizes) else []
    return next((size for size in (*PRESETS[preset], *first) if size in sizes), None)


def family_name(sizes: Mapping[str, str]) -> str:
    """The one way to write the family of these sizes: a preset's name, else each column's size."""
    whole = next((preset for preset in PRESETS if sizes_of(preset) == sizes), None)
    return whole or ",".join(f"{key}={size}" for key, size in sizes.items())


def read_family(family: object) -> str | None:
    """A family as it is written everywhere; None where there is none of that name."""
    try:
        return family_name(sizes_of(str(family)))
    except Refusal:
        return None


def opened_family(asked: str | None) -> str | None:
    """What is opened: the family that was asked for, else the models given at the start, if any.

    Raises:
        Refusal: there is no family of that name.
    """
    if asked:
        known = read_family(asked)
        if known is None:
            raise Refusal(f"There is no family {brief(asked)!r}.")
        return known
    own = {spec.key: spec.size for spec in OWN.values()}
    return family_name(sizes_of("mini") | own) if own else None


def in_columns(params: dict[str, str]) -> dict[str, str]:
    """A link's fields, a family that is no preset as one field for each column."""
    if params["family"] in PRESETS:
        return params
    rest = {name: value for name, value in params.items() if name != "family"}
    return {**rest, **sizes_of(params["family"])}


def of_one_family(params: Mapping[str, str]) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The same the other way round, and what of the models cannot be read: the rest counts.

    Columns that a link names, each as a field or all in its family, change those of a preset.
    """
    said = str(params["family"])[: LONGEST + 1].split(",") if "family" in params else []
    said += [f"{key}={params[key]}" for key in MODEL_KEYS if key in params]
    good = [one for one in dict.fromkeys(said) if read_family(one)]
    lost = [one.partition("=") for one in said if one not in good]
    wrong = [key if equals and key in MODEL_KEYS else "family" for key, equals, _ in lost]
    kept = {name: value for name, value in params.items() if name not in (*MODEL_KEYS, "family")}
    if good:
        # A preset stands before what differs from it.
        kept["family"] = ",".join(sorted(good, key=lambda one: "=" in one))
    return kept, tuple(dict.fromkeys(wrong))


def layer_counts(shape: Architecture) -> dict[str, int]:
    """Numbers in one layer: 4 H^2 + 4 H in attention, 2 H F + F + H in the FFN, two norms."""
    h, f = shape.d_model, shape.d_ffn
    return {"attention": 4 * h * h + 4 * h, "ffn": 2 * h * f + f + h, "layer_norm": 4 * h}


def copies(shape: Architecture, sharing: str | None = None) -> dict[str, int]:
    """How many copies of each part the layers store between them.

    Each of the two norms stays with the part before it, so a shared part shares its norm.
    """
    mode = sharing or ("all" if shape.shares_layers else "none")
    attention = 1 if mode in {"attention", "all"} else shape.n_layers
    ffn = 1 if mode in {"ffn", "all"} else shape.n_layers
    return {"attention": attention, "ffn": ffn}


def shape_counts(shape: Architecture, sharing: str | None = None) -> dict[str, int]:
    """Numbers per component of an encoder with this shape, as released.

    ``sharing`` is ``none``, ``attention``, ``ffn`` or ``all``; by default what the shape says.
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
    """Numbers stored by an encoder with this shape."""
    return sum(shape_counts(shape, sharing).values())


def head_total(shape: Architecture) -> int:
    """Numbers of the masked-LM head that the encoder does not hold: transform, norm, bias."""
    e = shape.d_embedding
    return shape.d_model * e + e + 2 * e + shape.d_vocab
