"""Comparison of the numbers that pictures print with the files that their menus save."""

import json
import re

from tests.browser.modules import MODULE

SAVED = (
    f"async place => {{ const from = {MODULE};"
    """
  const {shownAbove} = await from('gradio.js'), {aboutOf, provenance} = await from('take/take.js');
  const {csv, fileName, json} = await from('take/files.js'), {runParams} = await from('page/here.js');
  const known = await provenance(runParams().family);
  const ASIDE = 'input, select, textarea, button.chip, .take, .sr-only, .sr, .fg, .note, .pm-inspector, [hidden]';
  const isSeen = node => node.getClientRects().length || getComputedStyle(node).display === 'contents';
  const printed = node => node instanceof Text ? ` ${node.nodeValue} `
    : node instanceof Element && !node.matches(ASIDE) && isSeen(node) ? [...node.childNodes].map(printed).join('') : '';
  return [...document.querySelectorAll(`${place} .take`)].filter(isSeen).map(menu => {
    const {kind, root, picture, data} = shownAbove(menu), own = picture.header?.(data), about = aboutOf(kind, known, own), table = picture.table(data);
    return {kind, text: printed(root), sentences: JSON.stringify(data?.texts ?? ''), csv: csv(table, about), json: json(table, about),
      name: fileName(about, kind, 'csv', own?.state), state: own?.state ?? {}};
  });
}"""
)
"""Script: for every visible menu the text of its picture as it is drawn, and its files.

Left out are controls, notes, the axes of charts, and the tensors of one selected cell.
"""
NUMBER = re.compile(r"(?<![\w.,])[-+−]?\d[\d,]*(?:\.\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?![\w])%?")
NO_VALUE = re.compile(r"> 99\.9%|< 0\.1%|95% CI")
UNITS = (1, 100, 1e-3, 1e-6, 1e-9, 1 / 2**20, 1 / 60)
"""Factors of printed units: 1, percent, thousands, millions, billions, MiB, minutes."""
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def unsaved(one):
    """Return the numbers that a picture prints and its files lack.

    A count below 1,000 is ignored: it numbers a layer or a head, or counts rows. So are
    the bounds "> 99.9%" and "< 0.1%", and the level of a confidence interval, which stand for no value.
    """
    document = json.loads(one["json"])
    cells = [cell for row in document["rows"] for cell in row]
    values = [cell for cell in cells if isinstance(cell, int | float)]
    values += numbers_of(json.dumps(document["about"]))
    texts = " ".join([one["sentences"], *(cell for cell in cells if isinstance(cell, str))])
    fixed = set(NUMBER.findall(texts))
    tokens = dict.fromkeys(NUMBER.findall(NO_VALUE.sub("", one["text"])))
    checked = [token for token in tokens if token not in fixed and re.search("[.,%×]", token)]
    return [token for token in checked if not is_among(token, values)]


def numbers_of(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e[-+]\d+)?", text)]


def is_among(token, values):
    """Return whether a printed number is one of the values, rounded to its decimals."""
    number, _, power = token.rstrip("%").translate(RAISED).replace(",", "").partition("×10")
    target = abs(float(number)) * 10.0 ** int(power or 0)
    half = 0.5 * 10.0 ** (int(power or 0) - len(number.partition(".")[2]))
    return any(
        abs(abs(value) * unit - target) <= half * (1 + 1e-9) + 1e-12
        for value in values
        for unit in UNITS
    )


def untold(one):
    """Return the fields of a picture's state that are missing from its files or their name."""
    about = json.loads(one["json"])["about"]
    missing = [name for name, value in one["state"].items() if about.get(name) != value]
    missing += [name for name in one["state"] if f"# {name}: " not in one["csv"]]
    slugs = [re.sub(r"[^\w.]+", "-", name).strip("-").lower() for name in one["state"]]
    return missing + [name for name in slugs if name.replace("_", "-") not in one["name"]]
