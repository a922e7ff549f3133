"""What ALBERT-base stores if its layers share nothing, the attention, the FFN or everything."""

from itertools import product

LAYERS = [12]
V, P, S, H, F = 30_000, 512, 2, 768, 3072  # words, positions, segments, widths

columns = ["embedding", "mode", "layers", "total", "applied"]
rows = []
for layers, e in product(LAYERS, (128, 768)):
    attention, ffn = 4 * H * H + 4 * H + 2 * H, 2 * H * F + F + H + 2 * H  # each with its norm
    outside = (V + P + S) * e + 2 * e + e * H + H + H * H + H  # with the norm and the pooler
    for mode in ("none", "attention", "ffn", "all"):
        attentions = 1 if mode in ("attention", "all") else layers
        ffns = 1 if mode in ("ffn", "all") else layers
        stored = outside + attentions * attention + ffns * ffn
        rows.append([e, mode, layers, stored, outside + layers * (attention + ffn)])
FIGURE = ("bars", "embedding layers", "mode", ["total"])
