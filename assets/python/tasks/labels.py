"""The value of each label of a model's own head, and what each word has to do with one of them.

Both attributions are of its log-odds, or of a score: integrated gradients from a text of masks to
the text (Sundararajan et al. 2017), and the decrease when the word is left out.
"""

import torch
from transformers import AutoModelForSequenceClassification

TEXT = "The film was not bad."
HEADS = {
    "bert": [["negative", "neutral", "positive"], "single_label_classification", "positive"],
}


def values_of(logits, problem):
    if problem == "single_label_classification":
        return logits.softmax(-1)
    return logits if problem == "regression" else logits.sigmoid()


def part_of(logits, label, problem):
    if problem != "single_label_classification":
        return logits[:, label]
    others = [i for i in range(logits.shape[-1]) if i != label]
    return logits[:, label] - logits[:, others].logsumexp(-1)


columns = ["model", "label", "value", "attributed", "baseline"]
columns += ["word", "integrated_gradients", "leave_one_out"]
rows, words = [], words_of(TEXT)
for label, (names, problem, wanted) in HEADS.items():
    tokenizer, model = load(label, AutoModelForSequenceClassification, attn_implementation="eager")
    with torch.inference_mode():
        values = values_of(model(**encode(tokenizer, model, TEXT)).logits[0].double(), problem)
    order = values.argsort(descending=True, stable=True).tolist()
    rows += [[label, names[i], values[i].item(), None, None, None, None, None] for i in order]
    if wanted not in names:  # this head has no such label
        continue
    top = names.index(wanted)
    coded, spans = token_spans(tokenizer, TEXT)
    ids = torch.tensor([coded["input_ids"]])
    segments = {}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        segments = {"token_type_ids": torch.tensor([coded["token_type_ids"]])}
    added = torch.tensor([side is None for side in coded.sequence_ids()])
    embed = model.get_input_embeddings()
    end = embed(ids).detach()
    start = embed(torch.where(added, ids, tokenizer.mask_token_id)).detach()
    shares, baseline = integrated(
        lambda at: part_of(model(inputs_embeds=at, **segments).logits, top, problem), start, end
    )
    per_word = [0.0] * len(words)
    for share, (first, _), side in zip(shares, spans, coded.sequence_ids(), strict=True):
        if side is not None:  # a piece belongs to the first word that ends after its beginning
            per_word[next(i for i, word in enumerate(words) if word.end() > first)] += share
    with torch.inference_mode():
        whole = part_of(model(input_ids=ids, **segments).logits, top, problem)[0].item()
        for word, share in zip(words, per_word, strict=True):
            rest = " ".join(f"{TEXT[: word.start()]} {TEXT[word.end() :]}".split())
            left = part_of(model(**encode(tokenizer, model, rest)).logits, top, problem)[0].item()
            what = [names[top], values[top].item(), whole, baseline]
            rows.append([label, *what, word[0], share, whole - left])
FIGURE = ("bars", "model", "word", ["integrated_gradients", "leave_one_out"])
