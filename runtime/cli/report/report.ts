import { wrap, wrapAfter } from '../../ground/core/wrap.js';
import { renderTable, type Cell, type Columns, type TableColumn } from './table.js';

/** What a command found: made once, then rendered as text, or as a page. */
export interface Report {
  readonly title: string;
  readonly parts: readonly Part[];
}

export type Part =
  /** A paragraph. */
  | string
  /** A text after a label. `indent`: of its further lines in a terminal. */
  | { readonly label: string; readonly note: string; readonly indent: number }
  | { readonly columns: Columns | readonly TableColumn[]; readonly rows: readonly (readonly Cell[])[] }
  /** Parts under a title, or under none (''). */
  | { readonly section: string; readonly parts: readonly Part[] }
  /** Parts that are too much for a terminal. */
  | { readonly page: readonly Part[] }
  /** SVGs with their titles, only on the page. */
  | { readonly plots: readonly (readonly [title: string, svg: string])[] };

/** A section of parts; none if it has no parts. */
export function section(title: string, ...parts: readonly Part[]): readonly Part[] {
  return parts.length === 0 ? [] : [{ section: title, parts }];
}

export function table(columns: Columns | readonly TableColumn[], rows: readonly (readonly Cell[])[]): Part {
  return { columns, rows };
}

export function note(label: string, text: string, indent: number): Part {
  return { label, note: text, indent };
}

/** The parts as text, at most `width` columns wide. */
export function reportText(parts: readonly Part[], width: number): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return wrap(part, 0, width);
      if ('note' in part)
        return wrapAfter(part.label, part.note, part.indent, width)
          .map((line) => `${line}\n`)
          .join('');
      if ('rows' in part) return renderTable(part.columns, part.rows, width);
      if ('parts' in part) return `\n${wrap(part.section, 0, width)}${reportText(part.parts, width)}`;
      return '';
    })
    .join('');
}
