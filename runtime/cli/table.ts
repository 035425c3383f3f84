import { cellsOf } from '../ground/core/display-width.js';

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Cells wider than this are cut and end with an ellipsis. */
  readonly max?: number;
}

/** Renders a plain table: two spaces between columns, a line under the titles, no trailing spaces. */
export function renderTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map((cell, at) => shorten(cell, columns[at]?.max)));
  const widths = columns.map((column, at) =>
    Math.max(widthOf(column.title), ...shown.map((row) => widthOf(row[at] ?? ''))),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.align ?? 'left'))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
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
