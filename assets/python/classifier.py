"""What a model's own classifier says of texts: put in front of a recipe that asks one."""

import torch
from transformers import AutoModelForSequenceClassification


def own_logits(label, adapter, texts):
    """The logits of each text, by the checkpoint's own head or by an adapter for the task."""
    tokenizer, model = load(label, AutoModelForSequenceClassification)
    if adapter:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, adapter).merge_and_unload().eval()
    with torch.inference_mode():
        found = [model(**encode(tokenizer, model, text)).logits[0] for text in texts]
    return torch.stack(found).double()
