"""What axe finds in a part of a page: contrast on a few words of each look, every other rule once on all of it."""

from axe_playwright_python.base import AXE_SCRIPT

FEW = 3
"""So many of each look, spread evenly: what lies behind words of one look may differ by their place."""
LOOKS = """(place, few) => {
  const ids = new Map(), known = new Map(), words = new Map();
  const id = told => ids.get(told) ?? (ids.set(told, ids.size), ids.size - 1);
  const look = node => {
    if (!node) return '';
    if (known.has(node)) return known.get(node);
    const s = getComputedStyle(node), own = [node.tagName, node.getAttribute('class'), node.getAttribute('style')?.replace(/[\\d.]+(px|%)/g, ''),
      s.color, s.backgroundColor, s.backgroundImage, s.opacity, s.fontSize, s.fontWeight, s.textShadow, s.filter, s.mixBlendMode];
    known.set(node, id(`${look(node.parentElement)}|${own}`));
    return known.get(node);
  };
  for (const node of (place ? document.querySelector(place) : document.body).querySelectorAll('*')) {
    const speaks = [...node.childNodes].some(one => one instanceof Text && one.nodeValue.trim());
    if (!(speaks || node.matches('input, select, textarea')) || !node.getClientRects().length) continue;
    words.has(look(node)) ? words.get(look(node)).push(node) : words.set(look(node), [node]);
  }
  const some = same => same.length <= few ? same
    : Array.from({length: few}, (_, n) => same[Math.round(n * (same.length - 1) / (few - 1))]);
  return [...words.values()].map(same => [same, some(same)]);
}"""
"""The elements that hold words, those alike together, with the few of them that are measured.

Alike are those whose own tag, class and colours, and those of all that they stand in, are the same.
"""
KINDS = """place => {
  const known = (window.axeKinds ??= {})[place] ??= new Set();
  const kind = node => `${node.tagName} ${node.getAttribute('class')} ${[...node.attributes].map(one => one.name)} ${!node.textContent.trim()}`;
  const fresh = new Set([...(place ? document.querySelector(place) : document.body).querySelectorAll('*')].filter(
    node => node.getClientRects().length && !known.has(kind(node))));
  for (const node of fresh) known.add(kind(node));
  return [...fresh].filter(node => !fresh.has(node.parentElement));
}"""
"""The outermost elements of a kind (tag, classes, attributes, without words) that this part has not yet shown."""
LAID = ["scrollable-region-focusable", "label-content-name-mismatch"]
"""Rules whose answer hangs on the width: what has room, and which words are in sight."""
RUN = f"""async ([place, few, laid]) => {{
  const found = ({LOOKS})(place, few).flatMap(([, some]) => some);
  const isFirst = !window.axeKinds?.[place], fresh = ({KINDS})(place);
  // What is preloaded is for a rule on the page's style sheets, which are the same for all of its parts.
  const options = {{resultTypes: ['violations'], preload: !place}};
  const rules = {{'color-contrast': {{enabled: false}}, 'label-content-name-mismatch': {{enabled: true}}}};
  const looks = isFirst ? [[place ?? document, {{rules}}]]
    : [[place ?? document, {{runOnly: laid}}], ...(fresh.length ? [[fresh, {{rules}}]] : [])];
  if (found.length) looks.push([found, {{runOnly: ['color-contrast']}}]);
  const broken = [];
  for (const [where, what] of looks) broken.push(...(await axe.run(where, {{...options, ...what}})).violations);
  return broken.map(({{id, nodes}}) => [id, nodes.map(node => node.html.slice(0, 160))]);
}}"""


def violations(page, place=None):
    """Each rule that a part of the page, or all of it, breaks, with the elements that do.

    Looked at again, at another width, all of it is held to the rules of room and contrast, and new kinds of
    elements to every rule.
    """
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN, [place, FEW, LAID])
