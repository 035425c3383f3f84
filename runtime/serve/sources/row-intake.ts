import type { SourceMessage } from '../../ground/api/source.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { isReadyMap } from '../../project/config/project/ready-maps.js';
import { entityReader } from '../../project/foreign/entity-reader.js';
import { fittedEntity } from '../../project/foreign/fitted-entity.js';
import type { EventOutput, ForeignEvent, RowReader } from '../../project/foreign/foreign-event.js';
import { readyReader } from '../../project/foreign/ready-logs.js';
import { inBackground } from '../../ground/core/background.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { storedId } from '../../ground/core/entity-id.js';
import { idText } from '../../ground/core/ids.js';
import { sendBatch, type Sent } from '../../state/index/send-batch.js';
import type {
  Intake,
  IntakeProject,
  MappedSource,
  Outcome,
  SourceRow,
  SourceTarget,
  Stored,
  WritePace,
} from './intake.js';
import { isFinal, Outcomes, unreadable } from './refusals.js';
import { readMessage } from './read-message.js';

/** Rows and bytes of one body. */
const MOST_ROWS = 250;
const MOST_BYTES = 4 * 2 ** 20;

type Definition = Pick<MappedSource, 'into' | 'merge' | 'map' | 'about'>;
/** What rows are stored with. */
type RowTarget = Pick<SourceTarget, 'push' | 'update' | 'upload'>;

/** A row, and the entity type or view that it belongs to. */
interface NamedRow {
  readonly name: string;
  readonly row: SourceRow;
}

/** Stores messages as whole entities, or as rows of feature views. */
export class RowIntake implements Intake {
  readonly outcomes: readonly Outcome[];
  readonly #into: Definition['into'];
  readonly #reader: RowReader | undefined;
  readonly #map: MappedSource['map'];
  readonly #project: IntakeProject;
  readonly #target: RowTarget;
  readonly #merge: Definition['merge'];

  constructor({ into, merge, map, about }: Definition, project: IntakeProject, target: RowTarget) {
    this.#into = into;
    this.#merge = merge;
    this.#project = project;
    this.#target = target;
    this.#map = map;
    this.#reader =
      map === undefined
        ? undefined
        : typeof map === 'string'
          ? isReadyMap(map)
            ? readyReader(map, about)
            : undefined
          : entityReader({ files: [], into: 'entities', map: map as Readonly<Record<string, string>> });
    this.outcomes =
      into.kind === 'features'
        ? ['stored', 'older', 'expired', 'skipped', 'rejected']
        : ['stored', 'skipped', 'rejected'];
  }

