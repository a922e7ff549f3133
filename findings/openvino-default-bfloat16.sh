#!/usr/bin/env bash
# OpenVINO 2026.4.1: on a processor with bfloat16 it computes a float32 BERT in bfloat16, unless told otherwise.
#
# The converted graph holds float32 weights and takes and returns float32 numbers. Its probabilities are
# off by about 1e-3 on a processor with AMX or AVX512-BF16. INFERENCE_PRECISION_HINT="f32" makes the error
# 1e-7. So the same file gives other numbers on another machine. On a processor without
# bfloat16 the default is float32, and the script says so.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 openvino==2026.4.1

cat > "$folder/check.py" <<'PYTHON'
import openvino
import torch
from transformers import BertConfig, BertForMaskedLM

torch.manual_seed(0)
config = BertConfig(
    vocab_size=1000,
    hidden_size=256,
    num_hidden_layers=6,
    num_attention_heads=4,
    intermediate_size=1024,
    initializer_range=0.08,
)
ids = torch.randint(5, 1000, (8, 24))


class Probabilities(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = BertForMaskedLM._from_config(config, attn_implementation="eager")

    def forward(self, input_ids):
        return self.model(input_ids).logits.softmax(-1)


network = Probabilities().eval()
with torch.no_grad():
    wanted = network(ids)
graph = openvino.convert_model(network, example_input=ids)
core, errors, types = openvino.Core(), {}, {}
for name, options in (("default", {}), ("f32", {"INFERENCE_PRECISION_HINT": "f32"})):
    compiled = core.compile_model(graph, "CPU", options)
    found = torch.from_numpy(compiled(ids.numpy())[0].copy())
    assert found.dtype == torch.float32
    types[name] = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
    errors[name] = (found - wanted).abs().max().item()
    print(name, types[name], f"largest error of a probability: {errors[name]:.1e}")
assert errors["f32"] < 1e-5, "changed"
if types["default"] == "f32":
    print("this processor has no bfloat16")
else:
    assert types["default"] == "bf16" and errors["default"] > 1e-4, "changed"
PYTHON
"$folder/venv/bin/python" -W ignore "$folder/check.py" 2>/dev/null
