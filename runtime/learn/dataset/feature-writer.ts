import type { Cells } from '../../state/ledger/cells.js';
import type { AddedValues } from './as-of.js';
import type { Feature } from './features.js';
import { textOf } from './fields.js';
import type { MergedRows, PageRows } from './merge-pages.js';
import type { RankedRequest } from './ranked-requests.js';
import type { RowBatch } from './row-batch.js';
import type { Summaries } from './summaries.js';

/** Copies the logged values of rankings into the columns of a batch, and counts their statuses. */
export class FeatureWriter {
  readonly #features: readonly Feature[];
  readonly #summaries: Summaries;

  constructor(features: readonly Feature[], summaries: Summaries) {
    this.#features = features;
    this.#summaries = summaries;
  }

  /** Writes the features of a request behind the rows of a batch; its length stays. */
  write(request: RankedRequest, merged: MergedRows, added: AddedValues | undefined, batch: RowBatch): void {
    let addedNumber = 0;
    for (const [at, feature] of this.#features.entries()) {
      const values = batch.features[at];
      if (values === undefined) continue;
      if (feature.added !== undefined && added !== undefined) {
        this.#writeAdded(at, addedNumber, request, merged, added, batch);
        addedNumber += 1;
        continue;
      }
      for (const [page, rows] of merged.byPage.entries()) {
        if (rows.from.length === 0) continue;
        const logged = request.pages[page]?.value(feature.element?.of ?? feature.name);
        const cells = feature.element === undefined ? logged : elementCells(logged, feature.element.at);
        if (values instanceof Float64Array) this.#copyNumbers(at, cells, rows, values, batch.length);
        else this.#copyTexts(at, cells, rows, values, batch.length);
      }
    }
  }

  #copyNumbers(
    feature: number,
    cells: Cells | undefined,
    { from, to }: PageRows,
    values: Float64Array,
    start: number,
  ): void {
    const count = from.length;
    if (cells === undefined) {
      for (let at = 0; at < count; at++) values[start + (to[at] ?? 0)] = NaN;
      this.#summaries.countAll(feature, 'not_logged', count);
      return;
    }
    if (isOfRequest(cells, from)) {
      const value = cells.numberAt(0);
      for (let at = 0; at < count; at++) values[start + (to[at] ?? 0)] = value;
      this.#summaries.countAll(feature, cells.statusAt(0), count);
      return;
    }
    for (let at = 0; at < count; at++) values[start + (to[at] ?? 0)] = cells.numberAt(from[at] ?? 0);
    this.#summaries.count(feature, cells.status, from);
  }

  #copyTexts(
    feature: number,
    cells: Cells | undefined,
    { from, to }: PageRows,
    values: (string | undefined)[],
    start: number,
  ): void {
    const count = from.length;
    if (cells === undefined) {
      for (let at = 0; at < count; at++) values[start + (to[at] ?? 0)] = undefined;
      this.#summaries.countAll(feature, 'not_logged', count);
      return;
    }
    const ofRequest = isOfRequest(cells, from);
    const only = ofRequest ? textOf(cells) : undefined;
    for (let at = 0; at < count; at++) {
      const value = ofRequest ? only : cells.at(from[at] ?? 0);
      values[start + (to[at] ?? 0)] = typeof value === 'string' ? value : undefined;
    }
    if (ofRequest) this.#summaries.countAll(feature, cells.statusAt(0), count);
    else this.#summaries.count(feature, cells.status, from);
  }

  #writeAdded(
    feature: number,
    number: number,
    { indexes }: RankedRequest,
    merged: MergedRows,
    added: AddedValues,
    batch: RowBatch,
  ): void {
    const values = batch.features[feature];
    for (const [page, { from, to }] of merged.byPage.entries()) {
      const index = indexes[page] ?? 0;
      for (let at = 0; at < from.length; at++) {
        const cell = added.cell(number, index, from[at] ?? 0);
        const value = added.at(number, cell);
        const place = batch.length + (to[at] ?? 0);
        if (values instanceof Float64Array) values[place] = typeof value === 'number' ? value : NaN;
        else if (values !== undefined) values[place] = typeof value === 'string' ? value : undefined;
        this.#summaries.countAll(feature, added.statusAt(number, cell), 1);
      }
    }
  }
}

/** A column of vectors as the numbers of one element. */
function elementCells(cells: Cells | undefined, element: number): Cells | undefined {
  return cells && { ...cells, numberAt: (row) => cells.elementAt(row, element) };
}

/** True if a column has one value for the whole ranking. */
function isOfRequest(cells: Cells, rows: readonly number[]): boolean {
  return cells.length === 1 && rows.length > 0;
}
