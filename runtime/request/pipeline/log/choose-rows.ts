import type { LogDefinition } from '../../../project/config/model/pipelines.js';
import { murmur3 } from '../../../ground/core/murmur3.js';
import { Random } from '../../../ground/core/random.js';

/** The candidates of a record. */
export interface ChosenRows {
  readonly count: number;
  /** Their rows in the frame, ascending; undefined if it has all. */
  readonly rows: Int32Array | undefined;
  /** The weight of each that is not on the page: how many candidates it stands for. */
  readonly weight: number;
}

/**
 * Chooses the candidates of a record: all, or those of the page and a uniform sample of the others. The same request has
 * the same sample again.
 * @param sent how many candidates the request has
 * @param onPage by row: 1 if the candidate is on the page
 * @param paged how many candidates are on the page
 */
export function chooseRows(
  { candidates, sample }: Pick<LogDefinition, 'candidates' | 'sample'>,
  requestId: string,
  sent: number,
  onPage: Uint8Array,
  paged: number,
): ChosenRows {
  const others = sent - paged;
  const taken = candidates === 'all' ? others : Math.min(sample, others);
  if (taken === others) return { count: sent, rows: undefined, weight: 1 };
  const rows = new Int32Array(paged + taken);
  const random = taken === 0 ? undefined : new Random(murmur3(Buffer.from(requestId)));
  // Selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S).
  let count = 0;
  let wanted = taken;
  let rest = others;
  for (let row = 0; row < sent && count < rows.length; row++) {
    if (onPage[row] === 1) rows[count++] = row;
    else if (random !== undefined && random.next() * rest-- < wanted) {
      rows[count++] = row;
      wanted--;
    }
  }
  return { count, rows, weight: taken === 0 ? 1 : others / taken };
}
