"""One text read in six ways: both sides, one side, no order, shuffled words, no attention."""

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
MASK = 0
ORDERS = {}  # token positions as the words are shuffled
WANTED = {}  # the id of the word whose probability is followed

columns = ["model", "reading", "first_answer", "probability"]
columns += ["word", "probability_of_word", "rank"]
rows = []
for label in WANTED or MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    inputs = encode(tokenizer, model, TEXT)
    n = inputs["input_ids"].shape[1]
    at = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[MASK].item()
    is_roberta = model.config.model_type in ("roberta", "xlm-roberta", "camembert")
    first = 2 if is_roberta else 0  # the first token's position
    everything, places = torch.ones(n, n, dtype=torch.bool), torch.arange(first, first + n)[None]
    order = torch.tensor(ORDERS.get(label, range(n)))
    readings = {
        "both": (everything, places, None),
        "left": (everything.tril(), places, None),
        "right": (everything.triu(), places, None),
        "no_order": (everything, torch.full_like(places, first), None),
        "shuffled": (everything, places, order),
        "alone": (torch.eye(n, dtype=torch.bool), places, None),
    }
    wanted = tokenizer.convert_ids_to_tokens(WANTED.get(label, 0))
    for name, (seen, position_ids, moved) in readings.items():
        given = dict(inputs)
        given["input_ids"] = inputs["input_ids"] if moved is None else inputs["input_ids"][:, moved]
        if moved is not None and torch.equal(given["input_ids"], inputs["input_ids"]):
            continue  # nothing to shuffle
        mask = torch.zeros(n, n).masked_fill(~seen, torch.finfo(torch.float32).min)[None, None]
        given |= {"attention_mask": mask, "position_ids": position_ids}
        place = at if moved is None else moved.tolist().index(at)
        with torch.inference_mode():
            p = model(**given).logits[0, place].double().softmax(-1)
        best, own = p.argmax(), p[WANTED.get(label, 0)]
        first = tokenizer.convert_ids_to_tokens(best.item())
        rank = 1 + (p > own).sum().item()
        rows.append([label, name, first, p[best].item(), wanted, own.item(), rank])
FIGURE = ("bars", "model", "reading", ["probability_of_word"])
