"""What the masked-word head says of each [MASK] when it reads every layer (the logit lens).

Of a model that shares its layer also what it would answer after more or fewer applications.
"""

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
MASKS = 1  # how many are read
APPLIED = {"mini-ALBERT": [6]}  # how often a shared layer, for each mask
POOLED = {"mini-ALBERT": True}  # whether its checkpoint has a pooler
FOLLOWED = [{}]  # for each mask, by model the piece of one word that is followed in all of them
RUNNING = 5  # words that are followed


def in_the_running(logs):
    """The final answer, its two rivals, the late layers' first choices, then more rivals."""
    last = logs[-1].topk(RUNNING).indices.tolist()
    earlier = logs.argmax(-1).tolist()[::-1]
    chosen = list(dict.fromkeys([*last[:3], *earlier, *last]))[:RUNNING]
    return [last[0], *sorted(chosen[1:], key=lambda i: -logs[-1, i].item())]


def flops(config, length, times, pooled):
    """The encoder's operations by its shape; a multiply-add is two."""
    h, f, e = config.hidden_size, config.intermediate_size, config.embedding_size
    layer = 2 * length * (4 * h * h + 2 * h * f) + 4 * length * length * h
    return times * layer + 2 * length * e * h + 2 * h * h * pooled


columns = ["part", "mask", "model", "layer", "word", "probability", "place_of_final_answer"]
columns += ["kl_final_to_layer_nats", "decided", "flops", "rank_of_word"]
rows, followed, dial = [], [], []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    inputs = encode(tokenizer, model, TEXT)
    masks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:MASKS, 0]
    usual = model.config.num_hidden_layers
    model.config.num_hidden_layers = max([usual, *APPLIED.get(label, [])])  # a shared layer again
    with torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states
        read = MLM_HEAD[model.config.model_type]
        logits = torch.stack([read(model, state[0, masks]) for state in states]).double()
    every = logits.log_softmax(-1)
    for mask in range(len(masks)):
        logs, final = every[: usual + 1, mask], every[usual, mask]
        kl = (final.exp() * (final - every[:, mask])).sum(-1).tolist()
        own = logits[: usual + 1, mask, final.argmax()]
        places = (1 + (logits[: usual + 1, mask] > own[:, None]).sum(-1)).tolist()
        decided = 1 + max([layer for layer, place in enumerate(places) if place > 1], default=-1)
        for layer, place in enumerate(places):
            for i in in_the_running(logs):
                found = spelled(tokenizer, i), logs[layer, i].exp().item(), place, kl[layer]
                rows.append(["lens", mask + 1, label, layer, *found, layer >= decided, None, None])
        if label in FOLLOWED[mask]:
            i = tokenizer.convert_tokens_to_ids(FOLLOWED[mask][label])
            own = logits[: usual + 1, mask, i]
            places = (1 + (logits[: usual + 1, mask] > own[:, None]).sum(-1)).tolist()
            first = 1 + max([layer for layer, place in enumerate(places) if place > 1], default=-1)
            for layer, place in enumerate(places):
                found = spelled(tokenizer, i), logs[layer, i].exp().item(), None, None
                one = [*found, layer >= first, None, place]
                followed.append(["followed", mask + 1, label, layer, *one])
        for times in range(1, (APPLIED.get(label) or [0] * len(masks))[mask] + 1):
            top = every[times, mask].topk(RUNNING)
            work = flops(model.config, inputs["input_ids"].shape[1], times, POOLED[label])
            for i, p in zip(top.indices.tolist(), top.values.exp().tolist(), strict=True):
                told = spelled(tokenizer, i), p, None, kl[times], None, work, None
                dial.append(["dial", mask + 1, label, times, *told])
plotted = [row for row in rows if row[6] is not None]
rows += followed + dial
FIGURE = ("lines", "model mask word", "layer", ["probability"])
