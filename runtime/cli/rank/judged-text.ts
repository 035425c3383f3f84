import { printable } from '../../ground/core/display-width.js';
import { renderTable, type TableColumn } from '../table.js';
import type { JudgedPlace } from './judged-query.js';

const LONGEST_ID = 16;
const LEAST_TITLE = 12;
const BETWEEN = 2;

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
  const right = (title: string): TableColumn => ({ title, align: 'right' });
  const cells = shown.map((one) => [
    String(one.place),
    printable(one.id),
    printable(one.title ?? ''),
    one.score === null ? 'none' : one.score.toFixed(2),
    ...names.map((name) => stepText(one.steps.get(name))),
    one.grade === null ? '' : String(one.grade),
  ]);
  const columns = [
    right('place'),
    { title: entity, max: LONGEST_ID },
    { title: 'title' },
    right('score'),
    ...names.map(right),
    right('grade'),
  ];
  const hasTitles = shown.some(({ title }) => title !== undefined);
  const used = columns.reduce((sum, column, at) => {
    if (at === 2) return sum;
    const widest = Math.max(column.title.length, ...cells.map((row) => row[at]?.length ?? 0));
    return sum + BETWEEN + Math.min(widest, column.max ?? Infinity);
  }, 0);
  const titled = columns.map((column, at) =>
    at === 2 ? { ...column, max: Math.max(LEAST_TITLE, options.width - used) } : column,
  );
  const keep = <T>(row: readonly T[]): T[] => row.filter((_, at) => at !== 2 || hasTitles);
  const table = renderTable(
    keep(titled),
    cells.map((row) => keep(row)),
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
    candidates: places.map(({ steps, title = null, ...place }) => ({
      ...place,
      title,
      steps: Object.fromEntries(steps),
    })),
  };
}
