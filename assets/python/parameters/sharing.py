"""What ALBERT-base stores if its layers share nothing, the attention, the FFN or everything."""

V, P, S, L, H, F = 30_000, 512, 2, 12, 768, 3072  # words, positions, segments, layers, widths

columns = ["embedding", "mode", "total", "applied"]
rows = []
for e in (128, 768):
    attention, ffn = 4 * H * H + 4 * H + 2 * H, 2 * H * F + F + H + 2 * H  # each with its norm
    outside = (V + P + S) * e + 2 * e + e * H + H + H * H + H  # with the norm and the pooler
    for mode in ("none", "attention", "ffn", "all"):
        attentions = 1 if mode in ("attention", "all") else L
        ffns = 1 if mode in ("ffn", "all") else L
        stored = outside + attentions * attention + ffns * ffn
        rows.append([e, mode, stored, outside + L * (attention + ffn)])
FIGURE = ("bars", "embedding", "mode", ["total"])
