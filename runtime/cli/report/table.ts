import { cellsOf } from '../../ground/core/display-width.js';
import { columnsOf, type Cell, type Columns, type TableColumn } from '../../learn/report/tree.js';

/** The spaces between two columns. */
const BETWEEN = 2;

/**
 * Renders a plain table: two spaces between columns, a line under the titles, no trailing spaces.
 * @param width that a column with `least` fills
 */
export function renderTable(
  of: Columns | readonly TableColumn[],
  rows: readonly (readonly Cell[])[],
  width = Infinity,
): string {
  const columns = columnsOf(of);
  const shown = rows.map((row) => row.map((cell, at) => shorten(String(cell), columns[at]?.max)));
  const widths = columns.map((column, at) =>
    Math.max(widthOf(column.title), ...shown.map((row) => widthOf(row[at] ?? ''))),
  );
  let used = widths.reduce((sum, one) => sum + one + BETWEEN, -BETWEEN);
  for (const [at, { least }] of columns.entries()) {
    if (least === undefined) continue;
    const wanted = widths[at] ?? 0;
    const room = Math.min(wanted, Math.max(least, wanted - Math.max(0, used - width)));
    for (const row of shown) row[at] = shorten(row[at] ?? '', room);
    widths[at] = room;
    used -= wanted - room;
  }
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.align ?? 'left'))
      .join(' '.repeat(BETWEEN))
      .trimEnd();
  const rule = line(widths.map((width) => '─'.repeat(width)));
  return [line(columns.map(({ title }) => title)), rule, ...shown.map(line)]
    .map((text) => `${text}\n`)
    .join('');
}

/** Returns the text on one line, at most `max` terminal columns wide. Cut text ends with an ellipsis. */
export function shorten(text: string, max = Infinity): string {
  const cells = cellsOf(text.replace(/\s+/g, ' '));
  const kept: string[] = [];
  let width = 0;
  let keptWithEllipsis = 0;
  for (const cell of cells) {
    width += cell.width;
    if (width < max) keptWithEllipsis = kept.push(cell.text);
    else if (width === max) kept.push(cell.text);
  }
  return width <= max ? kept.join('') : `${kept.slice(0, keptWithEllipsis).join('')}…`;
}

/** The terminal columns that the text takes. */
export function widthOf(text: string): number {
  return cellsOf(text).reduce((width, cell) => width + cell.width, 0);
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? blanks + text : text + blanks;
}
