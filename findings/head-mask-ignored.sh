#!/usr/bin/env bash
# transformers 5.23.0: head_mask has no effect, and no message says so.
#
# Papers and tutorials switch attention heads off by BertModel(..., head_mask=zeros). The forward
# pass of 5.23.0 accepts the argument among its keywords and ignores it, also with "eager"
# attention: with every head off, the hidden states are equal to the last bit. An ablation that
# was written for version 4 then reports that no head matters.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
import torch
from transformers import BertConfig, BertModel

torch.manual_seed(0)
config = BertConfig(
    vocab_size=100,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
)
model = BertModel._from_config(config, attn_implementation="eager").eval()
tokens = torch.randint(5, 100, (1, 16))
with torch.no_grad():
    whole = model(tokens).last_hidden_state
    masked = model(tokens, head_mask=torch.zeros(2, 4)).last_hidden_state
print("largest difference with all heads off:", (whole - masked).abs().max().item())
assert torch.equal(whole, masked), "it has changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py"
