export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Cells longer than this are cut with an ellipsis. */
  readonly max?: number;
}

/** A plain table: two spaces between columns, a rule under the titles, no trailing blanks. */
export function renderTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string {
  const cut = rows.map((row) => row.map((cell, at) => shorten(cell, columns[at]?.max)));
  const widths = columns.map((column, at) =>
    Math.max(column.title.length, ...cut.map((row) => [...(row[at] ?? '')].length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.align ?? 'left'))
      .join('  ')
      .trimEnd();
  return [line(columns.map((c) => c.title)), widths.map((w) => '─'.repeat(w)).join('  '), ...cut.map(line)]
    .map((text) => `${text}\n`)
    .join('');
}

/** Cuts a text to at most `max` characters, the last of them an ellipsis. */
export function shorten(text: string, max = Infinity): string {
  const characters = [...text.replace(/\s+/g, ' ')];
  return characters.length <= max ? characters.join('') : `${characters.slice(0, max - 1).join('')}…`;
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const blanks = ' '.repeat(Math.max(0, width - [...text].length));
  return align === 'right' ? blanks + text : text + blanks;
}
