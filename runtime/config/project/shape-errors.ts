import type { ErrorObject } from 'ajv/dist/2020.js';
import { isMap, isScalar, type Node } from 'yaml';
import type { JsonObject, JsonValue } from '../../api/types.js';
import { NAME_PATTERN } from '../../api/types.js';
import type { DiagnosticCode } from '../diagnostics/diagnostic-codes.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { isObject, nameHelp } from './marks.js';
import type { OptionPath, Places } from './materialise.js';
import { nearest } from '../../core/nearest.js';
import type { ParamOptions } from './param-options.js';
import { pruneErrors } from './prune-errors.js';
import { pointerPath } from './schema-walk.js';
import { expectedWords, foundWords, oneOfWords } from './shape-words.js';
import type { Span } from '../yaml/source.js';
import { entriesOf, spanOf, textOf } from '../yaml/tree.js';

/** The parameters of an ajv error. Each keyword sets its own ones. */
interface Params {
  readonly additionalProperty?: string;
  readonly unevaluatedProperty?: string;
  readonly missingProperty?: string;
  readonly allowedValues?: readonly JsonValue[];
  readonly limit?: number;
  readonly multipleOf?: number;
  readonly i?: number;
  readonly j?: number;
}

interface Told {
  readonly code: DiagnosticCode;
  readonly at: Span;
  readonly message: string;
  readonly help?: string | undefined;
}

/** Converts ajv's errors (all errors, verbose) to diagnostics at the right places. */
export function reportShapeErrors(
  errors: readonly ErrorObject[],
  places: Places,
  diagnostics: Diagnostics,
  params?: ParamOptions,
): void {
  const pruned = pruneErrors(errors);
  const mistyped = new Set(pruned.map((error) => guessOf(error)));
  for (const error of pruned) {
    // A misspelt key is reported once: not as unknown and as missing.
    const { missingProperty } = error.params as Params;
    if (error.keyword === 'required' && mistyped.has(pointerTo(error, missingProperty ?? ''))) continue;
    const { code, at, message, help } = tell(error, new Place(error, places, params));
    diagnostics.error(code, at, message, help);
  }
}

/** Returns the path of the key that an unknown key most likely means. */
function guessOf(error: ErrorObject): string | undefined {
  const { additionalProperty, unevaluatedProperty } = error.params as Params;
  const key = additionalProperty ?? unevaluatedProperty;
  if (key === undefined) return undefined;
  const guess = nearest(key, keysOf(error.parentSchema ?? {}));
  return guess && pointerTo(error, guess);
}

function pointerTo(error: ErrorObject, key: string): string {
  return `${error.instancePath}/${key}`;
}

/** The place of an error, and how messages name it. */
class Place {
  readonly path: OptionPath;
  readonly node: Node | undefined;
  readonly schema: JsonObject;

  constructor(
    readonly error: ErrorObject,
    readonly places: Places,
    readonly params: ParamOptions | undefined,
  ) {
    this.path = pointerPath(error.instancePath);
    this.node = places.node(this.path);
    this.schema = error.parentSchema ?? {};
  }

  get at(): Span {
    return this.places.value(this.path);
  }

  /** Returns `` `size`: `` and so on; an empty string for the root. */
  get label(): string {
    const last = this.path.at(-1);
    if (last === undefined) return '';
    const isItem = /^\d+$/.test(String(last)) && !isMap(this.places.node(this.path.slice(0, -1)));
    return isItem ? `item ${Number(last) + 1}${this.#ofList()}: ` : `\`${last}\`: `;
  }

  #ofList(): string {
    const list = this.path.at(-2);
    return list === undefined ? '' : ` of \`${list}\``;
  }

  get found(): string {
    const words = foundWords(this.places.file, this.node);
    return this.param === undefined
      ? words
      : `\`${this.param}\`, which ${this.params?.isRange === true ? 'may be' : 'is'} ${String(this.error.data)}`;
  }

  /** The param whose value stands here. */
  get param(): string | undefined {
    const text = textOf(this.node);
    return typeof this.error.data === 'number' && text !== undefined && this.params?.used.has(text) === true
      ? text
      : undefined;
  }
}

function tell(error: ErrorObject, place: Place): Told {
  const params = error.params as Params;
  switch (error.keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownKey(params.additionalProperty ?? params.unevaluatedProperty ?? '', place);
    case 'required':
    case 'dependentRequired':
      return missingKey(params.missingProperty ?? '', place);
    case 'pattern':
      return wrongPattern(error, place);
    case 'enum': {
      const values = params.allowedValues ?? [];
      const guess = nearest(textOf(place.node) ?? '', values.map(String));
      return wrong(
        place,
        `expected ${oneOfWords(values)}, found ${place.found}`,
        guess && `did you mean \`${guess}\`?`,
      );
    }
    case 'not':
      return unwanted(place);
    case 'anyOf':
      return oneKeyOf(place) ?? wrongKind(error, place);
    case 'type':
    case 'const':
    case 'millrace':
    case 'oneOf':
      return wrongKind(error, place);
    default:
      return wrong(place, boundWords(error.keyword, params, place) ?? error.message ?? 'is invalid');
  }
}

function wrong(place: Place, message: string, help?: string): Told {
  return { code: 'wrong_type', at: place.at, message: place.label + message, help };
}

function unknownKey(key: string, place: Place): Told {
  const known = keysOf(place.schema);
  const guess = nearest(key, known);
  return {
    code: 'unknown_key',
    at: place.places.key([...place.path, key]),
    message: `\`${key}\` is not allowed here`,
    help:
      guess !== undefined
        ? `did you mean \`${guess}\`?`
        : known.length > 0
          ? `the keys here are ${known.join(', ')}`
          : undefined,
  };
}

