import { storedId, type IdRule } from '../../ground/core/entity-id.js';
import { MillraceError } from '../../ground/api/errors.js';
import { inBackground } from '../../ground/core/background.js';
import { inTurns, soon, type Pieces } from '../../ground/core/pieces.js';
import { LaxBody, type Coerced } from '../../ground/core/lax-value.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { entityKey } from '../store/keys.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import {
  allFields,
  FLAG_FIELD,
  listField,
  nameField,
  nullable,
  readFields,
  textField,
  unknownName,
  type BodyOf,
} from '../../ground/core/body-fields.js';
import { knownLayouts } from '../store/codec/known-layouts.js';
import { RecordLayout } from '../store/codec/record-layout.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import { StoreWriteError, type Store } from '../store/store.js';
import { tracedStore } from '../store/around.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import type { StoreParts, WriteBody } from './store-parts.js';
import { readEntity, resolveLayouts } from './stored-entity.js';
import { describe } from '../../ground/core/value-fit.js';
import { packEntities, type PackedEntity } from './entity-batch.js';
import { EntityUpdates, type UpdateOutcome } from './entity-updates.js';
import { writePortions } from './write-portions.js';
import { pointerTo, Violations } from '../../ground/core/violations.js';

/** Maximum number of entities of one upload or update, and of ids of one get or delete. */
export const MAX_BATCH = 1000;

/** What the bodies of entities begin with. */
export const TYPE_BODY = { entity_type: textField('the name of an entity type') };
/** The body of `get` and `remove`. */
export const IDS_BODY = { ...TYPE_BODY, entity_ids: listField(MAX_BATCH) };
const ENTITIES_BODY = { ...TYPE_BODY, entities: listField(MAX_BATCH) };
const KEY_BODY = { entity_key: nullable(nameField('the name of a field')) };
export const UPLOAD_BODY = { ...ENTITIES_BODY, ...KEY_BODY };
const UPDATE_KEYS = { ...KEY_BODY, create: nullable(FLAG_FIELD) };
export const UPDATE_BODY = { ...ENTITIES_BODY, ...UPDATE_KEYS };

export interface EntityIdsAnswer {
  readonly entity_type: string;
  readonly entity_ids: readonly string[];
}

export interface UploadAnswer extends EntityIdsAnswer {
  /** Entities that were not stored because a later one of the upload has the same id; omitted if there are none. */
  readonly duplicates?: number;
}

export interface UpdateAnswer extends EntityIdsAnswer {
  readonly updated: number;
  readonly created: number;
  /** The ids that the index does not have. */
  readonly unknown_ids: readonly string[];
}

export interface EntitiesAnswer {
  readonly entity_type: string;
  /** By id, without a prototype; null for entities that are not in the index. */
  readonly entities: Readonly<Record<string, JsonObject | null>>;
}

interface IndexedType {
  readonly name: string;
  readonly key: string;
  readonly layout: RecordLayout;
  readonly attributes: EntityType['attributes'];
  readonly rule: IdRule;
}

/**
 * The index of entities. An upload replaces an entity as a whole, and an update some of its attributes; `get` returns it as
 * uploaded, with the key of its type.
 */
export class EntityIndex {
  readonly #store: Store;
  readonly #layouts: LayoutRegistry;
  readonly #prefix: string;
  readonly #types: ReadonlyMap<string, IndexedType>;
  readonly #updates: EntityUpdates;
  /** The types, if values of bodies are converted. */
  readonly #lax: StoreParts['types'] | undefined;
  readonly #onCoerced: StoreParts['onCoerced'];

