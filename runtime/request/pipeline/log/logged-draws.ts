import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';
import type { Draws } from '../../ordering/explore/draws.js';

/**
 * The draws that a record holds, for a replay. Where the candidates without exploration are not those of the record,
 * nothing is drawn, so that the replay differs.
 * @returns undefined if no step explored
 */
export function loggedDraws(record: DecodedRecord): Draws | undefined {
  const [place, before] = [record.field('place'), record.field('place_before')];
  const propensity = record.field('propensity');
  if (place === undefined || before === undefined || propensity === undefined) return undefined;
  return () =>
    (_draw, { places, rows }) => {
      const order = new Int32Array(rows.length);
      for (const [index, row] of rows.entries()) {
        const at = places.indexOf(place.numberAt(row) - 1);
        if (before.numberAt(row) !== (places[index] ?? 0) + 1 || at < 0) return undefined;
        order[at] = index;
      }
      return {
        order,
        propensity: Float64Array.from(order, (index) => propensity.numberAt(rows[index] ?? 0)),
      };
    };
}
