#!/usr/bin/env bash
# simpletransformers 0.70.8 decays 12 of the 13 layer norms of a DistilBERT classifier, once a decay is set.
#
# Its classifier leaves weight decay out for the parameters whose names hold "bias" or
# "LayerNorm.weight", a list that many training scripts have. DistilBERT calls its norms sa_layer_norm
# and output_layer_norm, and ALBERT its second one full_layer_layer_norm: their weights, which begin
# at 1, are pulled towards 0. The list fits BERT. The Trainer of transformers 5.23.0 goes by the type
# of the module, and leaves all of them out.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 accelerate==1.15.0
"$folder/venv/bin/pip" download -q --no-deps -d "$folder" simpletransformers==0.70.8

cat > "$folder/check.py" <<'PYTHON'
import ast
import re
import sys
import zipfile
from pathlib import Path

import transformers as t
from torch import nn

t.logging.set_verbosity_error()
wheel = next(Path(sys.argv[1]).glob("simpletransformers-*.whl"))
source = "simpletransformers/classification/classification_model.py"
code = zipfile.ZipFile(wheel).read(source).decode()
names = ast.literal_eval(re.search(r"no_decay = (\[.*?\])", code)[1])
SIZE = {"vocab_size": 50, "num_hidden_layers": 6, "hidden_size": 24, "num_attention_heads": 2}
CONFIGS = {
    "bert": t.BertConfig(**SIZE, intermediate_size=32),
    "distilbert": t.DistilBertConfig(vocab_size=50, n_layers=6, dim=24, n_heads=2, hidden_dim=32),
    "albert": t.AlbertConfig(**SIZE, intermediate_size=32, embedding_size=8),
}
print("no weight decay for names with", names)
found = {}
for kind, config in CONFIGS.items():
    network = t.AutoModelForSequenceClassification.from_config(config)
    norms = [f"{name}.weight" for name, m in network.named_modules() if isinstance(m, nn.LayerNorm)]
    decayed = [name for name in norms if not any(part in name for part in names)]
    by_trainer = t.Trainer.get_decay_parameter_names(None, network)
    found[kind] = (len(decayed), len(norms), len({*norms} & {*by_trainer}))
    print(kind, "layer norms with weight decay:", len(decayed), "of", len(norms), *decayed[:2])
    print("  by the Trainer of transformers:", found[kind][2])
assert found == {"bert": (0, 13, 0), "distilbert": (12, 13, 0), "albert": (1, 3, 0)}, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder" 2>/dev/null
