"""What axe finds in a part of a page: contrast on a few words of each look, every other rule on all of it."""

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
RUN = f"""async ([place, few]) => {{
  const found = ({LOOKS})(place, few).flatMap(([, some]) => some), options = {{resultTypes: ['violations']}};
  const rules = {{'color-contrast': {{enabled: false}}, 'label-content-name-mismatch': {{enabled: true}}}};
  const all = await axe.run(place ?? document, {{...options, rules}});
  const contrast = found.length ? await axe.run(found, {{...options, runOnly: ['color-contrast']}}) : {{violations: []}};
  return [...all.violations, ...contrast.violations].map(({{id, nodes}}) => [id, nodes.map(node => node.html.slice(0, 160))]);
}}"""


def violations(page, place=None):
    """Each rule that a part of the page, or all of it, breaks, with the elements that do."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN, [place, FEW])
