#!/usr/bin/env bash
# transformers 5.23.0: without sentencepiece, an XLM-RoBERTa's vocabulary is refused as a file of tiktoken.
#
# A folder with sentencepiece.bpe.model alone needs the package sentencepiece, which transformers does not
# install. The error says "`tiktoken` is required to read a `tiktoken` file. Install it with `pip install tiktoken`",
# which does not help: no file of tiktoken is there. With sentencepiece the same folder is read.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0
python3 -m venv "$folder/trainer"
"$folder/trainer/bin/pip" install -q sentencepiece==0.2.3

cat > "$folder/train.py" <<'PYTHON'
import json
import sys

import sentencepiece

folder = sys.argv[1]
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(["the old cat found a small dog", "our new teacher carried the red ball"] * 9),
    model_prefix=f"{folder}/sentencepiece.bpe",
    vocab_size=40,
    hard_vocab_limit=False,
    minloglevel=2,
)
with open(f"{folder}/config.json", "w") as file:
    json.dump({"model_type": "xlm-roberta"}, file)
PYTHON
cat > "$folder/check.py" <<'PYTHON'
import sys

from transformers import AutoTokenizer

try:
    tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
    print("read:", tokenizer.tokenize("the old cat"))
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0])
PYTHON
mkdir "$folder/model"
"$folder/trainer/bin/python" "$folder/train.py" "$folder/model"
without=$("$folder/venv/bin/python" "$folder/check.py" "$folder/model" 2>/dev/null)
"$folder/venv/bin/pip" install -q sentencepiece==0.2.3 protobuf==7.36.2
with=$("$folder/venv/bin/python" "$folder/check.py" "$folder/model" 2>/dev/null)
printf 'without sentencepiece: %s\nwith it: %s\n' "$without" "$with"
[[ $without == *tiktoken* && $with == read:* ]] || { echo changed; exit 1; }
