// What a student hands in: the finding of a lesson with its models and date, as a file.
import {fileName} from '../take/files.js';
import {origin, provenance, save} from '../take/take.js';
import {page, row} from './card.js';

export const FAMILY = 'mini'; // whose numbers the lessons are about

/**
 * The finding with today's date and the models that it is about.
 * @param {import('./progress.js').Progress} progress
 */
export async function findingOf(progress) {
  const {models, versions, cite} = await provenance(FAMILY),
    named = models.map(
      ({label, source, sha256}) => `${label}: ${source}${sha256 ? ` (sha256 ${sha256})` : ''}`,
    );
  return progress.finding({
    date: new Date().toISOString().slice(0, 10),
    origin: `${origin({models: named})}; ${versions}`,
    cite,
  });
}

/**
 * Save a finding as a page or as a row of CSV.
 * @param {import('./card.js').Finding} finding
 * @param {'html' | 'csv'} ending
 * @param {Record<string, string>} texts of the card
 */
export function handIn(finding, ending, texts) {
  const about = {text: finding.student, date: finding.date},
    content = ending === 'html' ? page(finding, texts) : row(finding);
  save(
    fileName(about, `lesson/${finding.lesson}`, ending),
    new Blob([content], {type: `text/${ending};charset=utf-8`}),
  );
}
