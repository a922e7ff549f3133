#!/usr/bin/env bash
# tokenizers 0.23.2 returns one or two of the windows of a long passage; 0.23.3 returns them all.
#
# Truncation with a stride cuts a passage into windows that overlap, as for questions about it. Of 60 words
# at 20 tokens a window, 0.23.3 gives all windows. 0.23.2 gives the first only, and for a pair of texts
# the first and a second that is cut short. The rest of the passage is never read, without a message.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
for version in 0.23.2 0.23.3; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q "tokenizers==$version"
done

cat > "$folder/check.py" <<'PYTHON'
import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers

words = [f"w{place}" for place in range(60)]
vocabulary = {"[UNK]": 0, **{word: row for row, word in enumerate(words, 1)}}
tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
seen = []
for strategy, question in (("longest_first", None), ("only_second", "w0 w1 w2")):
    tokenizer.enable_truncation(20, stride=5, strategy=strategy)
    passage = " ".join(words)
    first = tokenizer.encode(question, passage) if question else tokenizer.encode(passage)
    windows = [first, *first.overflowing]
    seen.append((len(windows), len({token for window in windows for token in window.tokens})))
print(tokenizers.__version__, "windows, words read of 60; of a passage, of a question and a passage:", *seen)
complete = tokenizers.__version__ == "0.23.3"
assert seen == ([(4, 60), (5, 60)] if complete else [(1, 20), (2, 20)]), "changed"
PYTHON
for version in 0.23.2 0.23.3; do "$folder/$version/bin/python" "$folder/check.py"; done
