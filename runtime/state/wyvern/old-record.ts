import type { JsonObject } from '../../ground/api/types.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import { isJsonObject, own } from '../../ground/core/value-fit.js';
import { isLz4Frame, Lz4Error, readLz4 } from './lz4-frame.js';

/** An entity of the old index, as it is uploaded. */
export interface OldEntity {
  readonly type: EntityType;
  readonly entity: JsonObject;
  /** The JSON as stored, so that no digit of a number is lost; undefined if the entity was changed. */
  readonly json: string | undefined;
  /** Whether the id was added, from the key. */
  readonly isIdAdded: boolean;
}

/** Why a key is not imported, in the order in which the reasons are listed. */
export const SKIPPED = {
  no_text: 'no text: a hash of Feast, or a key that has just expired',
  no_lz4: 'no LZ4 frame, so not of the old index',
  other_type: 'another entity type',
  ambiguous: 'several entity types fit; name one with --type',
  no_id: 'no valid id',
  damaged: 'a damaged LZ4 frame',
  no_json: 'no JSON object',
} as const;

export type SkipReason = keyof typeof SKIPPED;

export interface Skipped {
  readonly reason: SkipReason;
  /** What exactly is wrong, if the reason does not say it. */
  readonly detail?: string;
}

/** A larger entity is not an entity: the old service refused bodies of this size. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The entity types of the project, and those of them that are imported. */
export interface OldTypes {
  readonly known: readonly EntityType[];
  readonly wanted: ReadonlySet<string>;
}

/** Reads one key of the old index. @param key without the prefix */
export function readOld(key: string, value: Buffer | null, types: OldTypes): OldEntity | Skipped {
  if (value === null) return { reason: 'no_text' };
  if (!isLz4Frame(value)) return { reason: 'no_lz4' };
  let json: string;
  let entity: unknown;
  try {
    json = new TextDecoder('utf-8', { fatal: true }).decode(readLz4(value, MOST_BYTES));
  } catch (error) {
    if (error instanceof Lz4Error) return { reason: 'damaged', detail: error.message };
    return { reason: 'no_json', detail: 'the text is not encoded in UTF-8' };
  }
  try {
    entity = JSON.parse(json);
  } catch {
    return { reason: 'no_json' };
  }
  if (!isJsonObject(entity)) return { reason: 'no_json' };
  return placed(key, entity, json, types);
}

/**
 * Finds the type and the id. The key names both, in a form that depends on the installation: it ends with the id, and
 * one of its parts before the id is the type. The entity confirms the id under the key of its type.
 */
function placed(
  key: string,
  entity: JsonObject,
  json: string,
  { known, wanted }: OldTypes,
): OldEntity | Skipped {
  const carried = known.flatMap((type) => {
    const id = idText(own(entity, type.key));
    return id !== undefined && id !== '' && key.endsWith(id) ? [{ type, id }] : [];
  });
  const [found, other] = carried.filter(({ type, id }) => names(key.slice(0, -id.length), type));
  if (found !== undefined && other !== undefined) return { reason: 'ambiguous' };
  if (found !== undefined)
    return wanted.has(found.type.name)
      ? { type: found.type, entity, json, isIdAdded: false }
      : { reason: 'other_type' };
  const added = withIdOfKey(key, entity, known);
  if (added !== undefined)
    return 'reason' in added || wanted.has(added.type.name) ? added : { reason: 'other_type' };
  // The key is the id alone, and the user names the type.
  const only =
    wanted.size === 1 ? carried.find(({ type, id }) => wanted.has(type.name) && key === id) : undefined;
  if (only !== undefined) return { type: only.type, entity, json, isIdAdded: false };
  return { reason: carried.length > 1 ? 'ambiguous' : 'other_type' };
}

/** An entity that was uploaded with another `entity_key` carries no id under the key of its type; its key has it. */
function withIdOfKey(
  key: string,
  entity: JsonObject,
  known: readonly EntityType[],
): OldEntity | Skipped | undefined {
  const found = known.flatMap((type) => {
    const start = new RegExp(`(?:^|[:|/])${type.name}[:|/]`, 'i').exec(key);
    return start === null ? [] : [{ type, id: key.slice(start.index + start[0].length) }];
  });
  const [first, other] = found;
  if (first === undefined) return undefined;
  if (other !== undefined) return { reason: 'ambiguous' };
  const { type, id } = first;
  const problem = idProblem(id);
  if (problem !== undefined) return { reason: 'no_id', detail: problem };
  const carried = own(entity, type.key);
  if (carried !== undefined && carried !== null)
    return { reason: 'no_id', detail: `its ${type.key} is not the id in its key` };
  return { type, entity: { ...entity, [type.key]: id }, json: undefined, isIdAdded: true };
}

const names = (head: string, { name }: EntityType): boolean =>
  head.toLowerCase().split(/[:|/]/).includes(name);
