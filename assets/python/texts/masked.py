"""Masked rows: each model's first word, and the probability and the rank of a given answer."""

import math

import torch
from transformers import AutoModelForMaskedLM

ROWS = [
    [1, "The capital of France is [MASK].", "paris", "capitals"],
]
WORDS = {}

columns = ["row", "model", "text", "answer", "group", "word", "probability"]
columns += ["answer_probability", "answer_log_probability", "answer_rank", "answer_pieces"]
columns += ["words", "word_probabilities", "log_ratio"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)

    def logs_at(ids, segments, place):
        """Log-probabilities at one position."""
        with torch.inference_mode():
            out = model(input_ids=ids[None], token_type_ids=segments)
        return out.logits[0, place].double().log_softmax(-1)

    def scored(text, answer, alone):
        """Nats, worst rank and pieces of an answer whose pieces are filled from the left."""
        start = text.index("[MASK]")
        filled = text.replace("[MASK]", answer)
        encoding, spans = token_spans(tokenizer, filled)
        inside = tokens_of(spans, start, start + len(answer))
        ids = torch.tensor(encoding["input_ids"])
        targets = ids[inside].tolist()
        if not inside or tokenizer.unk_token_id in targets:
            return None, None, 0
        if len(inside) == 1:
            nats = alone[targets[0]]
            return nats.item(), 1 + (alone > nats + 1e-6).sum().item(), 1
        ids[inside] = tokenizer.mask_token_id
        segments = encode(tokenizer, model, filled).get("token_type_ids")
        total, worst = 0.0, 0
        for place, target in zip(inside, targets, strict=True):
            logs = logs_at(ids, segments, place)
            total += logs[target].item()
            worst = max(worst, 1 + (logs > logs[target] + 1e-6).sum().item())
            ids[place] = target
        return total, worst, len(inside)

    for number, text, answer, group in ROWS:
        inputs = encode(tokenizer, model, text)
        ids = inputs["input_ids"][0]
        place = (ids == tokenizer.mask_token_id).nonzero()[0, 0].item()
        logs = logs_at(ids, inputs.get("token_type_ids"), place)
        first = logs.argmax().item()
        accepted = [each.strip() for each in answer.split("|") if each.strip()]
        scores = [scored(text, each, logs) for each in accepted]
        known = [score for score in scores if score[1]]  # any of several accepted answers counts
        found = min(known, key=lambda score: (score[1], -score[0]), default=(None, None, 0))
        offered = WORDS.get(str(number), [])
        nats = {each: scored(text, each, logs)[0] for each in [*accepted, *offered]}
        two = [nats[each] for each in offered[:2]]
        ratio = None if None in two or not two else two[0] - two[1]
        said = "|".join("" if each is None else str(math.exp(each)) for each in nats.values())
        words = ["|".join(nats), said, ratio] if len(nats) > 1 else ["", "", None]
        word = spelled(tokenizer, first)
        given = None if found[0] is None else math.exp(found[0])
        best = [word, math.exp(logs[first])]
        cells = [number, label, text, answer, group, *best, given, *found]
        rows.append([*cells, *words])
rows.sort(key=lambda row: row[0])  # all models of a row together
FIGURE = ("bars", "model", "row", ["probability"])
