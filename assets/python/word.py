"""What is a word of a text, whatever its script: put in front of a recipe that reads words."""

import unicodedata

MARKS = "".join(c for c in map(chr, range(0x300, 0x20000)) if unicodedata.category(c)[0] == "M")
# Accents, vowel signs, variants and joiners are in the word of the character before.
ATTACHED = rf"[{MARKS}\U000e0100-\U000e01ef\u200c\u200d]"
LETTERS = rf"\w+(?:{ATTACHED}+\w*)*"
WORD = rf"\[(?:MASK|SEP|CLS|UNK|PAD)\]|{LETTERS}(?:['’]{LETTERS})*|[^\w\s]{ATTACHED}*"
