"""What one layer does to one token: scores, softmax, norm, cosine and what the head predicts."""

import math

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
LAYERS = {"mini-BERT": 0, "mini-DistilBERT": 0, "mini-ALBERT": 0}
HEADS = {"mini-BERT": 0, "mini-DistilBERT": 0, "mini-ALBERT": 0}
POSITIONS = {"mini-BERT": 6, "mini-DistilBERT": 6, "mini-ALBERT": 6}  # the token that is followed
WITH_HEAD = ["mini-BERT", "mini-DistilBERT", "mini-ALBERT"]  # what a masked-LM head can read
LAYER = {
    "bert": lambda net, n: net.encoder.layer[n],
    "distilbert": lambda net, n: net.transformer.layer[n],
    "albert": lambda net, _: net.encoder.albert_layer_groups[0].albert_layers[0],
}
ATTENTION = {
    "bert": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "distilbert": ("attention.q_lin", "attention.k_lin", "attention.v_lin"),
    "albert": ("attention.query", "attention.key", "attention.value"),
}
REST = {
    "bert": ("attention.output.dense", "attention.output.LayerNorm", "output.LayerNorm"),
    "distilbert": ("attention.out_lin", "sa_layer_norm", "output_layer_norm"),
    "albert": ("attention.dense", "attention.LayerNorm", "full_layer_layer_norm"),
}
FEED_FORWARD = {
    "bert": lambda layer, x: layer.output.dense(layer.intermediate(x)),
    "distilbert": lambda layer, x: layer.ffn(x),
    "albert": lambda layer, x: layer.ff_chunk(x),
}
for names in (LAYER, ATTENTION, REST, FEED_FORWARD):
    names.update(dict.fromkeys(("roberta", "xlm-roberta", "camembert"), names["bert"]))

columns = ["model", "layer", "head", "station", "position", "token"]
columns += ["norm", "cosine", "degrees", "score", "weight", "mean_of_heads"]
columns += ["prediction", "probability"]
rows = []
for label, n in LAYERS.items():
    tokenizer, lm = load(label, AutoModelForMaskedLM)
    model = lm.base_model
    kind, head, at = model.config.model_type, HEADS[label], POSITIONS[label]
    inputs = encode(tokenizer, model, TEXT)
    layer = LAYER[kind](model, n)
    query, key, value = (layer.get_submodule(name) for name in ATTENTION[kind])
    dense, first_norm, last_norm = (layer.get_submodule(name) for name in REST[kind])
    embedded = []
    model.embeddings.register_forward_hook(lambda *given, into=embedded: into.append(given[-1]))
    with torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states[n][0]
        n_heads = model.config.num_attention_heads
        q, k, v = (
            m(states).unflatten(-1, (n_heads, -1)).transpose(0, 1) for m in (query, key, value)
        )
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        read = (scores.softmax(-1) @ v).transpose(0, 1).flatten(1)
        made = {"embedding": (embedded[0][0, at], None), "input": (states[at], None)}
        made["heads"] = scores[head, at].softmax(-1) @ v[head], None
        made["projection"] = dense(read)[at], "input"
        made["attended"] = states[at] + made["projection"][0], "input"
        made["attention_norm"] = first_norm(made["attended"][0]), "attended"
        made["feed_forward"] = (
            FEED_FORWARD[kind](layer, made["attention_norm"][0]),
            "attention_norm",
        )
        made["summed"] = made["attention_norm"][0] + made["feed_forward"][0], "attention_norm"
        made["output"] = last_norm(made["summed"][0]), "summed"
        read_at = ("input", "attention_norm", "output") if label in WITH_HEAD else ()
        logits = {name: MLM_HEAD[kind](lm, made[name][0]) for name in read_at}
    for name, (vector, before) in made.items():
        pair = (vector.double(), made[before][0].double()) if before else None
        cosine = torch.cosine_similarity(*pair, 0).item() if pair else None
        first = [None, None]
        if name in logits:
            p = logits[name].double().softmax(-1)
            first = [spelled(tokenizer, p.argmax().item()), p.max().item()]
        told = [label, n + 1, head + 1, name, None, None, vector.norm().item(), cosine]
        rows.append([*told, None, None, None, None, *first])
    blocks = {
        "attention": ("input", "attention_norm"),
        "feed_forward": ("attention_norm", "output"),
    }
    for name, ends in blocks.items():
        cosine = torch.cosine_similarity(*(made[end][0].double() for end in ends), 0).item()
        turned = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
        told = [label, n + 1, head + 1, f"{name}_block", None, None, None, cosine, turned]
        rows.append([*told, None, None, None, None, None])
    weights = scores[:, at].softmax(-1)
    tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())
    columns_of = scores[head, at], weights[head], weights.double().mean(0)
    found = zip(tokens, *(column.tolist() for column in columns_of), strict=True)
    for place, (token, *numbers) in enumerate(found):
        told = [label, n + 1, head + 1, "softmax", place, token, None, None, None]
        rows.append([*told, *numbers, None, None])
FIGURE = ("bars", "model", "station position", ["weight"])
