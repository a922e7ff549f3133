// The input bar's words and examples, the link, the theme switch and the folds' refresh.
(() => {
  const E = window.explorer;
  const WORD = /\[[^\[\]|]+(?:\|[^\[\]|]+)+\]|\[(?:MASK|SEP|CLS|UNK|PAD)\]|[\p{L}\p{N}\p{M}_]+(?:['’][\p{L}\p{N}\p{M}_]+)*|[^\p{L}\p{N}\p{M}_\s]/gu;
  const originals = [];   // what stood where each mask is now, in reading order

  const make = (tag, text, attributes = {}) => E.make(tag, {...attributes, text});
  const box = () => document.querySelector('#text textarea');
  const compareButton = () => document.querySelector('button#compare, #compare button');

  function run(text) {
    const area = box();
    area.value = text;
    area.dispatchEvent(new Event('input', {bubbles: true}));
    setTimeout(() => compareButton().click(), 0);
  }

  function toggle(text, match, ordinal) {
    const isMask = match[0] === '[MASK]';
    if (isMask && !originals[ordinal]) { box().focus(); return; }
    const word = isMask ? originals.splice(ordinal, 1)[0] : '[MASK]';
    if (!isMask) originals.splice(ordinal, 0, match[0]);
    run(text.slice(0, match.index) + word + text.slice(match.index + match[0].length));
  }

  function drawWords(holder, text, hint) {
    holder.replaceChildren();
    holder.setAttribute('aria-label', hint);
    let masks = 0;
    const matches = [...text.matchAll(WORD)].slice(0, 400);
    for (const match of matches) {
      const isMask = match[0] === '[MASK]', ordinal = masks;
      if (isMask) masks += 1;
      if (match[0].includes('|') && match[0].length > 1) { holder.append(make('span', match[0], {class: 'word masked choice'})); masks += 1; continue; }
      if (match[0] === '[SEP]') { holder.append(make('span', '⟂', {class: 'sep', title: '[SEP]'})); continue; }
      if (!isMask && !/[\p{L}\p{N}]/u.test(match[0])) { holder.append(make('span', match[0], {class: 'mark'})); continue; }
      const known = isMask && originals[ordinal];
      const button = make('button', isMask ? (known ? `[${originals[ordinal]}]` : '[MASK]') : match[0], {
        type: 'button', class: isMask ? 'word masked' : 'word', 'aria-pressed': String(isMask),
        'aria-label': isMask ? (known ? `masked: ${originals[ordinal]}, bring back` : 'mask, edit in the text box') : `mask ${match[0]}`,
      });
      button.addEventListener('click', () => toggle(text, match, ordinal));
      holder.append(button);
    }
  }

  E.views.words = {draw(root, data) {
    const masks = (data.text.match(/\[MASK\]|\[[^\[\]|]+(?:\|[^\[\]|]+)+\]/g) || []).length;
    if (originals.length !== masks) originals.length = 0;
    let strip = root.querySelector('.strip');
    if (!strip) {
      strip = make('div', null, {class: 'strip', role: 'group'});
      const chips = make('div', null, {class: 'chips', role: 'group', 'aria-label': data.try});
      chips.append(make('span', data.try, {class: 'lead'}));
      for (const example of data.examples) {
        const chip = make('button', example.label, {type: 'button', class: 'chip', title: example.shows || example.text});
        chip.addEventListener('click', () => { originals.length = 0; run(example.text); });
        chips.append(chip);
      }
      root.replaceChildren(strip, make('p', data.hint, {class: 'hint'}), chips);
    }
    drawWords(strip, data.text, data.hint);
  }};

  // A link to something else than the opening example must not show that example first.
  const linked = E.param('text') || E.param('tab') || (E.param('family') || 'mini') !== 'mini';
  document.documentElement.classList.toggle('linked', Boolean(linked));

  // Compare and a tab's drawing run side by side: a tab that fell behind is asked for once more.
  let compared = null;   // the run that was compared last
  const openTab = () => [...document.querySelectorAll('#tabs [role=tabpanel]')].find(panel => panel.offsetParent)?.id.slice('tab-'.length);
  function catchUp(data, trigger) {
    if (data.event !== 'tab') compared = data.run;
    const tab = openTab();
    if (data.event === 'compare' && tab && tab !== data.tab) trigger('select', {tab});
    if (data.event === 'tab' && data.run !== compared) trigger('select', {tab: data.tab});
  }

  E.views.link = {draw(root, data, {trigger}) {
    document.documentElement.classList.remove('linked');
    catchUp(data, trigger);
    E.link(data.params);
    const href = location.href;
    const field = make('input', null, {type: 'text', readonly: true, 'aria-label': data.label, value: href});
    const button = make('button', data.copy, {type: 'button', class: 'chip'});
    const said = make('span', '', {role: 'status', class: 'hint'});
    button.addEventListener('click', async () => {
      field.value = location.href;
      field.select();
      try { await navigator.clipboard.writeText(location.href); }
      catch { document.execCommand('copy'); }   // clipboard access can be blocked inside a frame
      said.textContent = data.copied;
      setTimeout(() => { said.textContent = data.note; }, 2500);
    });
    said.textContent = data.note;
    root.replaceChildren(button, field, said);
    refreshFolds();
  }};

  // Open folds show the text that was compared last: their hidden buttons ask for it.
  function refreshFolds() {
    for (const button of document.querySelectorAll('.fold .fold-refresh')) {
      const target = button.matches('button') ? button : button.querySelector('button');
      const fold = button.closest('.fold');
      const header = fold && fold.querySelector('button.label-wrap');
      if (target && header && header.classList.contains('open')) target.click();
    }
  }

  document.addEventListener('input', event => {
    if (event.target !== box()) return;
    const holder = document.querySelector('#words .canvas');
    if (event.isTrusted) originals.length = 0;
    drawWords(holder.querySelector('.strip'), event.target.value, holder.__data.hint);
  });
  document.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    compareButton().click();
  });
  document.addEventListener('click', event => {
    if (event.target.closest('#theme-switch')) document.body.classList.toggle('dark');
  });
})();