function keysOf({ properties }: JsonObject): string[] {
  return isObject(properties) ? Object.keys(properties) : [];
}

function missingKey(key: string, place: Place): Told {
  const { properties } = place.schema;
  const described =
    isObject(properties) && isObject(properties[key]) ? properties[key]['examples'] : undefined;
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
function unwanted(place: Place): Told {
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
function oneKeyOf(place: Place): Told | undefined {
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
  if (!isObject(branch) || Object.keys(branch).join() !== 'required') return undefined;
  const { required } = branch;
  const [key, ...others] = Array.isArray(required) ? (required as readonly JsonValue[]) : [];
  return typeof key === 'string' && others.length === 0 ? key : undefined;
}

function wrongPattern(error: ErrorObject, place: Place): Told {
  const { propertyName } = error;
  const text = propertyName ?? textOf(place.node) ?? '';
  const at = propertyName === undefined ? place.at : place.places.key([...place.path, propertyName]);
  if (place.schema['pattern'] === NAME_PATTERN.source)
    return {
      code: 'invalid_name',
      at,
      message: `\`${text}\` is not a valid name`,
      help: nameHelp(text),
    };
  return {
    code: 'wrong_type',
    at,
    message: `${place.label}expected ${expectedWords(place.schema)}, found ${propertyName === undefined ? place.found : `the key ${propertyName}`}`,
  };
}

function wrongKind(error: ErrorObject, place: Place): Told {
  // The keyword's schema is the schema of its parent; the error of a mark has the mark there.
  const message = `expected ${expectedWords(place.schema)}, found ${place.found}`;
  const at = place.node === undefined ? place.places.holder(place.path) : place.at;
  return { code: 'wrong_type', at, message: place.label + message, help: kindHelp(error, place) };
}

function kindHelp(error: ErrorObject, place: Place): string | undefined {
  const { file } = place.places;
  const expected = expectedWords(place.schema);
  if (place.param !== undefined) return undefined;
  const param = paramHelp(place, expected);
  if (param !== undefined) return param;
  if (typeof error.data === 'number' || typeof error.data === 'boolean')
    return expected.includes('text') ? `quote it: "${textOf(place.node) ?? ''}"` : undefined;
  if (isScalar(place.node) || place.node === undefined) {
    const glued = /^([a-z_][a-z0-9_]*:)(\S.*)$/.exec(textOf(place.node) ?? '');
    if (glued !== null && expected.includes('mapping'))
      return `a space is missing after the colon: \`${glued[1] ?? ''} ${glued[2] ?? ''}\``;
    const text = textOf(place.node);
    if (text !== undefined && /^[\w.:]+$/.test(text) && /^a list\b/.test(expected))
      return `write \`[${text}]\``;
    const { end } = place.places.holder(place.path);
    return error.data === null && /^:?[ \t]+#/.test(file.text.slice(end))
      ? 'a space and `#` start a comment; quote a value that contains them'
      : undefined;
  }
  if (!isMap(place.node) || /mapping/.test(expected)) return undefined;
  const entries = entriesOf(file, place.node);
  const [first] = entries;
  if (first === undefined || entries.length > 1) return undefined;
  if (first.value === undefined) return `write \`${first.key}\` without the colon and braces`;
  const { start } = spanOf(file, place.node);
  return file.text[start] === '{' ? 'quote a value that starts with `{`' : undefined;
}

/** Help for a name where a number is wanted, in the options of a step. */
function paramHelp({ params, node }: Place, expected: string): string | undefined {
  const text = textOf(node);
  if (params === undefined || text === undefined || !/number/.test(expected)) return undefined;
  if (!NAME_PATTERN.test(text)) {
    const words = new Set(text.split(/[^a-z0-9_]+/));
    return Array.from(params.names).some((name) => words.has(name))
      ? 'an option takes a number or the name of a param, not an expression'
      : undefined;
  }
  const guess = nearest(text, params.names);
  return guess === undefined
    ? `write a number, or declare \`${text}\` under \`params:\``
    : `did you mean the param \`${guess}\`?`;
}

function boundWords(
  keyword: string,
  params: Params,
  { error, param, params: named }: Place,
): string | undefined {
  const limit = Number(params.limit);
  const article = named?.isRange === true ? 'a' : 'the';
  const value = param === undefined ? '' : `, ${article} value of \`${param}\``;
  const found = typeof error.data === 'number' ? `, found ${error.data}${value}` : '';
  const some = (what: string): string => `${limit} ${what}${limit === 1 ? '' : 's'}`;
  switch (keyword) {
    case 'minimum':
      return `must be at least ${limit}${found}`;
    case 'maximum':
      return `must be at most ${limit}${found}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}${found}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}${found}`;
    case 'multipleOf':
      return `must be a multiple of ${Number(params.multipleOf)}${found}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${some('character')}`;
    case 'maxLength':
      return `must have at most ${some('character')}`;
    case 'minItems':
      return limit === 1 ? 'the list must not be empty' : `must have at least ${some('item')}`;
    case 'maxItems':
      return `must have at most ${some('item')}`;
    case 'minProperties':
      return limit === 1 ? 'the mapping must not be empty' : `must have at least ${some('key')}`;
    case 'maxProperties':
      return `must have at most ${some('key')}`;
    case 'uniqueItems':
      return `items ${Number(params.j) + 1} and ${Number(params.i) + 1} are the same`;
    default:
      return undefined;
  }
}
