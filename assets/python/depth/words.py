"""At which place each word's own name stands when the head reads every layer: hidden in turn."""

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
WORDS = ["The", "ship"]
GROUPS = {
    "mini-BERT": [[1], [2]],
    "mini-DistilBERT": [[1], [2]],
    "mini-ALBERT": [[1], [2]],
}  # the tokens of each word on which all the models agree

columns = ["model", "layer", "position", "word", "place"]
rows = []
for label, groups in GROUPS.items():
    tokenizer, model = load(label, AutoModelForMaskedLM)
    read = MLM_HEAD[model.config.model_type]
    inputs = encode(tokenizer, model, TEXT)
    ids = inputs["input_ids"][0]
    with torch.inference_mode():  # behind a mask is the model's own answer
        own = model(**inputs).logits[0].argmax(-1)
    targets = torch.where(ids == tokenizer.mask_token_id, own, ids)
    places = []
    for group in groups:
        hidden = ids.clone()
        hidden[group] = tokenizer.mask_token_id
        with torch.inference_mode():
            given = {**inputs, "input_ids": hidden[None]}
            states = model(**given, output_hidden_states=True).hidden_states
            logits = torch.stack([read(model, state[0, group]) for state in states])
        answer = logits.gather(-1, targets[group].expand(len(states), -1)[..., None])
        worst = (1 + (logits > answer).sum(-1)).max(-1).values.tolist()
        is_known = tokenizer.unk_token_id not in targets[group].tolist()
        places.append(worst if is_known else [None] * len(states))
    for layer, found in enumerate(zip(*places, strict=True)):
        listed = zip(WORDS, found, strict=True)
        rows += [[label, layer, n, word, place] for n, (word, place) in enumerate(listed, 1)]
FIGURE = ("heatmap", "model", "position word", ["place"], "layer")
