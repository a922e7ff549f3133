#!/usr/bin/env bash
# transformers 5.23.0: for a BERT, AutoTokenizer takes only the pieces of tokenizer.json.
#
# The folder's config says "bert", and its tokenizer.json cuts a text into single characters that
# are cased. AutoTokenizer makes a BertTokenizer of it, with the pieces of the file, the default
# lower-casing, and BERT's own splitting at blanks and signs. The file's normaliser and
# pre-tokenizer have no effect, without a message: "CO" is one unknown word instead of C and O.
# With "tokenizer_class": "PreTrainedTokenizerFast" in tokenizer_config.json the file is read whole.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
import json
import sys
from pathlib import Path

from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from transformers import AutoTokenizer

folder = Path(sys.argv[1]) / "model"
folder.mkdir()
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "C", "O", "c"]
saved = Tokenizer(WordLevel({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
saved.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
saved.save(str(folder / "tokenizer.json"))
(folder / "config.json").write_text(json.dumps({"model_type": "bert"}))

print("file", saved.encode("CO").tokens)
tokenizer = AutoTokenizer.from_pretrained(folder)
print(type(tokenizer).__name__, tokenizer.tokenize("CO"))
assert saved.encode("CO").tokens == ["C", "O"]
assert tokenizer.tokenize("CO") == ["[UNK]"], "it has changed"

settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}
(folder / "tokenizer_config.json").write_text(json.dumps(settings))
assert AutoTokenizer.from_pretrained(folder).tokenize("CO") == ["C", "O"]
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder"
