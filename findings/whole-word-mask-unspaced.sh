#!/usr/bin/env bash
# transformers 5.23.0: whole_word_mask hides a Chinese sentence whole or not at all.
#
# DataCollatorForLanguageModeling(whole_word_mask=True) takes as one word all tokens that follow each
# other without a gap in the text. Chinese has no blanks, so a sentence is one word: of 2,000 draws at
# a rate of 0.15, each hides all of its tokens or none. In English a word takes its punctuation with it:
# "(rome)," is hidden or kept as four tokens. The tokenizer's own word_ids() separates the
# characters and the signs.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0

cat > "$folder/check.py" <<'PYTHON'
import pathlib
import sys

import torch
from transformers import BertTokenizer, DataCollatorForLanguageModeling

CHINESE = "巴黎是法国的首都"
vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(CHINESE)]
vocabulary += ["paris", "(", "rome", ")", ",", "is"]
pathlib.Path(sys.argv[1], "vocab.txt").write_text("\n".join(vocabulary))
tokenizer = BertTokenizer.from_pretrained(sys.argv[1])
collate = DataCollatorForLanguageModeling(tokenizer, whole_word_mask=True, mlm_probability=0.15)
torch.manual_seed(0)


def hidden_together(text, draws=2000):
    """Return the patterns of hidden tokens over all draws, and the tokenizer's own words."""
    row = tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    words = [word for word in row.word_ids() if word is not None]
    rows = [{name: row[name] for name in row} for _ in range(draws)]
    labels = collate(rows)["labels"][:, 1:-1]
    return {tuple(hidden) for hidden in (labels != -100).tolist()}, len(set(words))


patterns, words = hidden_together(CHINESE)
print("Chinese: words of the tokenizer, patterns of hidden tokens:", words, len(patterns))
assert words == 8 and patterns == {(True,) * 8, (False,) * 8}, "changed"
patterns, words = hidden_together("paris (rome), is")
print("English: words of the tokenizer, hidden together:", words, {p[1:5] for p in patterns})
assert words == 6 and {p[1:5] for p in patterns} == {(True,) * 4, (False,) * 4}, "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" "$folder" 2>/dev/null
