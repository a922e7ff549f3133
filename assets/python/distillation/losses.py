"""The three losses of distillation on one text, and KL and cosine at every token."""

import torch
from torch.nn.functional import cosine_similarity
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
PAIR = ["mini-BERT", "mini-DistilBERT"]  # teacher and student
PLACE = 5  # the word that is hidden, counted from 0
ANSWER = None  # the token that was there, where it is known
TEMPERATURES = [1.0, 2.0]
WEIGHTS = {"ce": 5.0, "mlm": 2.0, "cos": 1.0}  # of the three losses in their sum

words = words_of(TEXT)
start, end = words[PLACE].span()
mask = sum(word[0] == "[MASK]" for word in words[:PLACE])
logits, last = [], []
for label in PAIR:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    inputs = encode(tokenizer, model, TEXT[:start] + "[MASK]" + TEXT[end:])
    with torch.inference_mode():
        out = model(**inputs, output_hidden_states=True)
    logits.append(out.logits[0].double())
    last.append(out.hidden_states[-1][0].double())
alike, mlm = last[0].shape == last[1].shape, None
cosine = cosine_similarity(*last, dim=-1) if alike else None  # of states of one width alone
if ANSWER is not None:
    place = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[mask, 0]
    mlm = -logits[1][place].log_softmax(-1)[ANSWER].item()

columns = ["temperature", "position", "token", "kl_nats", "share_of_kl", "cosine"]
columns += ["loss_ce", "loss_mlm", "loss_cos"]
columns += [*(f"weighted_{part}" for part in WEIGHTS), "total"]
columns += [f"share_{part}" for part in WEIGHTS]
rows = []
for t in TEMPERATURES:
    teacher, student = ((one / t).log_softmax(-1) for one in logits)
    kl = (teacher.exp() * (teacher - student)).sum(-1)
    ce, cos = t * t * kl.mean().item(), 1 - cosine.mean().item() if alike else None
    known = {"ce": ce, "mlm": mlm, "cos": cos}
    parts = [
        None if known[name] is None else weight * known[name] for name, weight in WEIGHTS.items()
    ]
    total = sum(part or 0 for part in parts)
    shares = [None if part is None or not total else part / total for part in parts]
    for token in range(len(kl)):
        word = spelled(tokenizer, inputs["input_ids"][0, token])
        rows.append(
            [
                t,
                token + 1,
                word,
                kl[token].item(),
                (kl[token] / (kl.sum() or 1)).item(),
                cosine[token].item() if alike else None,
                ce,
                mlm,
                cos,
                *parts,
                total,
                *shares,
            ]
        )
FIGURE = ("lines", "position", "temperature", ["kl_nats"])
