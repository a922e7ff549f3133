#!/usr/bin/env bash
# transformers 5.23.0: the Trainer's total_flos counts ALBERT's repeated layer once.
#
# Trainer.floating_point_ops is 6 x tokens x parameters outside the embeddings. ALBERT applies its one
# layer twelve times and so computes about as much as a BERT of the same width and depth, but has a tenth of
# the parameters. The Trainer reports a tenth of BERT's operations for it.
# torch's own counter sees about the same number of operations in both.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 accelerate==1.15.0

cat > "$folder/check.py" <<'PYTHON'
import sys

import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AlbertConfig, AlbertModel, BertConfig, BertModel, Trainer, TrainingArguments

SIZE = {
    "vocab_size": 1000,
    "hidden_size": 128,
    "num_hidden_layers": 12,
    "num_attention_heads": 2,
    "intermediate_size": 512,
}
tokens = {"input_ids": torch.randint(5, 1000, (1, 64))}
reported, counted = {}, {}
for name, network, config in (
    ("bert", BertModel, BertConfig(**SIZE)),
    ("albert", AlbertModel, AlbertConfig(**SIZE, embedding_size=128)),
):
    model = network._from_config(config, attn_implementation="eager").eval()
    arguments = TrainingArguments(output_dir=sys.argv[1], use_cpu=True, report_to=[])
    reported[name] = Trainer(model=model, args=arguments).floating_point_ops(tokens)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(**tokens)
    counted[name] = counter.get_total_flops()
by_trainer = reported["albert"] / reported["bert"]
by_counter = counted["albert"] / counted["bert"]
print("ALBERT over BERT by the Trainer, by torch's counter:", f"{by_trainer:.3f} {by_counter:.3f}")
assert 0.08 < by_trainer < 0.12 and 0.98 < by_counter < 1.02, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder" 2>/dev/null
