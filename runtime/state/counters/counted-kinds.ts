import type { CounterDefinition } from '../../project/config/model/counters.js';
import type { JsonValue } from '../../ground/api/types.js';
import { SeriesKind } from '../store/codec/counter-record.js';
import type { Addition } from './apply-touches.js';
import { hashOfValue } from './distinct.js';
import type { Generations } from './generations.js';
import { distinctSeries, positionClass, seriesOf, type Series } from './series.js';

/** An event, as far as counters read it. */
export interface CountedEvent {
  readonly event: string;
  readonly subject: { readonly type: string; readonly id: string };
  readonly owners: readonly { readonly type: string; readonly id: string }[];
  readonly quantity: number;
  readonly position: number | undefined;
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** What a kind of feedback adds to a counter: to the records of entities, and to the record of all entities. */
export interface KindOfCounter {
  readonly counter: CounterDefinition;
  readonly entity: readonly Series[];
  readonly all: readonly Series[];
}

/** The counters that each kind of feedback changes. */
export class CountedKinds {
  readonly #counters: ReadonlyMap<string, CounterDefinition>;
  readonly #generations: Generations;
  #version = -1;
  /** By time from which a generation counts, then by kind. */
  #serving: ReadonlyMap<string, readonly KindOfCounter[]> = new Map();
  #building: readonly {
    readonly from: number;
    readonly kinds: ReadonlyMap<string, readonly KindOfCounter[]>;
  }[] = [];

  constructor(counters: ReadonlyMap<string, CounterDefinition>, generations: Generations) {
    this.#counters = counters;
    this.#generations = generations;
  }

  has(event: string): boolean {
    return this.of(event, 0).length > 0;
  }

  /** @param arrived when the event arrived, epoch milliseconds */
  of(event: string, arrived: number): readonly KindOfCounter[] {
    if (this.#version !== this.#generations.version) this.#refresh();
    const serving = this.#serving.get(event) ?? [];
    if (this.#building.length === 0) return serving;
    const building = this.#building.filter(({ from }) => arrived >= from);
    return building.length === 0
      ? serving
      : [...serving, ...building.flatMap(({ kinds }) => kinds.get(event) ?? [])];
  }

  #refresh(): void {
    this.#version = this.#generations.version;
    const all = [...this.#counters.values()];
    this.#serving = kindsOf(all.map((counter) => [counter, this.#generations.servingOf(counter.name)]));
    this.#building = all.flatMap((counter) => {
      const { building } = this.#generations.of(counter.name);
      if (building === undefined) return [];
      return [{ from: building.from, kinds: kindsOf([[counter, building.generation]]) }];
    });
  }
}

/** @param counters each with its generation */
export function kindsOf(
  counters: readonly (readonly [CounterDefinition, number])[],
): Map<string, KindOfCounter[]> {
  const kinds = new Map<string, KindOfCounter[]>();
  for (const [counter, generation] of counters) {
    const { entity, all } = distinctSeries(seriesOf(counter, generation));
    for (const event of new Set([...entity, ...all].map((one) => one.event))) {
      const of = (series: readonly Series[]): Series[] => series.filter((one) => one.event === event);
      kinds.set(event, [...(kinds.get(event) ?? []), { counter, entity: of(entity), all: of(all) }]);
    }
  }
  return kinds;
}

/** What an event adds to series of its kind. An event without the value of a series adds nothing to it. */
export function additionsOf(series: readonly Series[], event: CountedEvent): Addition[] {
  const place = positionClass(event.position);
  const additions: Addition[] = [];
  for (const one of series) {
    if (one.place !== undefined && one.place !== place) continue;
    const amount = amountOf(one, event);
    if (amount !== undefined) additions.push({ series: one, amount });
  }
  return additions;
}

function amountOf({ value, kind }: Series, event: CountedEvent): number | undefined {
  if (value.kind === 'sum') {
    const found = value.of === 'quantity' ? event.quantity : event.values.get(value.of);
    return found === undefined ? undefined : Number(found);
  }
  if (kind !== SeriesKind.distinct || value.kind !== 'distinct') return 1;
  const text = textOf(value.of, event);
  return text === undefined ? undefined : hashOfValue(text);
}

/** The id of an entity of the event, or a value of it. */
function textOf(name: string, { subject, owners, values }: CountedEvent): string | undefined {
  const value = values.get(name);
  if (value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value);
  return subject.type === name ? subject.id : owners.find(({ type }) => type === name)?.id;
}
