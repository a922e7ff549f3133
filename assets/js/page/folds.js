// Open folds show the text that was compared last, and the link names the one opened last.
import {foldsInSight, onFold} from '../gradio.js';
import {choose, chosen, withState} from './here.js';

const shown = new WeakMap();   // fold -> the run it shows
let fromLink = true;

export function followFolds(state) {
  for (const fold of foldsInSight()) {
    if (fold.isOpen() && shown.get(fold.node) !== state.runKey) {
      shown.set(fold.node, state.runKey);
      fold.refresh();
    }
  }
  if (fromLink) openLinked(state.get('fold'));
  else if (!state.get('fold')) choose({fold: foldsInSight().find(fold => fold.isOpen())?.name ?? null});
  fromLink = false;
}

// The tab may come into sight only after the first answer: then a little later.
function openLinked(name, tries = 50) {
  if (!name || chosen('fold') !== name) return;
  const fold = foldsInSight().find(one => one.name === name);
  if (!fold && tries) setTimeout(() => openLinked(name, tries - 1), 100);
  if (!fold || fold.isOpen()) return;
  fold.press();
  fold.node.scrollIntoView({block: 'start'});
}

onFold(fold => withState(state => {
  if (!fold) return;
  if (fold.isOpen()) {   // opening computes by itself
    shown.set(fold.node, state.runKey);
    choose({fold: fold.name});
  } else if (chosen('fold') === fold.name) choose({fold: null});
}));
