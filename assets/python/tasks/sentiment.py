"""How positive a text is, and what each word has to do with it, in logits: two attributions.

Integrated gradients lead from a text of masks to the text (Sundararajan et al. 2017).
"""

import torch
from peft import PeftModel
from transformers import AutoModelForSequenceClassification

TEXT = "The film was not bad."
ADAPTERS = {
    "mini-BERT": "assets/models/mini-bert/tasks/sst2",
    "mini-DistilBERT": "assets/models/mini-distilbert/tasks/sst2",
    "mini-ALBERT": "assets/models/mini-albert/tasks/sst2",
}


def positive_minus_negative(model, **inputs):
    logits = model(**inputs).logits
    return logits[:, 1] - logits[:, 0]


columns = ["model", "positive", "baseline", "difference"]
columns += ["word", "integrated_gradients", "leave_one_out"]
rows, words = [], words_of(TEXT)
for label, adapter in ADAPTERS.items():
    tokenizer, model = load(label, AutoModelForSequenceClassification, attn_implementation="eager")
    if adapter:  # else the checkpoint brings its own head
        model = PeftModel.from_pretrained(model, adapter).merge_and_unload().eval()
    coded, spans = token_spans(tokenizer, TEXT)
    ids = torch.tensor([coded["input_ids"]])
    added = torch.tensor([side is None for side in coded.sequence_ids()])
    embed = model.get_input_embeddings()
    end = embed(ids).detach()
    start = embed(torch.where(added, ids, tokenizer.mask_token_id)).detach()
    shares, baseline = integrated(
        lambda at: positive_minus_negative(model, inputs_embeds=at), start, end
    )
    per_word = [0.0] * len(words)
    for share, (first, _), side in zip(shares, spans, coded.sequence_ids(), strict=True):
        if side is not None:  # a piece belongs to the first word that ends after its beginning
            per_word[next(i for i, word in enumerate(words) if word.end() > first)] += share
    with torch.inference_mode():
        whole = positive_minus_negative(model, input_ids=ids)[0].double()
        for word, share in zip(words, per_word, strict=True):
            rest = " ".join(f"{TEXT[: word.start()]} {TEXT[word.end() :]}".split())
            left = positive_minus_negative(model, **encode(tokenizer, model, rest))[0]
            ends = [whole.sigmoid().item(), baseline, whole.item()]
            rows.append([label, *ends, word[0], share, (whole - left).item()])
FIGURE = ("bars", "model", "word", ["integrated_gradients", "leave_one_out"])
