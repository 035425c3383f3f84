import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { MetarankEvents } from './events.js';

/** In the order of the report. */
export const NOTE_STATES = ['to do', 'changed', 'left out', 'carried'] as const;

/** What became of one thing of the configuration. */
export interface Note {
  /** `features.ctr`, `state`. */
  readonly what: string;
  /** carried: it does the same; changed: it does nearly the same; to do: it needs work of the user; left out. */
  readonly state: (typeof NOTE_STATES)[number];
  /** What it is now, or why it is left out. */
  readonly detail: string;
}

/** A step of a pipeline, as YAML. */
export interface Step {
  readonly use: string;
  readonly as?: string;
  readonly with: Readonly<Record<string, unknown>>;
}

/** A live counter, as YAML. */
interface DraftCounter {
  readonly of: readonly string[];
  readonly features: Map<string, Readonly<Record<string, unknown>>>;
}

/** The parts of a project that grow while the features are mapped. */
export class Draft {
  readonly events: MetarankEvents | undefined;
  readonly notes: Note[] = [];
  /** Attributes by name, with their types. */
  readonly items: Map<string, string>;
  readonly users: Map<string, string>;
  readonly carried: Map<string, string>;
  readonly sent: Map<string, string>;
  readonly counters = new Map<string, DraftCounter>();
  readonly kinds: Set<string>;
  /** Names that steps cannot have. */
  readonly #taken = new Set([
    ...['product', 'user', 'query', 'request', 'ltr', 'score'],
    ...['item_counters', 'user_counters', 'query_counters'],
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

  /** Declares a feature of a counter. @returns its name, which is free in the counter */
  count(
    counter: string,
    of: readonly string[],
    text: string,
    feature: Readonly<Record<string, unknown>>,
  ): string {
    const declared = this.counters.get(counter) ?? { of, features: new Map() };
    let name = nameOf(text);
    while (declared.features.has(name)) name += '_too';
    declared.features.set(name, feature);
    this.counters.set(counter, declared);
    return name;
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
