import {
  type BuildContext,
  type Column,
  type Found,
  isKnown,
  type KeptEntities,
  type RetrieverComponent,
  type RetrieverInput,
  soon,
  Status,
} from 'millrace/api';
import type { By, Options } from './options.generated.js';
import { dot, VectorTable } from './vector-table.js';

const MOST_ENTITIES = 100_000;
/** Elements of all vectors: 150 MB. */
const MOST_ELEMENTS = MOST_ENTITIES * 384;

/** Finds the entities whose vectors are nearest to that of the request. */
export class Vectors implements RetrieverComponent {
  readonly outputs = { score: 'number' } as const;
  readonly notes: readonly string[];
  readonly #options: Options;
  readonly #kept: KeptEntities<KeptVectors>;

  constructor(options: Options, build: Pick<BuildContext, 'needEntities'>) {
    const { of, to, by, where } = options;
    const { size = 1 } = to;
    this.#options = options;
    this.#kept = build.needEntities({
      attributes: [{ path: of, kinds: ['vector'], option: ['of'], like: to }],
      where: where === undefined ? undefined : { text: where, option: ['where'] },
      most: Math.min(MOST_ENTITIES, Math.floor(MOST_ELEMENTS / size)),
      remedy: 'use `http_search` with an engine that has vectors',
      key: `vectors ${by}`,
      open: () => new KeptVectors(size, by),
    });
    this.notes = [`${by} of vectors of ${size}`];
  }

  async retrieve(input: RetrieverInput): Promise<Found> {
    const { to, by, most } = this.#options;
    const { table } = this.#kept.keeper();
    const { values, status } = input.column(to);
    if (status[0] === Status.failed) throw new Error(`\`${to.text}\` could not be read`);
    const target = isKnown(status[0]) ? directed(values.subarray(0, table.size), by) : undefined;
    if (target === undefined) return { ids: [], columns: {} };
    const hits = await soon(table.nearest(target, Math.min(most, input.most), this.#kept.filter(input)), () =>
      input.signal.throwIfAborted(),
    );
    const problem = this.#kept.lag();
    return {
      ids: hits.map(({ id }) => id),
      columns: { score: Float64Array.from(hits, ({ score }) => score) },
      ...(problem === undefined ? {} : { problem }),
    };
  }
}

/** The vectors of all entities, as long as the service runs. */
class KeptVectors {
  readonly table: VectorTable;

  constructor(
    size: number,
    private readonly by: By,
  ) {
    this.table = new VectorTable(size);
  }

  /** The number of entities that have a vector. */
  get size(): number {
    return this.table.count;
  }

  ids(): Iterable<string> {
    return this.table.entityIds();
  }

  put(id: string, [column]: readonly Column[]): undefined {
    const vector =
      column?.kind === 'vector' && isKnown(column.status[0])
        ? directed(column.values.subarray(0, this.table.size), this.by)
        : undefined;
    if (vector === undefined) this.table.remove(id);
    else this.table.put(id, vector);
  }

  remove(id: string): void {
    this.table.remove(id);
  }
}

/** What is compared: for the cosine, the vector with the length 1. Undefined for a vector of zeros, which has no direction. */
function directed(vector: Float32Array | Float64Array, by: By): Float64Array | undefined {
  if (by === 'dot') return Float64Array.from(vector);
  const length = Math.sqrt(dot(vector, 0, vector));
  return length === 0 ? undefined : Float64Array.from(vector, (element) => element / length);
}
