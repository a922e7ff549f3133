// The family in use: what speaks of it alone is in sight, and the small drawings are its own.

/** @param {string} family */
export function showFamily(family) {
  document.documentElement.dataset.family = family;
  for (const part of document.querySelectorAll(':is(#family, #masthead) [data-family]')) {
    part.toggleAttribute('hidden', part.getAttribute('data-family') !== family);
  }
}

/** A family that there is; nothing for what only an address calls so. @param {string} [name] */
export const familyNamed = name => /** @type {HTMLElement[]} */ ([...document.querySelectorAll('#masthead [data-family]')]).find(part => part.dataset.family === name)?.dataset.family;
