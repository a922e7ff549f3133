// The browser globals that the picture modules need to be imported in node.
const nothing = () => {};
Object.assign(globalThis, {
  window: globalThis,
  addEventListener: nothing,
  document: {addEventListener: nothing, adoptedStyleSheets: [], body: {}},
  CSSStyleSheet: class { replaceSync() {} },
  location: {href: 'http://page.test/'},
  MutationObserver: class { observe() {} },
  explorer: {waiting: [], told: []},
});