  /** Rows are stored in the order of the messages, so that the last row of an entity stays. */
  async store(messages: readonly SourceMessage[], pace: WritePace): Promise<Stored> {
    const outcomes = new Outcomes();
    let group: string | undefined;
    let rows: SourceRow[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      const sent = rows;
      [rows, bytes] = [[], 0];
      if (group === undefined || sent.length === 0) return;
      const began = performance.now();
      await this.#send(group, sent, outcomes);
      await pace.rest(performance.now() - began);
    };
    for (const { name, row } of await inBackground(this.#allRows(messages, outcomes))) {
      // Rows of one message that names several types are rare; each change of the type ends a body.
      if (name !== group || rows.length === MOST_ROWS || bytes + row.bytes > MOST_BYTES) await flush();
      group = name;
      rows.push(row);
      bytes += row.bytes;
    }
    await flush();
    return outcomes.of(messages);
  }

  *#allRows(messages: readonly SourceMessage[], outcomes: Outcomes): Pieces<NamedRow[]> {
    const all: NamedRow[] = [];
    for (const [position, message] of messages.entries()) {
      try {
        all.push(...this.#rowsOf(message, position, outcomes));
      } catch (error) {
        outcomes.reject(position, unreadable(error));
      }
      yield;
    }
    return all;
  }

  #rowsOf(message: SourceMessage, position: number, outcomes: Outcomes): readonly NamedRow[] {
    const read = readMessage(message, this.#map);
    if (read.is === 'nothing') outcomes.skip();
    if (read.is === 'unreadable') outcomes.reject(position, read.problem);
    if (read.is !== 'rows') return [];
    const { values, json } = read;
    const bytes = message.content?.length ?? 0;
    if (this.#reader !== undefined) return this.#mapped(values, message, position, outcomes);
    const value = values[0] ?? {};
    const field = this.#into.kind === 'features' ? 'view' : 'entity_type';
    const name = this.#into.name ?? message.headers[field];
    if (name === undefined) {
      const has = Object.keys(message.headers);
      outcomes.reject(
        position,
        `expected the name of the ${field === 'view' ? 'feature view' : 'entity type'} in \`${field}\`, beside the content; found ${has.length === 0 ? 'nothing there' : has.join(', ').slice(0, 200)}`,
      );
      return [];
    }
    if (this.#into.kind === 'entities' || Object.hasOwn(value, 'event_time'))
      return [{ name, row: { line: position, value, json, bytes } }];
    // A second delivery has the same time, so it is not newer than the first.
    const timed = { ...value, event_time: message.time };
    return [{ name, row: { line: position, value: timed, bytes: bytes + 28 } }];
  }

  #mapped(
    values: readonly JsonObject[],
    { content, time, partition, id }: SourceMessage,
    position: number,
    outcomes: Outcomes,
  ): readonly NamedRow[] {
    const events: ForeignEvent[] = [];
    const skipped: string[] = [];
    let problem: string | undefined;
    const bytes = Math.ceil((content?.length ?? 0) / values.length);
    for (const [at, value] of values.entries()) {
      const place = values.length === 1 ? '' : `[${at}]`;
      const output: EventOutput = {
        event: (event) => events.push(event),
        reject: (reason, detail) => {
          problem ??= `${reason}: ${place === '' ? '' : `${place}: `}${detail}`;
        },
        skip: (what) => skipped.push(what),
      };
      this.#reader?.read(value, output, { time, id: `${partition}:${id}${place}` });
    }
    if (problem !== undefined) {
      outcomes.reject(position, problem);
      return [];
    }
    const rows = events.flatMap((event) => {
      if (event.is !== 'entity' || (this.#into.name ?? event.type) !== event.type) return [];
      const declared = this.#project.entities.get(event.type);
      if (declared === undefined) return [];
      const row: JsonValue = fittedEntity(event, declared);
      return [{ name: event.type, row: { line: position, value: row, bytes } }];
    });
    if (rows.length === 0) outcomes.skip([...skipped, ...events.map(kindOf)]);
    return rows;
  }

  async #send(name: string, rows: readonly SourceRow[], outcomes: Outcomes): Promise<void> {
    const isFeatures = this.#into.kind === 'features';
    try {
      const sent = await sendBatch(
        rows,
        async (some) => {
          if (isFeatures) return this.#target.push(name, some);
          if (this.#merge !== undefined) return this.#update(name, some, this.#merge.create, outcomes);
          await this.#target.upload(name, some);
          return { older: 0 };
        },
        ({ line, problem }) => outcomes.reject(line, problem),
      );
      outcomes.add('stored', sent.loaded);
      outcomes.add('older', sent.older);
      outcomes.add('expired', sent.expired);
    } catch (error) {
      if (!isFinal(error)) throw error;
      for (const { line } of rows) outcomes.reject(line, error.message);
    }
  }

  /** Rejects the rows of entities that the index does not have. */
  async #update(
    name: string,
    rows: readonly SourceRow[],
    create: boolean,
    outcomes: Outcomes,
  ): Promise<Sent> {
    const { unknown_ids: missing } = await this.#target.update(name, rows, create);
    const type = this.#project.entities.get(name);
    if (missing.length === 0 || type === undefined) return { older: 0 };
    const ids = new Set(missing);
    const unknown = rows.filter(({ value }) => ids.has(storedId(type, idText(value[type.key]) ?? '')));
    for (const { line } of unknown)
      outcomes.reject(line, `the index does not have this ${name}, and \`create: true\` is not set`);
    return { older: 0, unknown: unknown.length };
  }
}

function kindOf(event: ForeignEvent): string {
  return event.is === 'entity' ? `entity ${event.type}` : event.is;
}
