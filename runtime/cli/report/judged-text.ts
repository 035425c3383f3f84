import { printable } from '../../ground/core/display-width.js';
import { CARD_COLUMN, cardCell, rightColumn } from '../../learn/report/tree.js';
import { renderTable } from './table.js';
import type { JudgedPlace } from '../rank/judged-query.js';

const LONGEST_ID = 16;

/**
 * A table of the judged candidates, best first. With steps, it has a column for each step that changed a score or a place.
 * @param entity the type of the candidates
 */
export function judgedText(
  places: readonly JudgedPlace[],
  entity: string,
  options: { readonly steps: boolean; readonly most: number; readonly width: number },
): string {
  const shown = places.slice(0, options.most);
  const names = options.steps ? [...new Set(shown.flatMap(({ steps }) => [...steps.keys()]))] : [];
  const hasCards = shown.some(({ card }) => card !== undefined);
  const table = renderTable(
    [
      rightColumn('place'),
      { title: entity, max: LONGEST_ID },
      ...(hasCards ? [CARD_COLUMN] : []),
      rightColumn('score'),
      ...names.map(rightColumn),
      rightColumn('grade'),
    ],
    shown.map((one) => [
      one.place,
      printable(one.id),
      ...(hasCards ? [cardCell(one.card)] : []),
      one.score === null ? 'none' : one.score.toFixed(2),
      ...names.map((name) => stepText(one.steps.get(name))),
      one.grade ?? '',
    ]),
    options.width,
  );
  const more = places.length - shown.length;
  return more > 0 ? `${table}and ${more} more; --most ${places.length} shows all\n` : table;
}

function stepText(step: number | string | undefined): string {
  if (step === undefined) return '';
  if (typeof step === 'string') return step;
  return `${step < 0 ? '-' : '+'}${Math.abs(step).toFixed(2)}`;
}

/** The same for a program. */
export function judgedJson(query: string, places: readonly JudgedPlace[]): unknown {
  return {
    query,
    candidates: places.map(({ steps, ...place }) => ({
      ...place,
      steps: Object.fromEntries(steps),
    })),
  };
}
