import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { numberOf, textOf } from './fields.js';

/** The ranking records of one request, in the order of their times. */
export interface RankedRequest {
  readonly id: string;
  readonly pages: readonly DecodedRecord[];
  /** The place of each page among the records of the partition. */
  readonly indexes: readonly number[];
  /** Of the first page, in epoch milliseconds. */
  readonly time: number;
}

/** Groups the records of a partition by request, in the order of time. */
export function requestsOf(records: readonly DecodedRecord[]): readonly RankedRequest[] {
  const groups = new Map<string, { record: DecodedRecord; index: number; time: number }[]>();
  for (const [index, record] of records.entries()) {
    const id = textOf(record.field('request_id')) ?? '';
    const page = { record, index, time: numberOf(record.field('time')) };
    const known = groups.get(id);
    if (known === undefined) groups.set(id, [page]);
    else known.push(page);
  }
  const requests: RankedRequest[] = [];
  for (const [id, pages] of groups) {
    if (pages.length > 1)
      pages.sort(
        (a, b) =>
          a.time - b.time ||
          compare(a.record.instance, b.record.instance) ||
          a.record.sequence - b.record.sequence,
      );
    requests.push({
      id,
      pages: pages.map(({ record }) => record),
      indexes: pages.map(({ index }) => index),
      time: pages[0]?.time ?? NaN,
    });
  }
  return requests.sort((a, b) => a.time - b.time || compare(a.id, b.id));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
