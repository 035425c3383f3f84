import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { isMap, isScalar } from 'yaml';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import { didYouMean, nearest } from '../../../ground/core/nearest.js';
import { spelledAmount } from '../../../ground/core/spelled-amount.js';
import { languageOf } from '../../../ground/text/index.js';
import { nameHelp } from './marks.js';
import type { Params, Place, Told } from './shape-place.js';
import { expectedWords } from './shape-words.js';
import { entriesOf, spanOf, textOf } from '../yaml/tree.js';

export function wrongPattern(error: ErrorObject, place: Place): Told {
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
    help: propertyName === undefined ? amountHelp(text, place.schema) : undefined,
  };
}

export function wrongKind(error: ErrorObject, place: Place): Told {
  // The keyword's schema is the schema of its parent; the error of a mark has the mark there.
  const message = `expected ${expectedWords(place.schema)}, found ${place.found}`;
  const at = place.node === undefined ? place.places.holder(place.path) : place.at;
  return { code: 'wrong_type', at, message: place.label + message, help: kindHelp(error, place) };
}

function kindHelp(error: ErrorObject, place: Place): string | undefined {
  const { file } = place.places;
  const expected = expectedWords(place.schema);
  if (place.param !== undefined) return undefined;
  const words = wordsOf(place.schema);
  const word = nearest(textOf(place.node) ?? '', words) ?? languageIn(textOf(place.node) ?? '', words);
  if (word !== undefined) return `did you mean \`${word}\`?`;
  const param = paramHelp(place, expected) ?? amountHelp(textOf(place.node) ?? '', place.schema);
  if (param !== undefined) return param;
  if (typeof error.data === 'number' || typeof error.data === 'boolean')
    return /text|\bid\b/.test(expected) ? `quote it: "${textOf(place.node) ?? ''}"` : undefined;
  if (isScalar(place.node) || place.node === undefined) {
    const glued = /^([a-z_][a-z0-9_]*:)(\S.*)$/.exec(textOf(place.node) ?? '');
    if (glued !== null && expected.includes('mapping'))
      return `a space is missing after the colon: \`${glued[1] ?? ''} ${glued[2] ?? ''}\``;
    const text = textOf(place.node);
    const percent = /^(\d+(?:\.\d+)?) ?%$/.exec(text ?? '')?.[1];
    if (percent !== undefined && /\bnumber\b/.test(expected) && !expected.includes('whole number'))
      return `write ${Number(percent) / 100}`;
    if (text !== undefined && /^[\w.:]+$/.test(text) && /^a list\b/.test(expected))
      return `write \`[${text}]\``;
    const { end } = place.places.holder(place.path);
    return error.data === null && /^:?[ \t]+#/.test(file.text.slice(end))
      ? 'a space and `#` start a comment; quote a value that contains them'
      : undefined;
  }
  if (!isMap(place.node) || /mapping|list/.test(expected)) return undefined;
  const entries = entriesOf(file, place.node);
  const [first] = entries;
  if (first === undefined || entries.length > 1) return undefined;
  if (first.value === undefined) return `write \`${first.key}\` without the colon and braces`;
  const { start } = spanOf(file, place.node);
  return file.text[start] === '{' ? 'quote a value that starts with `{`' : undefined;
}

/** Help for `1 hour`, `64 mb` or `20 percent`, if the schema takes the amount in another spelling. */
function amountHelp(text: string, schema: JsonObject): string | undefined {
  const patterns = patternsOf(schema).map((pattern) => new RegExp(pattern, 'u'));
  const right = spelledAmount(text, (one) => patterns.some((pattern) => pattern.test(one)));
  return right === undefined ? undefined : `write \`${right}\``;
}

/** The patterns of texts that a schema takes, also in one of its branches. */
function patternsOf(schema: JsonObject): readonly string[] {
  const all = branchesOf(schema)?.flatMap(patternsOf) ?? [schema['pattern']];
  return all.filter((one) => typeof one === 'string');
}

function branchesOf({ anyOf, oneOf }: JsonObject): readonly JsonObject[] | undefined {
  const branches = anyOf ?? oneOf;
  return Array.isArray(branches) ? (branches as readonly JsonValue[]).filter(isJsonObject) : undefined;
}

/** The name of a language, for its tag, if the words have it. */
export function languageIn(text: string, words: readonly string[]): string | undefined {
  const language = languageOf(text);
  return language !== undefined && words.includes(language) ? language : undefined;
}

/** The words that a schema takes, also in one of its branches. */
function wordsOf(schema: JsonObject): readonly string[] {
  const { enum: words, const: only } = schema;
  const all = branchesOf(schema)?.flatMap(wordsOf) ?? (Array.isArray(words) ? words : [only]);
  return (all as readonly JsonValue[]).filter((one) => typeof one === 'string');
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
  return (
    didYouMean(text, params.names, (guess) => `the param \`${guess}\``) ??
    `write a number, or declare \`${text}\` under \`params:\``
  );
}

export function boundWords(
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
