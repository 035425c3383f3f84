import { Status } from '../../../ground/api/status.js';
import { EXPLORE_FIELDS } from '../../../state/ledger/experiment-columns.js';
import { writeFields } from '../../../state/ledger/fields.js';
import type { RecordWriter } from '../../../state/ledger/record-writer.js';
import type { Ranking } from '../../ordering/ranking.js';

/** What was drawn, by row, as the columns EXPLORE_FIELDS. It is reused from record to record. */
export class DrawColumns {
  #before = new Int32Array(0);
  #propensity = new Float64Array(0);
  #marginal = new Float64Array(0);
  #error = new Float64Array(0);
  #drawn = new Uint8Array(0);

  /**
   * @param ranking undefined: the request failed
   * @param places by row
   * @param count of the candidates
   * @param rows of the logged candidates; undefined: all
   */
  write(
    writer: RecordWriter,
    ranking: Ranking | undefined,
    places: Int32Array,
    count: number,
    rows: Int32Array | undefined,
  ): void {
    this.#reset(count);
    this.#before.set(places.subarray(0, count));
    const explored = ranking?.explored;
    if (explored !== undefined) {
      const { before, order, propensity, marginals } = explored;
      before.forEach((row, place) => (this.#before[row] = place + 1));
      order.forEach((row, place) => {
        const own = propensity[place] ?? NaN;
        if (Number.isNaN(own)) return;
        this.#drawn[row] = Status.present;
        this.#propensity[row] = own;
        this.#marginal[row] = marginals[place] ?? NaN;
      });
    }
    const statuses = this.#drawn;
    writeFields(writer, EXPLORE_FIELDS, {
      place_before: { values: this.#before, rows },
      propensity: { values: this.#propensity, statuses, rows },
      marginal: { values: this.#marginal, statuses, rows },
      marginal_error: { values: this.#error, statuses, rows },
    });
  }

  #reset(count: number): void {
    if (this.#drawn.length < count) {
      this.#before = new Int32Array(count);
      this.#propensity = new Float64Array(count);
      this.#marginal = new Float64Array(count);
      // The marginals are exact.
      this.#error = new Float64Array(count);
      this.#drawn = new Uint8Array(count);
    }
    this.#drawn.fill(Status.absent);
  }
}