  constructor({ store, layouts, prefix, types, isLax, onCoerced }: StoreParts) {
    this.#store = store;
    this.#layouts = layouts;
    this.#prefix = prefix;
    this.#updates = new EntityUpdates(layouts);
    this.#lax = isLax === true ? types : undefined;
    this.#onCoerced = onCoerced;
    this.#types = new Map(
      [...types.values()].map((type) => [
        type.name,
        {
          name: type.name,
          key: type.key,
          layout: knownLayouts.add(entityLayout(type)),
          attributes: type.attributes,
          rule: type,
        },
      ]),
    );
  }

  /**
   * Body `{entity_type, entities: [0 to 1000 objects], entity_key?}`. Nothing is stored if the body is invalid. If
   * entities share an id, the last one is stored.
   * @param coerced counts the values that are converted, if the project accepts lax bodies
   * @throws MillraceError invalid_body, unknown_entity_type; store_unavailable if nothing was stored,
   *   store_partial_write with `stored_ids` and `unconfirmed_ids` if some were stored
   */
  async upload(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<UploadAnswer> {
    const { type, count, packed: records } = await this.#pack(body, 'upload', coerced);
    const ids = records.map(({ id }) => id);
    if (records.length > 0) {
      const lead = this.#layouts.record(type.layout);
      const store = tracedStore(this.#store, span);
      await this.#change(type.name, ids, 'stored_ids', () =>
        writePortions(
          records,
          ({ value }) => value.length,
          async (portion): Promise<undefined> => {
            await store.write([lead, ...portion]);
          },
          1,
        ),
      );
    }
    const duplicates = count - ids.length;
    return { entity_type: type.name, entity_ids: ids, ...(duplicates > 0 ? { duplicates } : {}) };
  }

  /**
   * Body `{entity_type, entities: [0 to 1000 objects], entity_key?, create?}`. Replaces the attributes that each object
   * has, and removes those that are null. Nothing is stored if the body is invalid. Entities that share an id are merged in
   * their order. An update that is sent again changes nothing more.
   * @throws MillraceError invalid_body, unknown_entity_type; with `stored_ids` and `unconfirmed_ids`: store_partial_write if
   *   some were stored, record_unreadable, body_too_large; a code of STORE_WRITE_FAILURES if nothing was stored
   */
  async update(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<UpdateAnswer> {
    const { type, creates, packed } = await this.#pack(body, 'update', coerced);
    const form = { ...type, creates };
    const settled = await this.#updates.apply(packed, form, tracedStore(this.#store, span));
    const outcomes = new Map<string, UpdateOutcome | Error>();
    for (const [i, { id }] of packed.entries()) {
      const [earlier, outcome = 'unknown'] = [outcomes.get(id), settled[i]];
      // Of an entity that one update of the body created, the next one says that it is updated.
      if (!(earlier instanceof Error) && !(earlier === 'created' && outcome === 'updated'))
        outcomes.set(id, outcome);
    }
    const idsOf = (is: (outcome: UpdateOutcome | Error) => boolean): string[] =>
      [...outcomes].flatMap(([id, outcome]) => (is(outcome) ? [id] : []));
    const stored = idsOf((outcome) => outcome === 'updated' || outcome === 'created');
    const unconfirmed = idsOf((outcome) => outcome instanceof Error);
    const failure = settled.find((outcome) => outcome instanceof Error);
    if (failure !== undefined) throw writeFailure(failure, type.name, stored, unconfirmed, 'stored_ids');
    const created = idsOf((outcome) => outcome === 'created').length;
    return {
      entity_type: type.name,
      entity_ids: stored,
      updated: stored.length - created,
      created,
      unknown_ids: idsOf((outcome) => outcome === 'unknown'),
    };
  }

  /** Checks the entities of a body, and encodes them. */
  async #pack(
    sent: unknown,
    write: Exclude<WriteBody, 'push'>,
    coerced: Coerced | undefined,
  ): Promise<{
    readonly type: IndexedType;
    readonly creates: boolean;
    readonly count: number;
    readonly packed: readonly PackedEntity[];
  }> {
    const violations = new Violations();
    const lax = this.#lax && new LaxBody(this.#lax, 'id', coerced);
    const body = lax === undefined || write === 'upload' ? sent : lax.flag(sent, 'create');
    const read = readFields(body, ENTITIES_BODY, violations);
    const type = this.#typeOf(read, violations);
    const { entities: list } = allFields(read, violations, 'The body');
    const fields = write === 'update' ? UPDATE_KEYS : KEY_BODY;
    const { entity_key: keyField = type.key, create: creates = false }: Partial<BodyOf<typeof UPDATE_KEYS>> =
      readFields(body, fields, violations);
    const isLastOnly = write === 'upload';
    const { layout, name, attributes, rule } = type;
    const batchType = { layout, name, prefix: this.#prefix, keyField, attributes, rule, isLastOnly, lax };
    const count = list.length;
    const packed = await inBackground(packEntities(list, batchType, '/entities', violations));
    violations.throwIfAny(`The ${write}`);
    if (lax !== undefined && lax.converted > 0) this.#onCoerced?.(write, lax.converted);
    return { type, creates, count, packed };
  }

  /**
   * Body `{entity_type, entity_ids: [0 to 1000 ids]}`.
   * @throws MillraceError invalid_body, unknown_entity_type, store_unavailable; record_unreadable if a record is damaged
   */
  async get(body: unknown, span?: TraceSpan): Promise<EntitiesAnswer> {
    const { type, ids } = await soon(this.#readIds(body, 'The request'));
    const unique = [...new Set(ids)];
    const keys = unique.map((id) => entityKey(this.#prefix, type.name, id));
    const records = await tracedStore(this.#store, span).read(keys);
    await resolveLayouts(this.#layouts, records);
    return { entity_type: type.name, entities: await inTurns(this.#decodeAll(unique, records, type)) };
  }

  /**
   * Body `{entity_type, entity_ids: [0 to 1000 ids]}`; an unknown id is not an error.
   * @throws MillraceError invalid_body, unknown_entity_type; store_unavailable if nothing was deleted,
   *   store_partial_write with `deleted_ids` and `unconfirmed_ids` if some were deleted
   */
  async remove(body: unknown, span?: TraceSpan): Promise<EntityIdsAnswer> {
    const { type, ids } = await soon(this.#readIds(body, 'The request'));
    const keys = ids.map((id) => entityKey(this.#prefix, type.name, id));
    if (keys.length > 0) {
      await this.#change(type.name, ids, 'deleted_ids', () => tracedStore(this.#store, span).remove(keys));
    }
    return { entity_type: type.name, entity_ids: ids };
  }

  async #change(
    type: string,
    ids: readonly string[],
    done: string,
    write: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof StoreWriteError)) throw error;
      const confirmed = ids.filter((_, i) => error.confirmed[i] === true);
      const unconfirmed = ids.filter((_, i) => error.confirmed[i] !== true);
      throw writeFailure(error, type, confirmed, unconfirmed, done);
    }
  }

  *#decodeAll(
    ids: readonly string[],
    records: readonly (Buffer | null)[],
    type: IndexedType,
  ): Pieces<EntitiesAnswer['entities']> {
    const entities = Object.create(null) as Record<string, JsonObject | null>;
    for (const [i, id] of ids.entries()) {
      const record = records[i] ?? null;
      entities[id] = record === null ? null : readEntity(record, this.#layouts, type, id);
      yield;
    }
    return entities;
  }

  *#readIds(
    body: unknown,
    what: string,
  ): Pieces<{ readonly type: IndexedType; readonly ids: readonly string[] }> {
    const violations = new Violations();
    const read = readFields(body, IDS_BODY, violations);
    const type = this.#typeOf(read, violations);
    const { entity_ids: list } = allFields(read, violations, 'The body');
    const ids: string[] = [];
    let i = 0;
    for (const id of list) {
      const problem = idProblem(id);
      if (problem === undefined) ids.push(storedId(type.rule, idText(id) ?? ''));
      else violations.add(pointerTo('/entity_ids', i), 'invalid_id', `${problem}, found ${describe(id)}`);
      i++;
      yield;
    }
    violations.throwIfAny(what);
    return { type, ids };
  }

  /**
   * The entity type that a body names.
   * @throws MillraceError unknown_entity_type, whatever else is wrong; invalid_body if it names none
   */
  #typeOf({ entity_type: name }: Partial<BodyOf<typeof TYPE_BODY>>, violations: Violations): IndexedType {
    const type = this.#types.get(name ?? '');
    if (type !== undefined) return type;
    if (name === undefined) violations.throwIfAny('The body');
    throw unknownEntityType(name ?? '', this.#types.keys());
  }
}

export function unknownEntityType(name: string, known: Iterable<string>): MillraceError {
  return new MillraceError('unknown_entity_type', unknownName('entity_type', 'entity type', name, known));
}

/** The layout of a type's records in the current project. */
export function entityLayout(type: EntityType): RecordLayout {
  return new RecordLayout(
    Array.from(type.attributes.values(), ({ name, type: valueType }) => [name, valueType] as const),
    type.key,
  );
}

/**
 * What an answer says of entities that are not confirmed.
 * @param done the name of the list of ids that are confirmed
 */
function writeFailure(
  error: Error,
  type: string,
  confirmed: readonly string[],
  unconfirmed: readonly string[],
  done: string,
): Error {
  if (!(error instanceof StoreWriteError || error instanceof MillraceError)) return error;
  const verb = done.replace('_ids', '');
  const [some, left] = [confirmed.length, unconfirmed.length];
  const extensions = { [done]: confirmed, unconfirmed_ids: unconfirmed };
  if (error instanceof MillraceError && error.status !== 503)
    return new MillraceError(
      error.code,
      `${some} of ${some + left} ${type} entities are ${verb}; of another, ${error.message}`,
      { cause: error, extensions: { ...error.extensions, ...extensions } },
    );
  if (some === 0) {
    const detail = `${left} ${type} entities are not confirmed as ${verb}; it is safe to send them again. ${error.message}`;
    return new MillraceError(error.code, detail, { cause: error, extensions: { [done]: [] } });
  }
  return new MillraceError(
    'store_partial_write',
    `${some} of ${some + left} ${type} entities are ${verb}; the other ${left} are not confirmed. It is safe to send them again. ${error.message}`,
    { cause: error, extensions },
  );
}
