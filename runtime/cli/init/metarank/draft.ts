import { NAME_PATTERN } from '../../../api/types.js';
import type { MetarankEvents } from './events.js';

/** What became of one thing of the configuration. */
export interface Note {
  /** `features.ctr`, `state`. */
  readonly what: string;
  /** carried: it does the same; changed: it does nearly the same; to do: it needs work of the user; left out. */
  readonly state: 'carried' | 'changed' | 'to do' | 'left out';
  /** What it is now, or why it is left out. */
  readonly detail: string;
}

/** A step of a pipeline, as YAML. */
export interface Step {
  readonly use: string;
  readonly as?: string;
  readonly with: Readonly<Record<string, unknown>>;
}

/** Entity types whose events Metarank counts, and that every project has. */
export type CountedType = 'product' | 'user';

/** The counter of an entity type. */
export const counterOf = (type: CountedType): string =>
  type === 'product' ? 'item_counters' : 'user_counters';

/** A feature of a counter, as YAML. */
export type CountedFeature = Readonly<Record<string, unknown>>;

/** The parts of a project that grow while the features are mapped. */
export class Draft {
  readonly events: MetarankEvents | undefined;
  readonly notes: Note[] = [];
  /** Attributes by name, with their types. */
  readonly items: Map<string, string>;
  readonly users: Map<string, string>;
  readonly carried: Map<string, string>;
  readonly sent: Map<string, string>;
  /** The features of the counter of each entity type, by name. */
  readonly counters = new Map<CountedType, Map<string, CountedFeature>>();
  readonly kinds: Set<string>;
  /** Names that steps cannot have. */
  readonly #taken = new Set([
    'product',
    'user',
    'query',
    'request',
    'item_counters',
    'user_counters',
    'ltr',
    'score',
  ]);

  constructor(events: MetarankEvents | undefined) {
    this.events = events;
    const types = (list: MetarankEvents['items'] = []): Map<string, string> =>
      new Map(list.map(({ name, type }) => [name, type]));
    this.items = types(events?.items);
    this.users = types(events?.users);
    this.sent = types(events?.sent.filter(({ name }) => name !== 'query'));
    this.carried = types(events?.carried.filter(({ name }) => !this.items.has(name)));
    this.kinds = new Set(events?.kinds);
  }

  /** A name for a step, as near to a name of Metarank as is free. */
  step(text: string): string {
    let name = nameOf(text);
    while (this.#taken.has(name)) name += '_step';
    this.#taken.add(name);
    return name;
  }

  /** Declares a feature of a counter. @returns its path in expressions */
  counter(type: CountedType, text: string, definition: CountedFeature): string {
    const features = this.counters.get(type) ?? new Map<string, CountedFeature>();
    let name = nameOf(text);
    while (features.has(name)) name += '_too';
    this.counters.set(type, features.set(name, definition));
    return `${counterOf(type)}:${name}`;
  }

  /**
   * Declares the field of a feature, and returns its path in expressions.
   * @param source `item.price`, `metadata.price`, `user.age`, `ranking.query`
   * @param fits the types that the feature can use; the first is declared if the events do not show the field
   * @returns why it cannot be used, if it cannot
   */
  field(
    source: string,
    fits: readonly string[],
    isOfItem: boolean,
  ): { readonly path: string; readonly type: string } | { readonly problem: string } {
    const found = /^(item|metadata|user|ranking)\.(.+)$/.exec(source);
    if (found === null) return { problem: `its field ${source} is not of an item, a user or a ranking` };
    const [, owner = '', name = ''] = found;
    if (!NAME_PATTERN.test(name))
      return {
        problem: `the name ${name} is no name here; rename the field to lower-case letters, digits and _`,
      };
    if (owner === 'ranking' && name === 'query') return { path: 'query.query', type: 'string' };
    const [fields, path] = this.#place(owner, name, isOfItem);
    const known = fields.get(name);
    const [first = 'string'] = fits;
    if (known !== undefined && !fits.includes(known))
      return { problem: `the events have ${source} as ${known}, and the feature needs ${fits.join(' or ')}` };
    fields.set(name, known ?? first);
    return { path, type: known ?? first };
  }

  #place(owner: string, name: string, isOfItem: boolean): readonly [Map<string, string>, string] {
    if (owner === 'item' || owner === 'metadata')
      // An item of a ranking may carry what no item event has.
      return [this.carried.has(name) ? this.carried : this.items, `product.${name}`];
    if (owner === 'user') return [this.users, `user.${name}`];
    return isOfItem && !this.sent.has(name)
      ? [this.carried, `product.${name}`]
      : [this.sent, `request.${name}`];
  }
}

/** A name of Metarank as a name here: `CTR-30` becomes `ctr_30`. */
export function nameOf(text: string): string {
  const name = text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '');
  return NAME_PATTERN.test(name) ? name : 'unnamed';
}
