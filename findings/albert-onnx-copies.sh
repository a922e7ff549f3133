#!/usr/bin/env bash
# torch 2.13.0 writes ALBERT's one shared layer to ONNX once for each time it is applied.
#
# torch.onnx.export optimises by default. It folds the transposition of each weight into the
# weight, once for each use, so that a network of 12 applications has 12 copies of every matrix:
# here the file holds 9.7 times the bytes of the parameters. With optimize=False each matrix is
# stored once. onnxruntime 1.31.1 then finds a Transpose in front of every weight, and
# quantize_dynamic leaves all matrices of the layer in float32, without a message. So an ALBERT
# has either its shared weights or int8, not both.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 \
  onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.31.1

cat > "$folder/check.py" <<'PYTHON'
import collections
import pathlib
import sys

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AlbertConfig, AlbertModel

folder = pathlib.Path(sys.argv[1])
layers = 12
config = AlbertConfig(
    vocab_size=100,
    embedding_size=16,
    hidden_size=64,
    num_hidden_layers=layers,
    num_attention_heads=4,
    intermediate_size=128,
    max_position_embeddings=64,
)
model = AlbertModel._from_config(config, attn_implementation="eager").eval()
stored = 4 * sum(parameter.numel() for parameter in model.parameters())
tokens = torch.randint(5, 100, (1, 16))
seen = {}
for optimised in (True, False):
    path = folder / f"{optimised}.onnx"
    torch.onnx.export(model, (tokens,), str(path), dynamo=True, optimize=optimised, verbose=False)
    weights = onnx.load(path).graph.initializer
    ratio = sum(onnx.numpy_helper.to_array(weight).nbytes for weight in weights) / stored
    quantize_dynamic(path, folder / "int8.onnx", weight_type=QuantType.QInt8)
    nodes = collections.Counter(node.op_type for node in onnx.load(folder / "int8.onnx").graph.node)
    seen[optimised] = (round(ratio, 1), nodes["MatMulInteger"] > 6 * layers)
    print("optimize", optimised, "bytes / parameters' bytes, layer in int8:", *seen[optimised])
assert seen == {True: (9.7, True), False: (1.0, False)}, "it has changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder" 2>"$folder/log" || { cat "$folder/log"; exit 1; }
