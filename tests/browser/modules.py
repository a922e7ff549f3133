"""Access of a browser test to the page's own modules, which come in packs."""

MODULE = """(async path => {
  const own = window.explorer.modules;
  if (!own[path]) await import(new URL(path, document.querySelector('link[href$="/pack/answer.js"]').href));
  return own[path];
})"""
"""JavaScript function that returns a module of the page by its path below ``assets/js``."""
