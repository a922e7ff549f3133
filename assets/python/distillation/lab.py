"""Teacher and student over one hidden word: soft probabilities, divergences, what temperature does.

Probabilities are over the whole vocabulary; of a third model, by the pieces that both can write.
"""

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
PAIR = ["mini-BERT", "mini-DistilBERT"]  # teacher and student
BESIDE = "mini-ALBERT"  # the model beside them, or None
PLACE = 5  # the hidden word, counted from 0
IDS = [1, 2]
SHOWN = [1, 2]  # those that the page lists
TEMPERATURE = 2.0
TEMPERATURES = [1.0, 2.0]  # of the curves

words = words_of(TEXT)
start, end = words[PLACE].span()
mask = sum(word[0] == "[MASK]" for word in words[:PLACE])
logits, tokenizers = {}, {}
for label in [*PAIR, *([BESIDE] if BESIDE else [])]:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    inputs = encode(tokenizer, model, TEXT[:start] + "[MASK]" + TEXT[end:])
    places = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
    with torch.inference_mode():
        found = model(**inputs).logits[0, places[mask]]
    logits[label], tokenizers[label] = (found - found.max()).double(), tokenizer
teacher, student = (logits[label] for label in PAIR)


def letters(tokenizer, i):
    """What a piece writes, and whether it begins a word."""
    piece, mark = tokenizer.convert_ids_to_tokens(i) or "", beginning(tokenizer)
    text = (piece.replace(mark, " ") if mark else piece.removeprefix("##")).strip() or piece
    return text, piece.startswith(mark) if mark else not piece.startswith("##")


def partner(text, begins):
    """The piece of the other vocabulary that writes the same at the same place in a word."""
    if not begins:
        return others.get((text, False), -1)
    if text.startswith("[") and text.endswith("]") and len(text) > 2:
        return -1
    inside = -1 if text.isalnum() else others.get((text, False), -1)
    return others.get((text, True), inside)


here, others, partners = tokenizers[PAIR[0]], {}, []
if BESIDE:
    for i in range(len(logits[BESIDE])):
        others.setdefault(letters(tokenizers[BESIDE], i), i)
    partners = [partner(*letters(here, i)) for i in range(len(teacher))]


def measures(t):
    """Divergences in nats, and the loss and its gradient by the student's logits."""
    p, q = ((one / t).log_softmax(-1) for one in (teacher, student))
    middle = (p.exp() / 2 + q.exp() / 2).log()
    there, back = (p.exp() * (p - q)).sum().item(), (q.exp() * (q - p)).sum().item()
    js = (p.exp() * (p - middle) + q.exp() * (q - middle)).sum().clamp(min=0).item() / 2
    entropies = [-(one.exp() * one).sum().item() for one in (p, q)]
    gradient = (q.exp() - p.exp()).norm().item() / t
    return {
        "kl_teacher_student": there,
        "kl_student_teacher": back,
        "js": js,
        "entropy_teacher": entropies[0],
        "entropy_student": entropies[1],
        "t2_kl": t * t * there,
        "t2_kl_by_mean": t * t * there / len(p),
        "gradient_of_kl": gradient,
        "gradient_of_t2_kl": t * t * gradient,
    }


columns = ["measure", "model", "temperature", "id", "word", "value"]
rows = []
soft = {label: (one / TEMPERATURE).softmax(-1) for label, one in logits.items()}
for label, p in soft.items():
    for i in IDS:
        at = i if label in PAIR else partners[i]
        if at >= 0:
            name = spelled(here, i)
            rows.append(["probability", label, TEMPERATURE, i, name, p[at].item()])
            if TEMPERATURE != 1:  # the outlines behind the bars
                plain = logits[label].softmax(-1)[at].item()
                rows.append(["probability", label, 1, i, name, plain])
            rows.append(["logit_below_largest", label, None, i, name, logits[label][at].item()])
plotted = [row for row in rows if row[0] == "probability" and row[2] == TEMPERATURE]
for label in PAIR:
    left = max(0.0, 1 - soft[label][SHOWN].sum().item())
    rows.append(["probability_of_all_words_but_those_shown", label, TEMPERATURE, None, None, left])
for label in PAIR:
    dark = 1 - soft[label].max().item()
    rows.append(["dark_knowledge", label, TEMPERATURE, None, None, dark])
for t in [TEMPERATURE, *(one for one in TEMPERATURES if one != TEMPERATURE)]:
    rows += [[name, None, t, None, None, value] for name, value in measures(t).items()]
for k in (1, 5, 10):
    both = [set(one.topk(k).indices.tolist()) for one in (teacher, student)]
    rows.append([f"shared_of_top_{k}", None, None, None, None, len(both[0] & both[1])])
if BESIDE:
    p, shared = soft[BESIDE], sorted({i for i in partners if i >= 0})
    ours = [i for i, other in enumerate(partners) if other >= 0]
    first = spelled(tokenizers[BESIDE], p.argmax())
    rows.append(["probability_of_first", BESIDE, TEMPERATURE, None, first, p.max().item()])
    for label, share in ((PAIR[0], len(ours) / len(teacher)), (BESIDE, len(shared) / len(p))):
        rows.append(["share_of_pieces_in_both_vocabularies", label, None, None, None, share])
    for label, those in ((PAIR[0], ours), (BESIDE, shared)):
        mass = soft[label][those].sum().item()
        rows.append(["probability_of_pieces_in_both", label, TEMPERATURE, None, None, mass])
FIGURE = ("bars", "model", "word", ["value"])
