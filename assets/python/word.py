"""What is a word of a text, whatever its script: put in front of a recipe that reads words."""

import re
import unicodedata

MARKS = "".join(c for c in map(chr, range(0x300, 0x20000)) if unicodedata.category(c)[0] == "M")
# Accents, vowel signs, variants and joiners are in the word of the character before.
ATTACHED = rf"[{MARKS}\U000e0100-\U000e01ef\u200c\u200d]"
LETTERS = rf"\w+(?:{ATTACHED}+\w*)*"
WORD = rf"\[(?:MASK|SEP|CLS|UNK|PAD)\]|{LETTERS}(?:['’]{LETTERS})*|[^\w\s]{ATTACHED}*"
HAN = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
RUNS = re.compile(rf"{HAN}{ATTACHED}*|(?:(?!{HAN}).)+", re.DOTALL)
ATOM = r"\[[^\[\]\s]{1,400}\]|Br|Cl|>>|>(?!>)|%[0-9]{2}|[BCNOPSFIbcnops]|[-=#+/\\:~@?*$().0-9]"
# At least five atoms and signs with a bond, a branch, a ring or an arrow among them.
BOND = r"(?=\S*(?:=|#|>>|[A-Za-z\])]\((?=[A-Z=#\[])|[A-Za-z]([0-9])\S*[A-Za-z]\1))"
FORMULA = re.compile(rf"{BOND}(?:{ATOM}){{5,}}(?!\S)")


def words_of(text, mask="[MASK]"):
    """Return the words of a text; a Chinese character, or an atom of a formula, is one."""
    words, own = [], f"{re.escape(mask)}|"
    for chunk in re.finditer(r"\S+", text):
        is_formula = FORMULA.fullmatch(chunk[0].replace(mask, "[MASK]"))
        pattern = re.compile(own + (ATOM if is_formula else WORD))
        for match in pattern.finditer(text, *chunk.span()):
            whole = is_formula or match[0] == mask
            words += [match] if whole else RUNS.finditer(text, *match.span())
    return words
