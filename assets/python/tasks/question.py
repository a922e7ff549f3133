"""Where in a passage the answer begins and where it ends: probabilities of every token."""

import torch
from peft import PeftModel
from transformers import AutoModelForQuestionAnswering

QUESTION = "What did the ship cross?"
PASSAGE = "The ship sailed across the ocean to America."
ADAPTERS = {
    "mini-BERT": "assets/models/mini-bert/tasks/squad",
    "mini-DistilBERT": "assets/models/mini-distilbert/tasks/squad",
    "mini-ALBERT": "assets/models/mini-albert/tasks/squad",
}
WINDOWS = {"mini-BERT": [128, 32], "mini-DistilBERT": [128, 32], "mini-ALBERT": [128, 32]}

columns = ["model", "from", "to", "token", "answer_begins_here", "answer_ends_here"]
rows = []
for label, adapter in ADAPTERS.items():
    size, stride = WINDOWS[label]
    tokenizer, model = load(label, AutoModelForQuestionAnswering, attn_implementation="eager")
    if adapter:  # else the checkpoint brings its own head
        model = PeftModel.from_pretrained(model, adapter).merge_and_unload().eval()
    coded = tokenizer(
        QUESTION,
        PASSAGE,
        truncation="only_second",
        max_length=size,
        stride=stride,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    read, before = {}, 0  # a token of several windows counts where it has most company around it
    for window, ids in enumerate(coded["input_ids"]):
        inside = [i for i, side in enumerate(coded.sequence_ids(window)) if side == 1]
        inputs = {"input_ids": torch.tensor([ids])}
        if getattr(model.config, "type_vocab_size", 0) > 1:
            segments = [int(i >= inside[0]) for i in range(len(ids))]
            inputs["token_type_ids"] = torch.tensor([segments])
        with torch.inference_mode():
            out = model(**inputs)
        for n, i in enumerate(inside, before):
            first, last = coded["offset_mapping"][window][i]
            first += len(PASSAGE[first:last]) - len(PASSAGE[first:last].lstrip())
            last -= len(PASSAGE[first:last]) - len(PASSAGE[first:last].rstrip())
            company = min(i - inside[0], inside[-1] - i)
            if company > read.get(n, (-1,))[0]:
                read[n] = company, out.start_logits[0, i], out.end_logits[0, i], first, last
        before += len(inside) - stride
    tokens = [read[n] for n in sorted(read)]
    begins, ends = (
        torch.stack([token[k] for token in tokens]).double().softmax(0).tolist() for k in (1, 2)
    )
    for (*_, first, last), begin, end in zip(tokens, begins, ends, strict=True):
        rows.append([label, first, last, PASSAGE[first:last], begin, end])
FIGURE = ("bars", "model", "from token", ["answer_begins_here", "answer_ends_here"])
