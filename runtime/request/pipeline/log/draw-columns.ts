import { Status } from '../../../ground/api/status.js';
import type { RecordWriter } from '../../../state/ledger/record-writer.js';
import type { Ranking } from '../components/ranking.js';

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
    writer.int32(this.#before, undefined, rows);
    writer.float64(this.#propensity, this.#drawn, rows);
    writer.float64(this.#marginal, this.#drawn, rows);
    writer.float64(this.#error, this.#drawn, rows);
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
