import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { ErrorObject } from 'ajv/dist/2020.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { didYouMean, nearest } from '../../../ground/core/nearest.js';
import type { Params, Place, Told } from './shape-place.js';

/** Returns the path of the key that an unknown key most likely means. */
export function guessOf(error: ErrorObject): string | undefined {
  const { additionalProperty, unevaluatedProperty } = error.params as Params;
  const key = additionalProperty ?? unevaluatedProperty;
  if (key === undefined) return undefined;
  const guess = nearest(key, keysOf(error.parentSchema ?? {}));
  return guess && pointerTo(error, guess);
}

export function pointerTo(error: ErrorObject, key: string): string {
  return `${error.instancePath}/${key}`;
}

export function unknownKey(key: string, place: Place): Told {
  const known = keysOf(place.schema);
  return {
    code: 'unknown_key',
    at: place.places.key([...place.path, key]),
    message: `\`${key}\` is not allowed here`,
    help: didYouMean(key, known) ?? (known.length > 0 ? `the keys here are ${known.join(', ')}` : undefined),
  };
}

function keysOf({ properties }: JsonObject): string[] {
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

export function missingKey(key: string, place: Place): Told {
  const { properties } = place.schema;
  const described =
    isJsonObject(properties) && isJsonObject(properties[key]) ? properties[key]['examples'] : undefined;
  const example: JsonValue | undefined = Array.isArray(described)
    ? (described as readonly JsonValue[])[0]
    : undefined;
  return {
    code: 'missing_key',
    at: place.places.holder(place.path),
    message: `${place.label}the key \`${key}\` is missing`,
    help: typeof example === 'string' ? `for example \`${key}: ${example}\`` : `add \`${key}:\``,
  };
}

/** Describes a key that another key excludes. The schema's description says why. */
export function unwanted(place: Place): Told {
  const key = String(place.path.at(-1) ?? '');
  const why = place.schema['description'];
  return {
    code: 'unknown_key',
    at: place.places.key(place.path),
    message: `\`${key}\` is not allowed here`,
    help: typeof why === 'string' ? why : undefined,
  };
}

/** Describes a choice between keys, if none of them is present. */
export function oneKeyOf(place: Place): Told | undefined {
  const { anyOf } = place.schema;
  const keys = Array.isArray(anyOf) ? (anyOf as readonly JsonValue[]).map(onlyKey) : [];
  if (keys.length === 0 || !keys.every((key) => key !== undefined)) return undefined;
  return {
    code: 'missing_key',
    at: place.places.holder(place.path),
    message: `${place.label}one of the keys ${keys.map((key) => `\`${key}\``).join(' and ')} is missing`,
    help: `add \`${keys[0] ?? ''}:\` or \`${keys.at(-1) ?? ''}:\``,
  };
}

/** Returns the key that a branch requires, if the branch requires nothing else. */
function onlyKey(branch: JsonValue): string | undefined {
  if (!isJsonObject(branch) || Object.keys(branch).join() !== 'required') return undefined;
  const { required } = branch;
  const [key, ...others] = Array.isArray(required) ? (required as readonly JsonValue[]) : [];
  return typeof key === 'string' && others.length === 0 ? key : undefined;
}
