// Live checks: the line that says how far they are, and the list of what each one found.
(() => {
  const {make, say} = window.explorer;
  const {results, running, publish, listen} = window.explorer.claims;

  function line(news) {
    const found = Object.values(results), t = news.texts, total = news.total;
    const n = status => found.filter(result => result.status === status).length;
    if (news.running.length) {
      return say(t.running, {id: news.running.join(', '), done: news.done ?? found.length, total});
    }
    if (news.stopped && found.length < total) return say(t.stopped, {n: found.length, total});
    if (!found.length) return say(t.none, {total});
    return say(t.done, {n: found.length, total, holds: n('holds'), fails: n('fails'),
      waits: n('waits') + n('failed')});
  }

  let place = null;   // where the line stands

  function show(news) {
    const [bar, text] = place.children;
    text.textContent = line(news);
    bar.hidden = !news.running.length || news.done === null;
    if (!bar.hidden) bar.value = news.done / news.total;
  }

  window.explorer.claims.stop = () => {
    if (!place || !place.__news) return;
    const news = {...place.__news, running: [], results: []};
    publish(news);
    show({...news, stopped: true});
  };

  window.explorer.views.claims_results = {
    draw(root, data) {
      place = root;
      if (!root.firstElementChild) {
        root.append(make('progress', {class: 'cc-bar', max: '1', hidden: true, 'aria-hidden': 'true'}),
          make('p', {class: 'cc-line', role: 'status', 'aria-live': 'polite'}));
      }
      if (root.__news !== data) publish(data);
      root.__news = data;
      show(data);
    },
  };

  function outcome(check, t) {
    const result = results[check.id];
    if (running.has(check.id)) return [make('p', {class: 'cl-none'}, '…')];
    if (!result) return [make('p', {class: 'cl-none'}, check.waits || t.not_run)];
    const kind = result.published ? t.published : result.on ? `${t.measured} · ${result.on}` : '';
    return [make('div', {class: `cl-outcome ${result.published ? 'published' : 'measured'}`},
      kind ? make('span', {class: 'cl-kind'}, kind) : null,
      make('span', {class: 'cl-test', 'data-holds': {holds: 'true', fails: 'false'}[result.status] || 'none'},
        make('span', {class: 'cl-value'}, result.text), ' ', make('b', {}, t[result.status])))];
  }

  function item(check, data, trigger) {
    const t = data.texts, label = say(t.run, check);
    const button = make('button', {type: 'button', class: 'cl-run', 'aria-label': label,
      'data-check': check.id, 'aria-busy': String(running.has(check.id))}, `▷ ${check.id}`);
    button.addEventListener('click', () => trigger('select', {check: check.id}));
    return make('li', {class: 'cc-row', 'data-check-row': check.id}, button,
      make('div', {class: 'cl-cell'}, make('p', {class: 'cl-text'}, check.measures),
        make('p', {class: 'cl-meta'}, `${t.expected}: ${check.expected}`)),
      make('div', {class: 'cl-cell'}, ...outcome(check, t)));
  }

  window.explorer.views.claims_checks = {
    draw(root, data, {trigger}) {
      const list = make('ul', {class: 'cl-list cc-list'});
      const fill = () => {
        const held = root.contains(document.activeElement) && document.activeElement.dataset.check;
        list.replaceChildren(...data.checks.map(check => item(check, data, trigger)));
        if (held) list.querySelector(`[data-check="${held}"]`)?.focus();
      };
      root.replaceChildren(list);
      listen('checks', fill);
      fill();
    },
  };
})();
