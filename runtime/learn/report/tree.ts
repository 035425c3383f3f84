import { printable } from '../../ground/core/display-width.js';
import type { Card, CardsById } from '../../state/index/cards.js';
import type { CheckedGate } from '../judge/gates.js';
import type { PlacedId } from '../evaluation/report.js';

export type Cell = string | number;

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Wider cells are cut in a text and end with an ellipsis. */
  readonly max?: number;
  /** Its cells get the width that the other columns leave, at least so much. Of several, the first is cut first. */
  readonly least?: number;
}

/** A column of numbers. */
export const rightColumn = (title: string): TableColumn => ({ title, align: 'right' });

/** The columns of a table by title: how cells are aligned, or how wide a text may be. */
export type Columns = Readonly<Record<string, 'left' | 'right' | number>>;

export function columnsOf(columns: Columns | readonly TableColumn[]): readonly TableColumn[] {
  if (Array.isArray(columns)) return columns as readonly TableColumn[];
  return Object.entries(columns as Columns).map(([title, is]) =>
    typeof is === 'number' ? { title, max: is } : { title, align: is },
  );
}

/** What was found: made once, then rendered as text, as a page, or on a screen. */
export interface Report {
  readonly title: string;
  /** A light: the conditions, with what was found. A text ends with them, a page begins with them. */
  readonly gates?: readonly CheckedGate[];
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
  /** Pages of one query beside each other, only on the page. */
  | SidedPages
  /** SVGs with their titles, only on the page. */
  | { readonly plots: readonly (readonly [title: string, svg: string])[] };

export interface SidedPages {
  readonly query: string;
  /** What was measured of the query. */
  readonly found: string;
  readonly sides: readonly CardSide[];
}

export interface CardSide {
  readonly label: string;
  readonly cards: readonly (PlacedId & { readonly place: number; readonly card?: Card })[];
}

/** A page of a side, with the cards of its candidates. */
export function sideOf(label: string, page: readonly PlacedId[], cards: CardsById): CardSide {
  return {
    label,
    cards: page.map((one, at) => {
      const card = cards.get(one.id);
      return { ...one, place: at + 1, ...(card === undefined ? {} : { card }) };
    }),
  };
}

/** The column of titles. */
export const CARD_COLUMN: TableColumn = { title: 'title', least: 12 };
const NOT_FOUND = '(not in the index)';

/** The title of a card; that its entity is not in the index; nothing without a card. */
export function cardCell(card: Card | undefined): string {
  if (card === undefined) return '';
  return card.missing === true ? NOT_FOUND : printable(card.title);
}

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
