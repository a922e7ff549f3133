// No picture of its own: the exact numbers that the wall asked for.
import {onPage} from './heads.js';

export function draw(root, data) {
  if (onPage.wall) onPage.wall.receive(data);
}
