#!/usr/bin/env bash
# torch 2.13.0: FlopCounterMode counts no attention in a model that uses sdpa on a CPU.
#
# The counter knows the attention kernels of GPUs, not the one that scaled_dot_product_attention
# takes on a CPU. The products QK' and AV are missing from its total, without a message. Here
# (512 tokens, width 64) that is two thirds of the operations; in a BERT of width 768 a tenth.
# With attn_implementation="eager" they are counted, 2 x 2 x tokens^2 x width for each layer.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel

layers, width, length = 2, 64, 512
config = BertConfig(
    vocab_size=100,
    hidden_size=width,
    num_hidden_layers=layers,
    num_attention_heads=4,
    intermediate_size=128,
)
tokens = torch.randint(5, 100, (1, length))
counted = {}
for attention in ("eager", "sdpa"):
    model = BertModel._from_config(config, attn_implementation=attention).eval()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(tokens)
    counted[attention] = counter.get_total_flops()
    print(attention, counted[attention])
missing = counted["eager"] - counted["sdpa"]
print("missing", missing)
assert missing == layers * 2 * 2 * length**2 * width, "it has changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py"
