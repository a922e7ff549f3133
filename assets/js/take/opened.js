// A tab that was taken away, opened from a disk: its pictures are drawn from the numbers that lie
// in the file.
import '../gradio.js';
import {begin} from '../page/here.js';

const taken = /** @type {NonNullable<Window['explorer']['taken']>} */ (window.explorer.taken),
  nothing = () => {};
document.body.classList.toggle('dark', taken.dark);
const state = begin(taken.config, nothing);
state.wanted = {...taken.params};
state.accepted = {...taken.params};
// What only the running page could answer is refused: a picture says so where it asks.
const refused = () => Promise.reject(new Error('this page was taken away'));
document
  .querySelectorAll('.taken-picture')
  .forEach((place, i) =>
    window.explorer.mount(
      place.getAttribute('data-kind'),
      place,
      {value: taken.values[i]},
      nothing,
      nothing,
      refused,
    ),
  );
