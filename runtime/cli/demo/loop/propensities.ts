import { PAGE, type Visit } from './shoppers.js';

/**
 * How much less shoppers look at the places further down, from pages in a random order: there, the products of all places
 * are equally good, so a place with half the clicks is looked at half as often.
 * Source: Joachims, Swaminathan and Schnabel, "Unbiased learning-to-rank with biased feedback", WSDM 2017, section 5.1.
 */
export class RandomPages {
  readonly #clicks = new Array<number>(PAGE).fill(0);
  pages = 0;

  add({ clicked }: Visit): void {
    this.pages += 1;
    for (const { place } of clicked) this.#clicks[place - 1] = (this.#clicks[place - 1] ?? 0) + 1;
  }

  /** By place, relative to the first. A place further down is not looked at more often than one above it. */
  propensities(): readonly number[] {
    const falling = fallingMeans(this.#clicks);
    const first = falling[0] ?? 0;
    return falling.map((clicks) => (first === 0 ? 1 : Math.max(0.01, Number((clicks / first).toFixed(3)))));
  }
}

/**
 * The closest numbers that do not rise: neighbours in the wrong order take their mean.
 * Source: the pool adjacent violators algorithm, Ayer et al., Annals of Mathematical Statistics 1955.
 */
function fallingMeans(values: readonly number[]): number[] {
  const blocks: { sum: number; size: number }[] = [];
  for (const value of values) {
    let block = { sum: value, size: 1 };
    for (let above = blocks.at(-1); above !== undefined; above = blocks.at(-1)) {
      if (above.sum / above.size >= block.sum / block.size) break;
      blocks.pop();
      block = { sum: above.sum + block.sum, size: above.size + block.size };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ sum, size }) => new Array<number>(size).fill(sum / size));
}
