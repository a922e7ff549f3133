#!/usr/bin/env bash
# transformers 5.23.0 reads the output bias of an untied masked-LM head, saved by 4.57.6, as zeros.
#
# With tie_word_embeddings=False, 4.57.6 saves one output bias, cls.predictions.bias, which is also
# the decoder's. 5.23.0 applies cls.predictions.decoder.bias, which the file lacks, and fills it
# with zeros. Its report calls the tensor newly initialised, from_pretrained raises nothing, and
# every logit is off by the bias. With tied embeddings the same file is read correctly.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
for version in 4.57.6 5.23.0; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q torch==2.13.0 "transformers==$version"
done

cat > "$folder/save.py" <<'PYTHON'
import sys

import torch
from transformers import BertConfig, BertForMaskedLM

for tied in (True, False):
    config = BertConfig(
        vocab_size=50,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        tie_word_embeddings=tied,
    )
    model = BertForMaskedLM(config)
    torch.nn.init.ones_(model.cls.predictions.bias)
    assert model.cls.predictions.decoder.bias.unique().tolist() == [1.0]
    model.save_pretrained(f"{sys.argv[1]}/tied-{tied}")
PYTHON
"$folder/4.57.6/bin/python" "$folder/save.py" "$folder"

cat > "$folder/load.py" <<'PYTHON'
import sys

from transformers import BertForMaskedLM

seen = {}
for tied in (True, False):
    model, information = BertForMaskedLM.from_pretrained(
        f"{sys.argv[1]}/tied-{tied}", output_loading_info=True
    )
    bias = model.cls.predictions.decoder.bias
    seen[tied] = (bias.unique().tolist(), sorted(information["missing_keys"]))
    print("tied" if tied else "untied", "applied bias, missing keys:", *seen[tied])
assert seen == {True: ([1.0], []), False: ([0.0], ["cls.predictions.decoder.bias"])}, "changed"
PYTHON
"$folder/5.23.0/bin/python" "$folder/load.py" "$folder"
