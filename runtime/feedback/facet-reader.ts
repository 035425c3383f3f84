import type { JsonObject } from '../api/types.js';
import { isKnown, Status } from '../api/status.js';
import { HydrationBuilder } from '../compile/hydration-builder.js';
import { levelsOf } from '../compile/levels.js';
import type { EntityType } from '../config/project/model.js';
import { FrameLayout } from '../frame/frame-layout.js';
import { FramePool } from '../frame/pool.js';
import { hydrate, type HydrationPlan } from '../pipeline/hydrate/hydrate.js';
import type { ReadServices } from '../pipeline/hydrate/read-services.js';
import { MAX_ID_LENGTH } from '../core/ids.js';
import type { TrackedFacet } from '../compile/tracked-facet.js';

/** What feedback says of an entity: its id, and attributes that win over those of the index. */
export interface Subject {
  readonly id: string;
  readonly carried: JsonObject;
}

/** Values of subjects, by facet, then by position. */
export type SubjectValues = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Finds the values of facets for entities of one type, as a ranking fills its candidates. */
export class FacetReader {
  readonly #plan: HydrationPlan;
  readonly #frames: FramePool;
  /** Column of each facet. */
  readonly #slots: ReadonlyMap<string, number>;

  constructor(
    subject: string,
    facets: Iterable<TrackedFacet>,
    entities: ReadonlyMap<string, EntityType>,
    prefix: string,
  ) {
    const layout = new FrameLayout();
    const request = { candidates: new Map<never, never>(), fields: new Map<never, never>() };
    const builder = new HydrationBuilder({ candidateType: { value: subject }, request }, entities, layout);
    const slots = new Map<string, number>();
    for (const { name, segments } of facets) {
      const path = builder.resolve(segments);
      if ('problem' in path) throw new Error(`${name} was a path when its pipeline was compiled`);
      slots.set(name, builder.want(path).slot);
    }
    const nodes = builder.build(prefix);
    this.#slots = slots;
    this.#plan = { nodes, entities, prefix, levels: levelsOf(nodes, [], []) };
    this.#frames = new FramePool(layout);
  }

  /**
   * Reads what is indexed of the subjects, in a round trip a level; what the batch was asked for before comes along.
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

/** A longer text is no name of anything. */
const countable = (texts: readonly string[]): readonly string[] =>
  texts.filter((text) => text !== '' && text.length <= MAX_ID_LENGTH);
