// While another text stands in the box than was compared, what was computed fades and says which
// text it is for.
import {closest, cut, find, say, the, touched} from '../kit/dom.js';
import {fade, textBox, typeText} from './parts.js';
import {configNow, listen, withState} from './here.js';

const SHOWN = 89; // characters of the compared text

/** @param {import('./state.js').State} state */
function follow(state) {
  const note = find(document, '#standing p'),
    box = textBox(),
    {accepted, config} = state;
  if (!note || !box) return;
  const isOther =
    accepted !== null && box.value.trim() !== accepted.text.trim() && box.value !== state.askedText;
  fade(isOther ? Object.keys(config.reads).filter(tab => config.reads[tab].includes('text')) : []);
  note.hidden = !isOther;
  // What was refused is not asked again: its message says what to do.
  const isRefused = state.refused && box.value === state.wrong;
  if (isOther)
    the(note, 'span').textContent = isRefused
      ? say(config.texts.standing_refused, {text: cut(accepted.text, SHOWN)})
      : say(touched() ? config.texts.standing_touch : config.texts.standing, {
          text: cut(accepted.text, SHOWN),
        });
}

listen(follow);
document.addEventListener('input', event => {
  if (event.target === textBox() && configNow()) withState(follow);
});
document.addEventListener('click', event => {
  if (closest(event, '#standing button'))
    withState(state => {
      if (state.accepted) typeText(state.accepted.text);
    });
});
