"""Accessibility checks by axe: contrast on samples of each style, other rules on each kind."""

from axe_playwright_python.base import AXE_SCRIPT

FEW = 2
"""Sample size for each style, the first and the last, because the background may differ by position."""
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
"""Script: the elements with text, grouped by style, with the sample of each group.

Elements of one style share tag, class and colours with each other, and so do all their ancestors.
"""
KINDS = """place => {
  const known = (window.axeKinds ??= {})[place] ??= new Set();
  const kind = node => `${node.tagName} ${node.getAttribute('class')} ${[...node.attributes].map(one => one.name)} ${!node.textContent.trim()}`;
  const fresh = new Set([...(place ? document.querySelector(place) : document.body).querySelectorAll('*')].filter(
    node => node.getClientRects().length && !known.has(kind(node))));
  for (const node of fresh) known.add(kind(node));
  return [...fresh].filter(node => !fresh.has(node.parentElement));
}"""
"""Script: the outermost elements of kinds (tag, classes, attributes, empty or not) not seen here before."""
LAID = ["scrollable-region-focusable", "label-content-name-mismatch"]
"""Rules whose result depends on the width: overflow, and visible labels."""
RUN = f"""async ([place, few, laid]) => {{
  const found = ({LOOKS})(place, few).flatMap(([, some]) => some);
  const isFirst = !window.axeKinds?.[place], fresh = ({KINDS})(place);
  // What is preloaded is for a rule on the page's style sheets, which are the same for all of its parts.
  const options = {{resultTypes: ['violations'], preload: !place, iframes: false}};
  const rules = {{'label-content-name-mismatch': {{enabled: true}}}};
  // One run for the whole part, because each run lays a grid over every element of the page.
  axe.configure({{rules: [{{id: 'color-contrast', selector: '[data-sample]'}}]}});
  const looks = [[place ?? document, isFirst ? {{rules}} : {{runOnly: [...laid, 'color-contrast']}}]];
  const others = {{...rules, 'color-contrast': {{enabled: false}}}};
  if (!isFirst && fresh.length) looks.push([fresh, {{rules: others}}]);
  for (const node of found) node.toggleAttribute('data-sample', true);
  const broken = [];
  for (const [where, what] of looks) broken.push(...(await axe.run(where, {{...options, ...what}})).violations);
  for (const node of found) node.toggleAttribute('data-sample', false);
  return broken.map(({{id, nodes}}) => [id, nodes.map(node => node.html.slice(0, 160))]);
}}"""


def violations(page, place=None):
    """Return each rule that a part of the page, or all of it, violates, with the elements.

    On a repeated check, at another width, the whole part is checked for overflow and contrast, and
    only new kinds of elements by every rule.
    """
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN, [place, FEW, LAID])
