"""Several gaps filled apart, and from left to right, each seeing the last (beam search)."""

import math

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The [MASK] sailed across the [MASK] to America."
BEAM = 5

columns = ["model", "filled", "place", "words", "log_joint_nats", "log_independent_nats"]
columns += ["joint_probability", "independent_probability"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    inputs = encode(tokenizer, model, TEXT)
    ids, segments = inputs["input_ids"][0], inputs.get("token_type_ids")
    masks = (ids == tokenizer.mask_token_id).nonzero()[:, 0]

    def logs(chosen):
        """What each gap may be with the first ones filled."""
        filled = ids.clone()
        filled[masks[: len(chosen)]] = torch.tensor(chosen, dtype=ids.dtype)
        with torch.inference_mode():
            out = model(input_ids=filled[None], token_type_ids=segments)
        return out.logits[0, masks].double().log_softmax(-1)

    apart, beams = logs([]), [([], 0.0)]
    alone = apart.argmax(-1).tolist()
    replayed = sum(logs(alone[:gap])[gap, i].item() for gap, i in enumerate(alone))
    for gap in range(len(masks)):
        grown = []
        for chosen, joint in beams:
            best = logs(chosen)[gap].topk(BEAM)
            for i, nats in zip(best.indices.tolist(), best.values.tolist(), strict=True):
                grown.append(([*chosen, i], joint + nats))
        beams = sorted(grown, key=lambda one: -one[1])[:BEAM]
    listed = [("alone", 1, (alone, replayed))]
    listed += [("left to right", place, beam) for place, beam in enumerate(beams, 1)]
    for how, place, (chosen, joint) in listed:
        independent = sum(apart[gap, i].item() for gap, i in enumerate(chosen))
        words = " ".join(spelled(tokenizer, i) for i in chosen)
        shares = math.exp(joint), math.exp(independent)
        rows.append([label, how, place, words, joint, independent, *shares])
FIGURE = ("bars", "model", "place filled", ["log_joint_nats", "log_independent_nats"])
