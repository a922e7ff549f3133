// Menus of the parts of a picture: each part is saved by itself, under a kind and with rows of its
// own.

/**
 * @typedef {{readonly kind: string, root: HTMLElement, picture:
 *   Omit<import('../gradio.js').Picture, 'show'>, data: any}} Part
 */
/** @type {WeakMap<Element, Part>} */
const parts = new WeakMap();

/**
 * The menu of a part: the picture's own again, without the lines of Python unless they compute
 * this.
 * @param {HTMLElement} root the picture's place
 * @param {Part} part
 * @param {boolean} lines
 */
export function menuOf(root, part, lines = false) {
  const menu = /** @type {HTMLElement | null} */ (
    root.parentElement?.querySelector(':scope > .take')?.cloneNode(true) ?? null
  );
  if (!menu) return null;
  if (!lines)
    menu.querySelectorAll('[data-take=py], [data-take=ipynb]').forEach(button => button.remove());
  parts.set(menu, part);
  return menu;
}

/** The part that a menu saves, if it is a part's. @param {Element} menu */
export const partOf = menu => parts.get(menu);
