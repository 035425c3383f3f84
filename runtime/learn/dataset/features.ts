import type { RecordColumn, RecordSchema } from '../../state/ledger/record-schema.js';
import type { TodaysValues } from './import/todays-values.js';
import type { AddedFeature } from './options.js';

export type FeatureType = 'number' | 'text';

/** A feature of a data set: a logged value, or a feature of a view's history. */
export interface Feature {
  readonly name: string;
  /** The name of its column. It differs from `name` if that is one of the data set's own columns. */
  readonly column: string;
  readonly type: FeatureType;
  /** `request`: one value for all rows of a request. */
  readonly scope: 'request' | 'candidate';
  readonly added?: AddedFeature;
  /** For an element of a logged vector: the vector, and the number of the element from 0. */
  readonly element?: { readonly of: string; readonly at: number };
}

/** A logged value that is no column of a data set. */
export interface LeftOut {
  readonly name: string;
  readonly type: string;
  readonly reason: string;
  /** What it depends on that an import knew only as of today. */
  readonly today?: readonly string[];
}

/** The columns of every data set, before those of the features. */
export const OWN_COLUMNS = [
  'request_id',
  'time',
  'candidate_id',
  'place',
  'label',
  'weight',
  'examined',
] as const;

/**
 * The features of the rankings of one pipeline, in the order in which they are first seen. Different versions of the
 * pipeline log different features; a data set has all of them.
 */
export class FeatureTable {
  readonly #types = new Map<string, Set<FeatureType | undefined>>();
  readonly #found = new Map<string, { scope: Feature['scope']; type: string }>();
  /** The sizes of vectors, by name. */
  readonly #sizes = new Map<string, Set<number>>();
  /** By value: what it depends on that an import knew only as of today. */
  readonly #todays = new Map<string, Set<string>>();
  /** Whether some features have values of the time of an import. */
  isOfToday = false;

  /** Adds the values of a schema of rankings. */
  add(schema: RecordSchema): void {
    for (const [name, inputs] of Object.entries((schema.meta.today ?? {}) as TodaysValues))
      this.#todays.set(name, new Set([...(this.#todays.get(name) ?? []), ...inputs]));
    for (const column of schema.columns) {
      if (column.is !== 'value' || column.rows === 'change') continue;
      const types = this.#types.get(column.name) ?? new Set();
      types.add(featureType(column));
      this.#types.set(column.name, types);
      if (column.type === 'vector')
        this.#sizes.set(column.name, (this.#sizes.get(column.name) ?? new Set()).add(column.size ?? 1));
      const before = this.#found.get(column.name);
      const scope = column.rows === 'candidate' || before?.scope === 'candidate' ? 'candidate' : 'request';
      this.#found.set(column.name, { scope, type: before?.type ?? column.type });
    }
  }

  /** @param today what may be as of today: names of attributes or features, what they belong to, or `all` */
  features(today: ReadonlySet<string>): {
    readonly features: readonly Feature[];
    readonly leftOut: readonly LeftOut[];
  } {
    const features: Feature[] = [];
    const leftOut: LeftOut[] = [];
    const isAllowed = (input: string): boolean =>
      today.has('all') || today.has(input) || today.has(input.replace(/[.:].*/, ''));
    for (const [name, { scope, type }] of this.#found) {
      const late = [...(this.#todays.get(name) ?? [])].filter((input) => !isAllowed(input));
      if (late.length > 0) {
        leftOut.push({
          name,
          type,
          reason: `an import knew ${late.join(', ')} only as of today`,
          today: late,
        });
        continue;
      }
      this.isOfToday ||= this.#todays.has(name);
      const [only, another] = this.#types.get(name) ?? [];
      if (this.#types.get(name)?.size === 1 && only !== undefined && another === undefined)
        features.push({ name, column: columnOf(name), type: only, scope });
      else if (this.#types.get(name)?.size === 1 && this.#sizes.get(name)?.size === 1) {
        const [size = 0] = this.#sizes.get(name) ?? [];
        for (let at = 0; at < size; at++) {
          const element = `${name}[${at}]`;
          features.push({ name: element, column: element, type: 'number', scope, element: { of: name, at } });
        }
      } else {
        const reason =
          this.#types.get(name)?.size === 1 ? 'lists are not columns' : 'its type differs between versions';
        leftOut.push({ name, type, reason });
      }
    }
    return { features, leftOut };
  }
}

/** The name of a feature's column. */
export function columnOf(name: string): string {
  return (OWN_COLUMNS as readonly string[]).includes(name) ? `feature:${name}` : name;
}

/** The type of a value as a feature; undefined for lists, and for vectors, whose elements are features. */
export function featureType({ type }: Pick<RecordColumn, 'type'>): FeatureType | undefined {
  switch (type) {
    case 'text':
      return 'text';
    case 'texts':
    case 'numbers':
    case 'vector':
      return undefined;
    default:
      return 'number';
  }
}
