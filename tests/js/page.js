// As much of a browser as the picture modules need to be imported without one.
const nothing = () => {};
Object.assign(globalThis, {
  window: globalThis,
  addEventListener: nothing,
  document: {addEventListener: nothing, body: {}},
  location: {href: 'http://page.test/'},
  MutationObserver: class { observe() {} },
  explorer: {waiting: []},
});
