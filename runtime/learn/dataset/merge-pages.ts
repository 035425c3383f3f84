import type { DecodedRecord } from '../../state/ledger/record-decoder.js';

/** Which rows of a page go to which rows of the request. */
export interface PageRows {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** The rows of a request, in the order of their places. */
export interface MergedRows {
  readonly length: number;
  readonly ids: readonly string[];
  readonly place: Int32Array;
  readonly weight: Float64Array;
  readonly onPage: Uint8Array;
  readonly byPage: readonly PageRows[];
  /** The row of a candidate. */
  rowOf(id: string): number | undefined;
}

interface Row {
  readonly id: string;
  readonly page: number;
  readonly row: number;
  readonly place: number;
  readonly sent: number;
  readonly weight: number;
  readonly onPage: boolean;
}

/**
 * Merges the pages of a request into one list with each candidate once. A row that was on a page wins over one that was
 * not, otherwise the first wins. Of a later page, a sampled row that was not on it is left out: the sample of the first
 * page already stands for all of these. Removed candidates are no rows.
 * @param pages in the order of their times
 */
export function mergePages(pages: readonly DecodedRecord[]): MergedRows {
  const [only] = pages;
  return (pages.length === 1 && only !== undefined ? inOrder(only) : undefined) ?? merged(pages);
}

/** The rows of a single page that are in the order of their places already, as most are; undefined for any other. */
function inOrder(record: DecodedRecord): MergedRows | undefined {
  const count = record.rows.candidate;
  const places = record.field('place');
  const candidates = record.field('candidate_id');
  const weights = record.field('weight');
  const shown = record.field('on_page');
  const ids: string[] = [];
  const rows = new Map<string, number>();
  const place = new Int32Array(count);
  const weight = new Float64Array(count);
  const onPage = new Uint8Array(count);
  const from: number[] = [];
  for (let row = 0; row < count; row++) {
    const id = candidates?.at(row);
    const own = places?.numberAt(row) ?? NaN;
    if (typeof id !== 'string' || !(own > (row === 0 ? 0 : (place[row - 1] ?? 0)))) return undefined;
    ids.push(id);
    rows.set(id, row);
    place[row] = own;
    weight[row] = weights?.numberAt(row) ?? 1;
    onPage[row] = shown === undefined || shown.numberAt(row) === 1 ? 1 : 0;
    from.push(row);
  }
  if (rows.size < count) return undefined;
  return {
    length: count,
    ids,
    place,
    weight,
    onPage,
    byPage: [{ from, to: from }],
    rowOf: (id) => rows.get(id),
  };
}

function merged(pages: readonly DecodedRecord[]): MergedRows {
  const slots = new Map<string, number>();
  const rows: Row[] = [];
  for (const [page, record] of pages.entries()) {
    const ids = record.field('candidate_id');
    const places = record.field('place');
    const sent = record.field('sent_at');
    const weights = record.field('weight');
    const shown = record.field('on_page');
    for (let row = 0; row < record.rows.candidate; row++) {
      const place = places?.numberAt(row) ?? NaN;
      const id = ids?.at(row);
      if (!(place > 0) || typeof id !== 'string') continue;
      const onPage = shown === undefined || shown.numberAt(row) === 1;
      const weight = weights?.numberAt(row) ?? 1;
      const slot = slots.get(id);
      const found = { id, page, row, place, sent: sent?.numberAt(row) ?? row, weight, onPage };
      if (slot === undefined) {
        if (page > 0 && !onPage && weight !== 1) continue;
        slots.set(id, rows.push(found) - 1);
      } else if (onPage && rows[slot]?.onPage === false) rows[slot] = found;
    }
  }
  rows.sort((a, b) => a.place - b.place || a.page - b.page || a.sent - b.sent || a.row - b.row);
  return new Merged(rows, pages.length);
}

class Merged implements MergedRows {
  readonly length: number;
  readonly ids: readonly string[];
  readonly place: Int32Array;
  readonly weight: Float64Array;
  readonly onPage: Uint8Array;
  readonly byPage: readonly PageRows[];
  readonly #rows: ReadonlyMap<string, number>;

  constructor(rows: readonly Row[], pages: number) {
    this.length = rows.length;
    this.ids = rows.map(({ id }) => id);
    this.place = Int32Array.from(rows, ({ place }) => place);
    this.weight = Float64Array.from(rows, ({ weight }) => weight);
    this.onPage = Uint8Array.from(rows, ({ onPage }) => (onPage ? 1 : 0));
    this.#rows = new Map(this.ids.map((id, at) => [id, at]));
    const byPage = Array.from({ length: pages }, () => ({ from: [] as number[], to: [] as number[] }));
    for (const [to, { page, row }] of rows.entries()) {
      byPage[page]?.from.push(row);
      byPage[page]?.to.push(to);
    }
    this.byPage = byPage;
  }

  rowOf(id: string): number | undefined {
    return this.#rows.get(id);
  }
}
