import type { JsonObject } from '../../ground/api/types.js';
import { Random } from '../../ground/core/random.js';
import type { DataTarget } from '../load/target.js';

/** Entities of the index, chosen at random with equal chances. */
export interface IndexSample {
  readonly rows: readonly JsonObject[];
  /** The number of entities of the type in the index. */
  readonly of: number;
}

const SEED = 1;

/**
 * Reads all entities of a type and keeps at most `most` of them, so its memory does not grow with the index.
 * Source: Vitter, "Random sampling with a reservoir", ACM TOMS 11, 1985, algorithm R.
 * @param seen called after each page with the number of entities so far
 * @throws MillraceError as `scanEntities`
 */
export async function sampleIndex(
  target: Pick<DataTarget, 'scanEntities'>,
  type: string,
  most: number,
  seen: (count: number) => void,
): Promise<IndexSample> {
  const random = new Random(SEED);
  const rows: JsonObject[] = [];
  let of = 0;
  let cursor: string | undefined;
  do {
    const page = await target.scanEntities(type, cursor);
    for (const record of page.records) {
      of++;
      if (rows.length < most) rows.push(record);
      else {
        const place = random.between(0, of - 1);
        if (place < most) rows[place] = record;
      }
    }
    ({ cursor } = page);
    seen(of);
  } while (cursor !== undefined);
  return { rows, of };
}
