#!/usr/bin/env bash
# transformers 5.0 to 5.2 do not put texts in lower case for a BERT that has only config.json and
# vocab.txt; 5.3.0 and 5.23.0 do, as 4.57.6 does.
#
# The vocabulary holds `the` and `paris` and no capitals. AutoTokenizer returns a BertTokenizer in all
# of these versions, without a warning. In 5.2.0 every capitalised word is [UNK].
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT

cat > "$folder/check.py" <<'PYTHON'
import json
import sys
from pathlib import Path

from transformers import AutoTokenizer, __version__

path = Path(sys.argv[1]) / "bert"
path.mkdir(exist_ok=True)
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "is", "paris"]
(path / "vocab.txt").write_text("\n".join(words) + "\n")
(path / "config.json").write_text(json.dumps({"model_type": "bert"}))
tokens = AutoTokenizer.from_pretrained(path).tokenize("The Paris is")
print(__version__, tokens)
assert tokens == sys.argv[2].split(), "it has changed"
PYTHON
python3 -m venv "$folder/venv"
while read -r version expected; do
  "$folder/venv/bin/pip" install -q "transformers==$version"
  "$folder/venv/bin/python" "$folder/check.py" "$folder" "$expected"
done <<'ROWS'
4.57.6 the paris is
5.0.0 [UNK] [UNK] is
5.2.0 [UNK] [UNK] is
5.3.0 the paris is
5.23.0 the paris is
ROWS
