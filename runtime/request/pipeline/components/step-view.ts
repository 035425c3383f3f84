import type { CuratedRule, CurationInput } from '../../../ground/api/curation.js';
import { CurationBinding } from '../../../state/curation/curation-binding.js';
import type { Column, ColumnKind, ColumnOf } from '../../../ground/api/columns.js';
import type { EntityIdentifier, Identifier } from '../../../ground/api/identifiers.js';
import type { InteractionEvents, InteractionsInput } from '../../../ground/api/interactions.js';
import type { ComponentEvent, FeatureValue, StepInput } from '../../../ground/api/step-input.js';
import type { JsonObject } from '../../../ground/api/types.js';
import type { Input } from '../../../ground/api/input.js';
import { defaultedCause, isKnown, Status, statusName, statusAt } from '../../../ground/api/status.js';
import { columnValue } from '../../../ground/sdk/column-value.js';
import type { NeededFeature, PlannedStep } from '../../compile/plan.js';
import type { Deadline } from '../../../ground/core/deadline.js';
import { idsText } from '../../../ground/core/ids.js';
import { keyedRandom } from '../../../ground/core/keyed-random.js';
import { copyColumn } from '../../../language/frame/copy-column.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { TraceSpan } from '../../../project/tracing/trace-span.js';
import { noEvents } from '../../../state/store/codec/history-record.js';
import type { Ranking } from '../../ordering/ranking.js';

/** The most events that the components of a request can emit. */
const MOST_EVENTS = 1000;

/**
 * A step's view of the frame: its columns, and the cells of one candidate at a time. Plugins that ship with Millrace get the
 * columns of the frame, which other steps and requests read too. Other plugins get copies, so that they cannot change them.
 */
export class StepView implements StepInput {
  #rowsByKey: Map<NeededFeature, Map<string, number>> | undefined;
  readonly #step: PlannedStep;
  readonly #frame: Frame;
  readonly #ranking: Ranking;
  readonly #deadline: Deadline;
  /** By slot. Undefined for a plugin that ships with Millrace. */
  readonly #copies: Map<number, Column> | undefined;
  readonly rows: Int32Array;
  #random: (() => number) | undefined;

  constructor(
    step: PlannedStep,
    frame: Frame,
    rows: Int32Array,
    ranking: Ranking,
    deadline: Deadline,
    readonly trace: TraceSpan | undefined,
  ) {
    this.#step = step;
    this.#frame = frame;
    this.#ranking = ranking;
    this.#deadline = deadline;
    this.#copies = step.isShipped ? undefined : new Map();
    this.rows = step.isShipped ? rows : rows.slice();
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  get count(): number {
    return this.#frame.count;
  }

  get now(): number {
    return this.#frame.now;
  }

  get requestId(): string {
    return this.#frame.requestId;
  }

  random(): number {
    const { requestId, salt } = this.#frame;
    // Not the draws of places, which have the name of the step too.
    this.#random ??= keyedRandom(salt, JSON.stringify([requestId, this.#step.as, 'step']));
    return this.#random();
  }

  column<K extends ColumnKind>(input: Input<K>): ColumnOf<K> {
    const { slot } = input;
    const column = this.#frame.columns[slot] as Column;
    const copies = this.#copies;
    if (copies === undefined) return column as ColumnOf<K>;
    const use = `${this.#step.number}:${slot}`;
    const copy =
      copies.get(slot) ??
      copyColumn(column, this.count, (values, length) => this.#frame.spare(use, values, length));
    copies.set(slot, copy);
    return copy as ColumnOf<K>;
  }

  candidate(row: number): EntityIdentifier {
    return this.#ranking.candidate(row);
  }

  emit({ row, data }: ComponentEvent): void {
    const { emitted, count } = this.#frame;
    if (row !== undefined && !(Number.isInteger(row) && row >= 0 && row < count))
      throw new RangeError(`the request has no candidate in row ${row}`);
    if (emitted.length >= MOST_EVENTS)
      throw new RangeError(`the components of a request can emit ${MOST_EVENTS} events`);
    // A copy: the component may change its object later, and what is no JSON fails here.
    emitted.push({
      ...(row === undefined ? {} : { row }),
      data: JSON.parse(JSON.stringify(data)) as JsonObject,
    });
  }

  interactions({ history, ids, facet }: InteractionsInput): InteractionEvents {
    const events = this.#frame.histories[history];
    if (events === null) return noEvents(Status.present);
    if (events !== undefined) {
      const found = events.of(facet, this.#frame.eventsSince);
      return this.#copies === undefined ? found : structuredClone(found);
    }
    const status = this.#frame.columns[ids]?.status[0] ?? Status.absent;
    return noEvents(isKnown(status) ? Status.absent : status);
  }

  curated(input: CurationInput): readonly CuratedRule[] {
    if (!(input instanceof CurationBinding)) throw new Error('call build.needCuration in create');
    return input.match(this.#frame);
  }

  getFeature(identifier: Identifier, name: string): FeatureValue {
    const needed = this.#step.needs.get(name);
    if (needed === undefined) {
      throw new Error(
        `${this.#step.use} reads ${name} without needing it: call build.need('${name}') in create`,
      );
    }
    const parts: readonly EntityIdentifier[] = isComposite(identifier) ? identifier : [identifier];
    const row = this.#rowOf(needed, parts);
    if (row === undefined) return { value: undefined, status: 'missing_entity' };
    return readCell(this.#frame, needed.slot, row);
  }

  /** The first row whose key is the identifier. If the key has other types, the row of the identified candidate. */
  #rowOf(needed: NeededFeature, parts: readonly EntityIdentifier[]): number | undefined {
    const fits =
      parts.length === needed.types.length && parts.every((part, i) => part.type === needed.types[i]);
    if (fits) return this.#keyed(needed).get(idsText(parts.map((part) => part.id)));
    const [only] = parts;
    if (parts.length === 1 && only !== undefined && only.type === this.#ranking.candidateType) {
      return this.#ranking.rowOf(only.id);
    }
    return undefined;
  }

  #keyed(needed: NeededFeature): Map<string, number> {
    const known = this.#rowsByKey?.get(needed);
    if (known !== undefined) return known;
    const rows = new Map<string, number>();
    const columns = needed.ids.map((slot) => this.#frame.text(slot));
    const count = needed.scope === 'candidate' ? this.#frame.count : 1;
    for (let row = 0; row < count; row++) {
      const key = idsText(columns.map((column) => column.values[row * column.stride] ?? ''));
      if (!rows.has(key)) rows.set(key, row);
    }
    (this.#rowsByKey ??= new Map<NeededFeature, Map<string, number>>()).set(needed, rows);
    return rows;
  }
}

function isComposite(identifier: Identifier): identifier is readonly EntityIdentifier[] {
  return Array.isArray(identifier);
}

/** The value and the status of a cell. */
export function readCell(frame: Frame, slot: number, row: number): FeatureValue {
  const column = frame.columns[slot];
  if (column === undefined) return { value: undefined, status: 'absent' };
  const at = row * column.stride;
  const byte = statusAt(column.status, at);
  const status = statusName(byte);
  if (!isKnown(byte)) return { value: undefined, status };
  const cause = defaultedCause(byte);
  const value = columnValue(column, at);
  return cause === undefined ? { value, status } : { value, status, cause };
}
