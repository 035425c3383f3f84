import { Best, type EntityFilter, type Pieces } from 'millrace/api';

export interface Hit {
  readonly id: string;
  readonly score: number;
}

/** Elements of a block. A block is never moved, so the table grows without a copy that would hold the event loop. */
const BLOCK = 2 ** 19;
/** Elements that are compared between two yields: some tenths of a millisecond. */
const PIECE = 2 ** 17;

/** The vectors of entities, as float32. */
export class VectorTable {
  readonly #blocks: Float32Array[] = [];
  readonly #rowsPerBlock: number;
  /** By row; undefined for a free one. */
  readonly #ids: (string | undefined)[] = [];
  readonly #rows = new Map<string, number>();
  /** An entity never moves to another row, so a scan that goes on meanwhile does not miss it. */
  readonly #free: number[] = [];

  constructor(readonly size: number) {
    this.#rowsPerBlock = Math.max(1, Math.floor(BLOCK / size));
  }

  /** The number of vectors. */
  get count(): number {
    return this.#rows.size;
  }

  entityIds(): Iterable<string> {
    return this.#rows.keys();
  }

  put(id: string, vector: ArrayLike<number>): void {
    const row = this.#rows.get(id) ?? this.#free.pop() ?? this.#ids.length;
    const block = Math.floor(row / this.#rowsPerBlock);
    const elements = (this.#blocks[block] ??= new Float32Array(this.#rowsPerBlock * this.size));
    elements.set(vector, (row % this.#rowsPerBlock) * this.size);
    this.#ids[row] = id;
    this.#rows.set(id, row);
  }

  /** An id that the table does not have is ignored. */
  remove(id: string): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#rows.delete(id);
    this.#ids[row] = undefined;
    this.#free.push(row);
  }

  /**
   * The entities with the largest dot products, equal ones by id. An entity that changes between two pieces may be found as it was.
   * @param filter by default, all entities count
   */
  *nearest(target: Float64Array, most: number, filter?: EntityFilter): Pieces<readonly Hit[]> {
    // A row can get another entity between two pieces.
    const ids = this.#ids.slice();
    const scores = new Float64Array(ids.length);
    const order = (a: number, b: number): number => {
      const difference = (scores[b] as number) - (scores[a] as number);
      return difference === 0 ? ((ids[a] as string) < (ids[b] as string) ? -1 : 1) : difference;
    };
    const best = new Best(most, order, filter && ((all) => filter(all.map((row) => ids[row] as string))));
    const perPiece = Math.max(1, Math.floor(PIECE / this.size));
    for (let from = 0; from < ids.length; from += perPiece) {
      const end = Math.min(ids.length, from + perPiece);
      this.#compare(from, end, target, scores);
      for (let row = from; row < end; row++) if (ids[row] !== undefined) best.add(row);
      yield;
    }
    return best.sorted().map((row) => ({ id: ids[row] as string, score: scores[row] as number }));
  }

  #compare(from: number, end: number, target: Float64Array, scores: Float64Array): void {
    for (let row = from; row < end; row++) {
      const block = this.#blocks[Math.floor(row / this.#rowsPerBlock)] as Float32Array;
      scores[row] = dot(block, (row % this.#rowsPerBlock) * this.size, target);
    }
  }
}

/** Four sums at a time, because each addition waits for the one before. */
export function dot(
  block: Float32Array | Float64Array,
  from: number,
  target: Float32Array | Float64Array,
): number {
  const { length } = target;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < length; i += 4) {
    a += (block[from + i] as number) * (target[i] as number);
    b += (block[from + i + 1] as number) * (target[i + 1] as number);
    c += (block[from + i + 2] as number) * (target[i + 2] as number);
    d += (block[from + i + 3] as number) * (target[i + 3] as number);
  }
  for (; i < length; i++) a += (block[from + i] as number) * (target[i] as number);
  return a + b + (c + d);
}
