#!/usr/bin/env bash
# peft 0.21.2 does not save the pooler that a classifier of BERT or ALBERT was trained on; for DistilBERT it does.
#
# With TaskType.SEQ_CLS, peft trains and saves the modules called "classifier", "score" and
# "pre_classifier". The classifiers of BERT and ALBERT also read a pooler. A base that was saved from
# a masked LM has none, so transformers draws one at random at each load, and peft neither trains
# nor saves it. Reloaded, the adapter answers with another pooler, and peft raises nothing. DistilBERT's
# layer in that place is called pre_classifier, so its adapter answers as before.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 peft==0.21.2

cat > "$folder/check.py" <<'PYTHON'
import sys

import torch
import transformers as t
from peft import LoraConfig, PeftModel, TaskType, get_peft_model
from safetensors.torch import load_file

t.logging.set_verbosity_error()
SIZE = {"vocab_size": 100, "max_position_embeddings": 32}
BERT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
DISTILBERT = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64}
KINDS = {
    "bert": (t.BertConfig(**SIZE, **BERT), t.BertForMaskedLM, t.BertForSequenceClassification),
    "albert": (
        t.AlbertConfig(**SIZE, **BERT, embedding_size=16),
        t.AlbertForMaskedLM,
        t.AlbertForSequenceClassification,
    ),
    "distilbert": (
        t.DistilBertConfig(**SIZE, **DISTILBERT),
        t.DistilBertForMaskedLM,
        t.DistilBertForSequenceClassification,
    ),
}
tokens = torch.randint(5, 100, (4, 16))
same = {}
for kind, (config, masked, classifier) in KINDS.items():
    base, adapter = f"{sys.argv[1]}/{kind}", f"{sys.argv[1]}/{kind}-adapter"
    masked(config).save_pretrained(base)
    targets = ["q_lin"] if kind == "distilbert" else ["query"]
    lora = LoraConfig(task_type=TaskType.SEQ_CLS, target_modules=targets)
    tuned = get_peft_model(classifier.from_pretrained(base), lora).eval()
    tuned.save_pretrained(adapter)
    again = PeftModel.from_pretrained(classifier.from_pretrained(base), adapter).eval()
    with torch.no_grad():
        same[kind] = torch.equal(tuned(tokens).logits, again(tokens).logits)
    kept = load_file(f"{adapter}/adapter_model.safetensors")
    others = sorted(name.removeprefix("base_model.model.") for name in kept if "lora" not in name)
    print(kind, "same answers after loading:", same[kind], "; saved besides LoRA:", *others)
assert same == {"bert": False, "albert": False, "distilbert": True}, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder" 2>/dev/null
