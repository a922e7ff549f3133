"""What a shape stores, what one pass over a batch applies, and its operations."""

SHAPE = {
    "n_layers": 12,
    "d_model": 768,
    "n_heads": 12,
    "d_ffn": 3072,
    "d_vocab": 30522,
    "d_embedding": 768,
    "n_positions": 512,
    "n_segments": 2,
    "has_pooler": True,
    "has_projection": False,
    "sharing": "none",
}
LENGTH = 128
BATCH = 1


def parts(sharing):
    h, e, f, n = (SHAPE[name] for name in ("d_model", "d_embedding", "d_ffn", "n_layers"))
    attentions = 1 if sharing in ("attention", "all") else n
    ffns = 1 if sharing in ("ffn", "all") else n
    return {
        "word_embeddings": SHAPE["d_vocab"] * e,
        "position_embeddings": SHAPE["n_positions"] * e,
        "token_type_embeddings": SHAPE["n_segments"] * e,
        "embedding_projection": (e * h + h) * SHAPE["has_projection"],
        "attention": (4 * h * h + 4 * h) * attentions,
        "ffn": (2 * h * f + f + h) * ffns,
        "layer_norm": 2 * e + 2 * h * (attentions + ffns),
        "pooler": (h * h + h) * SHAPE["has_pooler"],
    }


h, e, f, tokens = SHAPE["d_model"], SHAPE["d_embedding"], SHAPE["d_ffn"], LENGTH * BATCH
flops = SHAPE["n_layers"] * (2 * tokens * (4 * h * h + 2 * h * f) + 4 * tokens * LENGTH * h)
flops += 2 * tokens * e * h * SHAPE["has_projection"] + 2 * BATCH * h * h * SHAPE["has_pooler"]
columns = ["part", "count"]
stored = parts(SHAPE["sharing"])
rows = [[name, count] for name, count in stored.items() if count]
rows += [["total", sum(stored.values())], ["applied", sum(parts("none").values())]]
rows += [["flops", flops]]
FIGURE = ("bars", "", "part", ["count"])
