// A page state for tests of pictures: records the requests to the server and the choices.
import {begin} from '../../../assets/js/page/here.js';

const RUN = ['text', 'family', 'hidden'];
export const choices = {presets: {mini: {bert: 'mini', albert: 'mini'}, base: {bert: 'base', albert: 'base'}}, columns: {bert: ['mini', 'base', 'large'], albert: ['mini', 'base', 'xlarge']}};
const defaults = {text: 'start', hidden: '', family: 'mini', tab: 'predictions', fold: '', word: '-1', temperature: '', mask: '0', lens: 'mask',
  at: '-1', times: '0', other: '', first: '', second: '', layer: '0', form: '', look: '', search: ''};
const reads = {predictions: RUN, depth: RUN, distillation: [...RUN, 'word'], claims: []};

/** The server's response to the newest request. */
export function reply(state, changes = {}) {
  const {number, params} = JSON.parse(JSON.stringify(state.question()));
  state.answered({number, accepted: true, drawn: true, repaired: [], params: {family: 'mini', ...params}, text: params.text ?? 'start',
    machine: {}, ...changes});
}

/** A state that shows a link; `sent` holds the requests since. @param {Record<string, any>} params @param {Record<string, any>} config @param {import('../../../assets/js/page/folds.js').Folds} [folds] */
export function begun(params = {}, config = {}, folds = undefined) {
  const sent = [], state = begin({...choices, defaults, reads, limit: 1000, longest: 5000, packed: 'z', texts_of: ['text', 'hidden', 'other'], ...config}, () => sent.push({...state.wanted}), folds);
  state.open(params);
  reply(state);
  sent.length = 0;
  return {state, sent};
}
