import type { JsonObject } from '../../ground/api/types.js';
import { isKnown, Status } from '../../ground/api/status.js';
import { HydrationBuilder } from '../../request/compile/hydration-builder.js';
import { levelsOf } from '../../request/compile/levels.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { FrameLayout } from '../../language/frame/frame-layout.js';
import { FramePool } from '../../language/frame/pool.js';
import { hydrate, type HydrationPlan } from '../../request/pipeline/hydrate/hydrate.js';
import type { ReadServices } from '../../request/pipeline/hydrate/read-services.js';
import { MAX_ID_LENGTH } from '../../ground/core/ids.js';
import type { TrackedFacet } from '../../request/compile/tracked-facet.js';

/** An entity that an event is about: its id, and the attributes in the body, which override the index. */
export interface Subject {
  readonly id: string;
  readonly carried: JsonObject;
}

/** The values of entities, by facet, then by position. */
export type SubjectValues = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Finds the facet values of entities of one type in the same way as a ranking hydrates candidates. */
export class FacetReader {
  readonly #plan: HydrationPlan;
  readonly #frames: FramePool;
  /** By facet: the slot of its column. */
  readonly #slots: ReadonlyMap<string, number>;

  constructor(
    subject: string,
    facets: Iterable<Pick<TrackedFacet, 'name' | 'segments'>>,
    entities: ReadonlyMap<string, EntityType>,
    prefix: string,
  ) {
    const layout = new FrameLayout();
    const request = { candidates: new Map<never, never>(), fields: new Map<never, never>() };
    const builder = new HydrationBuilder({ candidateType: { value: subject }, request }, entities, layout);
    const slots = new Map<string, number>();
    for (const { name, segments } of facets) {
      const path = builder.resolve(segments);
      if ('problem' in path)
        throw new Error(`${name} does not resolve to a path, although its pipeline was compiled`);
      slots.set(name, builder.want(path).slot);
    }
    const nodes = builder.build(prefix);
    this.#slots = slots;
    this.#plan = { nodes, entities, prefix, levels: levelsOf(nodes, [], []) };
    this.#frames = new FramePool(layout);
  }

  /**
   * Reads the indexed attributes of the entities, with one round trip for each level. Keys already added to the batch
   * are read in the first one.
   * @throws MillraceError store_unavailable, deadline_exceeded
   */
  async read(subjects: readonly Subject[], services: ReadServices, now: number): Promise<SubjectValues> {
    const frame = this.#frames.acquire(subjects.length, now);
    for (const { ids, parent, scope } of this.#plan.nodes) {
      if (parent !== undefined || scope !== 'candidate') continue;
      const column = frame.text(ids);
      subjects.forEach(({ id }, row) => {
        column.values[row] = id;
        column.status[row] = Status.present;
      });
    }
    const [root] = this.#plan.nodes;
    const carried = new Map([[root?.name ?? '', subjects.map((subject) => subject.carried)]]);
    await hydrate(this.#plan, frame, { carried }, services);
    const values = new Map<string, readonly (readonly string[])[]>();
    for (const [name, slot] of this.#slots) {
      const column = frame.columns[slot];
      values.set(
        name,
        subjects.map((_, row): readonly string[] => {
          if (column === undefined || !isKnown(column.status[row])) return [];
          if (column.kind === 'text') return countable([column.values[row] ?? '']);
          if (column.kind !== 'texts') return [];
          return countable(column.values.slice(column.offsets[row], column.offsets[row + 1]));
        }),
      );
    }
    this.#frames.release(frame);
    return values;
  }
}

/** Drops empty texts, and texts that are too long to be an id. */
const countable = (texts: readonly string[]): readonly string[] =>
  texts.filter((text) => text !== '' && text.length <= MAX_ID_LENGTH);
