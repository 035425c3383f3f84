import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import { Deadline } from '../../ground/core/deadline.js';
import type { AttributeDefinition, EntityType } from '../../project/config/model/entities.js';
import { entityLayout } from '../../state/index/entity-index.js';
import { encodeEntity } from '../../state/store/codec/entity-record.js';
import type { RecordLayout } from '../../state/store/codec/record-layout.js';
import { knownLayouts } from '../../state/store/codec/known-layouts.js';
import type { RecordBatch } from '../../state/store/codec/record-batch.js';
import { partsOf, type KeyParts } from '../../state/store/keys.js';
import type { Store } from '../../state/store/store.js';
import type { Plan, PlannedStep } from '../compile/plan.js';
import type { PipelineServices } from './pipeline-services.js';
import { answer } from './run-pipeline.js';

/** The candidates of each run. V8 compiles what the first runs call, and optimises it during the later ones. */
const SIZES = [1, 24, 100, 100, 300, 300, 1000, 1000];

/** Words of artificial texts. Queries and titles share some. */
const WORDS = ['Red', 'running', 'shoes', 'for', 'women', 'leather', 'size', '42', 'café', 'T-shirt', 'XL'];

type Entities = ReadonlyMap<string, EntityType>;

/** A store that holds an artificial entity for each id, and nothing else. A request cannot reach its other methods. */
class ArtificialStore implements Pick<Store, 'read' | 'readInto'> {
  readonly #layouts: ReadonlyMap<string, RecordLayout>;
  readonly #records = new Map<string, Buffer | null>();

  constructor(readonly entities: Entities) {
    this.#layouts = new Map(
      Array.from(entities, ([name, type]) => [name, knownLayouts.add(entityLayout(type))]),
    );
  }

  read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    return Promise.resolve(keys.map((key) => this.#record(key)));
  }

  readInto(keys: readonly string[], batch: RecordBatch, first: number): undefined {
    for (const [i, key] of keys.entries()) {
      const record = this.#record(key);
      batch.put(first + i, record, 0, record?.length ?? 0);
    }
    return undefined;
  }

  #record(key: string): Buffer | null {
    let record = this.#records.get(key);
    if (record === undefined) {
      record = this.#encoded(partsOf(key));
      this.#records.set(key, record);
    }
    return record;
  }

  #encoded(parts: KeyParts | undefined): Buffer | null {
    if (parts?.kind !== 'entity') return null;
    const [type, layout] = [this.entities.get(parts.type), this.#layouts.get(parts.type)];
    if (type === undefined || layout === undefined) return null;
    const attributes = attributesOf(type.attributes, this.#records.size);
    return encodeEntity(layout, { ...attributes, [type.key]: parts.id }, parts.id);
  }
}

/**
 * Runs a plan on artificial requests, so that the first request of a client does not wait until V8 has compiled the code.
 * Nothing of them remains: they read a store of their own, and there is no log, no metric and no experiment. Effects, components
 * that do not ship with Millrace, and those that call a server are left out.
 * @param until ends the runs, by `performance.now()`
 * @returns how many runs ended
 */
export async function rehearse(
  plan: Plan,
  { layouts, now }: Pick<PipelineServices, 'layouts' | 'now'>,
  until: number,
): Promise<number> {
  const quiet = { ...plan, steps: plan.steps.filter(isQuiet) };
  const services: PipelineServices = {
    store: new ArtificialStore(plan.entities) as unknown as Store,
    layouts,
    now,
  };
  for (const [runs, size] of SIZES.entries()) {
    const left = until - performance.now();
    if (left <= 0) return runs;
    const deadline = new Deadline(left, { isLazy: true });
    try {
      const body = artificialBody(plan, Math.min(size, plan.definition.limits.candidates));
      await answer(quiet, services, body, { requestId: 'warm-up', deadline });
    } catch {
      // The time is over, or a component refuses artificial values. An error of a real request is answered to its client.
      return runs;
    } finally {
      deadline.end();
    }
    await nextTurn(undefined);
  }
  return SIZES.length;
}

/** Whether running a step changes nothing outside the request. */
function isQuiet({ kind, isShipped, component }: PlannedStep): boolean {
  return isShipped && kind !== 'effect' && component.probe === undefined;
}

function artificialBody({ definition, entities }: Plan, count: number): JsonObject {
  const { request, task, candidateType } = definition;
  const candidate = (i: number): JsonObject => ({
    ...attributesOf(request.candidates, i),
    ...idOf(candidateType.value, entities, i),
  });
  const fields = Array.from(request.fields.values(), (field): readonly [string, JsonValue] => [
    field.name,
    field.kind === 'entity' ? idOf(field.entity, entities, 0) : valueOf(field.type, 0),
  ]);
  return {
    ...attributesOf(entities.get('request')?.attributes, 0),
    ...Object.fromEntries(fields),
    ...(task === 'rank'
      ? { candidates: Array.from({ length: count }, (_, i) => candidate(i)) }
      : { [candidateType.value]: candidate(0) }),
  };
}

/** An entity by its id, which is a text because the id of a query is one. */
function idOf(type: string, entities: Entities, i: number): JsonObject {
  return { [entities.get(type)?.key ?? '']: `${textOf(i)} ${i}` };
}

function attributesOf(
  attributes: ReadonlyMap<string, Pick<AttributeDefinition, 'type'>> | undefined,
  i: number,
): JsonObject {
  return Object.fromEntries(Array.from(attributes ?? [], ([name, { type }]) => [name, valueOf(type, i)]));
}

function valueOf(type: ValueType, i: number): JsonValue {
  switch (type.kind) {
    case 'int':
      return i;
    case 'float':
      return i + 0.5;
    case 'bool':
      return i % 2 === 0;
    case 'timestamp':
      return 1e12 + i;
    case 'string':
      return textOf(i);
    case 'vector':
      return Array.from({ length: type.size }, (_, place) => (place + i) % 7);
    case 'ref':
      return `${type.entity} ${i % 10}`;
    case 'list':
      return [valueOf(type.of, i), valueOf(type.of, i + 1)];
    case 'record':
      return Object.fromEntries(Array.from(type.fields, ([name, field]) => [name, valueOf(field, i)]));
  }
}

function textOf(i: number): string {
  return Array.from({ length: 5 }, (_, word) => WORDS[(i + word * word) % WORDS.length]).join(' ');
}
