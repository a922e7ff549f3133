"""How many numbers a shape stores, in closed form: what a checkpoint weighs before it is here."""

from explorer.models.specs import Architecture


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
