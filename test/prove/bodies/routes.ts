/** Cases of the bodies of routes, from their schemas and examples in the OpenAPI document. */
import type { Route } from '../../../runtime/serve/http/route.js';
import { SERVICE_ROUTES } from '../../../runtime/serve/http/routes.js';
import { type BodyLimits, DEFAULT_LIMITS } from '../../../runtime/serve/http/services.js';
import type { GrowingCase, Load } from './load.js';
import type { Sent } from './turns.js';
import { SHAPES, textOf } from './values.js';

type Json = unknown;
type Schema = Readonly<Record<string, unknown>>;

/** A route that accepts a body, as the OpenAPI document describes it. */
export interface ProvedRoute {
  readonly path: string;
  /** Maximum size of a body, in bytes. */
  readonly limit: number;
  /** A valid body. */
  readonly example: Json;
  /** Every place of a value in a body, by its path; `[]` is an element of a list, `*` a value of a mapping. */
  readonly places: readonly Place[];
}

interface Place {
  readonly path: readonly string[];
  readonly schema: Schema;
}

/** Deeper places are of entities in entities, whose attributes have been seen. */
const DEEPEST = 4;

/** The paths whose bodies must be covered: those of the table of routes, and of the pipelines that ship. */
export function routesToCover(pipelines: readonly string[]): readonly string[] {
  const own = SERVICE_ROUTES.filter(({ method }) => method === 'POST').map(({ path }) => path);
  return [...pipelines.flatMap((name) => [`/api/v1/${name}`, `/api/v1/${name}/explain`]), ...own];
}

/** Reads the routes from the OpenAPI document of a service. A path without a schema or an example is left out. */
export function routesOf(document: Json, paths: readonly string[]): readonly ProvedRoute[] {
  return paths.flatMap((path) => {
    const content = at(document, ['paths', path, 'post', 'requestBody', 'content', 'application/json']);
    const { schema, examples } = (content ?? {}) as {
      schema?: Schema;
      examples?: Record<string, { value: Json }>;
    };
    const values = Object.values(examples ?? {}).map(({ value }) => value);
    // The example of a type with text has the places of most other types.
    const example = values.find((value) => JSON.stringify(value).includes('product')) ?? values[0];
    if (schema === undefined || example === undefined) return [];
    return [{ path, limit: limitOf(path), example, places: [...placesOf(schema, example, document)] }];
  });
}

function limitOf(path: string): number {
  const route = SERVICE_ROUTES.find(
    (one): one is Extract<Route, { method: 'POST' }> => one.path === path && one.method === 'POST',
  );
  const name: keyof BodyLimits = route?.body.limit ?? 'rankingBytes';
  return DEFAULT_LIMITS[name];
}

function at(value: Json, path: readonly string[]): Json {
  return path.reduce<Json>((inner, key) => (inner as Record<string, Json> | undefined)?.[key], value);
}

/** Every place that the schema describes. Of several schemas of a value, all are walked that its example does not exclude. */
function* placesOf(
  written: Schema,
  example: Json,
  document: Json,
  path: readonly string[] = [],
): Generator<Place> {
  if (path.length > DEEPEST) return;
  for (const schema of alternatives(written, example, document)) {
    if (path.length > 0) yield { path, schema };
    for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>))
      yield* placesOf(inner, at(example, [name]), document, [...path, name]);
    const { items, additionalProperties } = schema as {
      items?: Schema;
      additionalProperties?: Schema | boolean;
    };
    if (items !== undefined) yield* placesOf(items, at(example, ['0']), document, [...path, '[]']);
    if (typeof additionalProperties === 'object')
      yield* placesOf(additionalProperties, undefined, document, [...path, '*']);
    if (
      schema['type'] === 'object' &&
      additionalProperties !== false &&
      typeof additionalProperties !== 'object'
    )
      yield { path: [...path, 'extra'], schema: {} };
  }
}

function alternatives(schema: Schema, example: Json, document: Json): readonly Schema[] {
  if (typeof schema['$ref'] === 'string')
    return alternatives(at(document, schema['$ref'].slice(2).split('/')) as Schema, example, document);
  const { discriminator } = schema as {
    discriminator?: { propertyName: string; mapping: Record<string, string> };
  };
  const chosen = discriminator && discriminator.mapping[at(example, [discriminator.propertyName]) as string];
  if (chosen !== undefined) return alternatives({ $ref: chosen }, example, document);
  const choices = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
  if (choices === undefined || schema['type'] !== undefined) return [schema];
  return choices.filter(({ type }) => type !== 'null').flatMap((one) => alternatives(one, example, document));
}

/** How the elements of lists share the bytes of a body. */
const LAYOUTS: Readonly<Record<string, (bytes: number) => number>> = {
  'as many elements as bytes of each': (bytes) => Math.sqrt(bytes) / 2,
  'many elements': (bytes) => bytes / 100,
  'one element': () => 1,
};
/** Lists in lists share the elements, or each inner list has one, and the outer list as many as it may have. */
const INNER_ONE = 'many elements of one each';
const INNER_ONE_BYTES = 150;

/** The cases of a route: each shape of text and JSON at each of its places. */
export function* routeCases(route: ProvedRoute): Generator<GrowingCase> {
  let turn = 0;
  yield exampleCase(route);
  for (const place of route.places) {
    const values = Object.entries(valuesAt(place.schema));
    for (const [what, value] of values) {
      // Otherwise a case of rankings reads what one of uploads stored, and it is no byte of its body.
      const own = `_${turn}`;
      const layouts = Object.entries(LAYOUTS);
      const isNested = place.path.filter(isList).length > 1;
      if (isNested) layouts.push([INNER_ONE, (bytes) => bytes / INNER_ONE_BYTES]);
      const [layout, count] = layouts[turn++ % layouts.length] ?? ['', () => 1];
      yield {
        covers: `route ${route.path}`,
        what: `${route.path}: ${what} at ${place.path.join('.')}, ${layout}`,
        isFar: layout === INNER_ONE,
        limit: Math.min(
          route.limit * 0.95,
          layout === INNER_ONE ? INNER_ONE_BYTES * mostOf(route, place.path) : Infinity,
        ),
        make: (bytes, seed) => {
          const body = bodyWith(
            route,
            place.path,
            Math.max(1, Math.floor(count(bytes))),
            { own, isInnerOne: layout === INNER_ONE },
            bytes,
            (room, i) => value(room, seed * 1_000_003 + i),
          );
          return loadOf(route.path, body.text, body.count);
        },
      };
    }
  }
}

/** The most elements of the first list on the way to a place. */
function mostOf({ places }: ProvedRoute, path: readonly string[]): number {
  const list = path.slice(0, path.findIndex(isList)).join();
  const most = places.find((place) => place.path.join() === list)?.schema['maxItems'];
  return typeof most === 'number' ? most : Infinity;
}

/**
 * Routes that look each id of a body up in the store, by the bytes that count as read for it: one operation of the store, or
 * one for each kind of record that an id may have.
 */
const READ_BY_ID: Readonly<Record<string, number>> = {
  '/api/v1/privacy/forget': 512,
  '/api/v1/features/delete': 128,
  // The rules of the example name two ids each, and the answer says which of them the index does not hold.
  '/api/v1/curation/put': 256,
};

/** The bytes that a route reads besides, computed from its answer. A key of the store counts as 128 bytes. */
const READ_BY_ANSWER: Readonly<Record<string, (answer: Json) => number>> = {
  '/api/v1/privacy/forget': (answer) => 128 * (answer as { readonly keys_read: number }).keys_read,
};

/** What is sent before the bodies of a route: there must be a draft to publish or to discard. */
const BEFORE: Readonly<Record<string, readonly Sent[]>> = Object.fromEntries(
  ['publish', 'draft/discard'].map((name) => [`/api/v1/curation/${name}`, [draftOf(2027), draftOf(2028)]]),
);

/** A draft like that of the examples. Of two, the second changes what was published of the first. */
function draftOf(year: number): Sent {
  const friday = { from: `${year}-11-27`, on: { query: ['tv'] }, pin: { 1: 'p42' } };
  const body = { list: 'campaigns', draft: 'friday', campaigns: { friday } };
  return { path: '/api/v1/curation/draft/put', bytes: Buffer.from(JSON.stringify(body)) };
}

/**
 * Statuses besides 200 that say that a body was read whole and what it names was looked for: the invitation, publish or release
 * of the example is not there.
 */
export const LOOKED_FOR: Readonly<Record<string, number>> = {
  '/api/v1/session/open': 403,
  '/api/v1/curation/undo': 404,
  '/api/v1/releases/rollback': 404,
  '/api/v1/invitations/create': 403,
  '/api/v1/invitations/revoke': 404,
};

function loadOf(path: string, text: string, ids: number): Load {
  return {
    sent: { path, bytes: Buffer.from(text) },
    before: BEFORE[path] ?? [],
    read: ids * (READ_BY_ID[path] ?? 0),
    readOf: READ_BY_ANSWER[path],
  };
}

/** The example itself, with as many elements as fit and as the schema allows. */
function exampleCase(route: ProvedRoute): GrowingCase {
  const list = listOf(route);
  const element = list && at(route.example, [...list, '0']);
  const schema = list && route.places.find(({ path }) => path.join() === list.join())?.schema;
  const most = typeof schema?.['maxItems'] === 'number' ? schema['maxItems'] : Infinity;
  const each = JSON.stringify(element ?? null).length + 8;
  return {
    covers: `route ${route.path}`,
    what: `${route.path}: its example, of many elements`,
    isBaseline: true,
    limit: list === undefined ? 1024 : Math.min(route.limit * 0.95, each * most),
    make: (bytes, seed) => {
      const count = Math.max(1, Math.min(most, Math.floor(bytes / each)));
      const elements = Array.from({ length: count }, (_, i) =>
        typeof element === 'string' ? `${element}${seed}_${i}` : distinct(element, `${seed}_${i}`),
      );
      const whole = list === undefined ? route.example : withHole(route.example, list, HOLE);
      const body = JSON.stringify(whole).replace(`"${HOLE}"`, () => JSON.stringify(elements));
      return loadOf(route.path, body, count);
    },
  };
}

/** The list of the example that holds what the body is about: the last one that is in no other list. */
function listOf({ example, places }: ProvedRoute): readonly string[] | undefined {
  const lists = places.flatMap(({ path }) => {
    if (path.indexOf('[]') !== path.length - 1) return [];
    const list: string[] = [];
    for (const name of path.slice(0, -1)) {
      const [first] = Object.keys(at(example, list) ?? {});
      list.push(name === '*' ? (first ?? name) : name);
    }
    return Array.isArray(at(example, list)) ? [list] : [];
  });
  return lists.at(-1);
}

type Make = (bytes: number, seed: number) => Json;

/** The values at a place: of its type, and of another type. */
function valuesAt(schema: Schema): Readonly<Record<string, Make>> {
  const types = [schema['type'] ?? []].flat();
  const longest = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : Infinity;
  if (schema['const'] !== undefined || schema['enum'] !== undefined) return WRONG;
  if (types.includes('string')) {
    if (/expression/.test(`${String(schema['title'])} ${String(schema['description'])}`)) return EXPRESSIONS;
    const texts = Object.keys(SHAPES).map((shape): [string, Make] => [
      shape,
      (bytes, seed) => textOf(shape, bytes, { seed, role: 0 }),
    ]);
    const within = texts.map(([shape, make]): [string, Make] => [
      `${shape}, within the length`,
      (bytes, seed) => make(Math.min(bytes, longest / 2), seed),
    ]);
    return Object.fromEntries(longest === Infinity ? texts : [...texts, ...within]);
  }
  if (types.includes('number') || types.includes('integer')) return NUMBERS;
  return types.includes('boolean') ? WRONG : JSONS;
}

const JSONS: Readonly<Record<string, Make>> = {
  'deep lists': (bytes) => new Raw('['.repeat(bytes / 2) + ']'.repeat(bytes / 2)),
  'deep objects': (bytes) => new Raw('{"a":'.repeat(bytes / 6) + '1' + '}'.repeat(bytes / 6)),
  'many names': (bytes, seed) =>
    Object.fromEntries(Array.from({ length: Math.max(1, bytes / 12) }, (_, i) => [`k${seed + i}`, 1])),
  'equal hashes of names': (bytes) =>
    Object.fromEntries(
      Array.from({ length: Math.max(1, bytes / 12) }, (_, i) => [((i * 4096) % 2 ** 24) + 4096, 1]),
    ),
  'empty lists': (bytes) => Array.from({ length: Math.max(1, bytes / 3) }, () => []),
};
const NUMBERS: Readonly<Record<string, Make>> = {
  'extreme numbers': (_, seed) =>
    new Raw(['1e308', '-1e308', '5e-324', '1e400', '9007199254740993'][seed % 5] ?? '0'),
  'long numbers': (bytes) =>
    new Raw(`${'1'.repeat(Math.max(1, bytes / 2))}.${'5'.repeat(Math.max(1, bytes / 2))}`),
};
const WRONG: Readonly<Record<string, Make>> = {
  'words instead': (bytes, seed) => textOf('words', bytes, { seed, role: 0 }),
};

const chain = (bytes: number, part: (i: number) => string, by: string): string => {
  const parts = [part(0)];
  for (let size = parts[0]?.length ?? 0, i = 1; size < bytes; i++) {
    parts.push(part(i));
    size += (parts.at(-1) ?? '').length + by.length;
  }
  return parts.join(by);
};
/** Expressions that a body can bring. At most so many characters are read. */
const LONGEST = 9_900;
const expression =
  (make: (bytes: number) => string): Make =>
  (bytes) =>
    make(Math.min(LONGEST, bytes));
const EXPRESSIONS: Readonly<Record<string, Make>> = {
  'a chain of or': expression((bytes) => chain(bytes, (i) => `${i} == ${i + 1}`, ' or ')),
  'a chain of names': expression((bytes) => chain(bytes, (i) => `query.query == "${i}"`, ' or ')),
  'many choices': expression((bytes) => `query.query in (${chain(bytes, (i) => `"${i}"`, ',')})`),
  'many texts': expression((bytes) => chain(bytes, (i) => `normalize("${i}") == query.query`, ' and ')),
  'unknown names': expression((bytes) => chain(bytes, (i) => `n${i} == 1`, ' or ')),
  'unknown functions': expression((bytes) => chain(bytes, (i) => `f${i}(1)`, ' or ')),
  'wrong types': expression((bytes) => chain(bytes, (i) => `(${i} == "${i}")`, ' or ')),
  'deep parentheses': expression((bytes) => '('.repeat(bytes / 2) + 'true' + ')'.repeat(bytes / 2)),
  'long texts': expression((bytes) => `query.query == "${'x'.repeat(bytes)}"`),
  'too long': (bytes) => chain(bytes, (i) => `${i} == ${i + 1}`, ' or '),
};

/** JSON text that is no value of JavaScript, such as `1e400`. */
class Raw {
  constructor(readonly text: string) {}
}

/** The example with values at a place: one for each element of the lists on the way. */
function bodyWith(
  { example }: ProvedRoute,
  path: readonly string[],
  count: number,
  { own: tag, isInnerOne }: { readonly own: string; readonly isInnerOne: boolean },
  bytes: number,
  value: (room: number, i: number) => Json,
): { readonly text: string; readonly count: number } {
  const depth = path.filter(isList).length;
  const hasList = depth > 0;
  const lists = isInnerOne ? 1 : depth;
  const each = Math.max(1, Math.floor(count ** (1 / Math.max(1, lists))));
  const overhead = hasList ? JSON.stringify(example).length / 2 : 0;
  const room = Math.max(1, bytes / each ** Math.max(1, lists) - (hasList ? Math.min(overhead, 60) : 0));
  let number = 0;
  const made = (template: Json, rest: readonly string[]): string => {
    const [name, ...more] = rest;
    if (name === undefined) return textOfJson(value(room, number++));
    const length = isInnerOne && rest.filter(isList).length < depth ? 1 : each;
    if (name === '[]') {
      const list = Array.isArray(template) ? (template as readonly Json[]) : [];
      const element = list[0];
      return `[${Array.from({ length }, (_, i) => made(distinct(element, `${tag}_${number}_${i}`), more)).join(',')}]`;
    }
    if (name === '*') {
      const names = Array.from({ length }, (_, i) => `"${i + 1}":${made(undefined, more)}`);
      return `{${names.join(',')}}`;
    }
    const fields = Object.entries(isRecord(template) ? template : {}).filter(([own]) => own !== name);
    const own = `${JSON.stringify(name)}:${made(at(template, [name]), more)}`;
    return `{${[...fields.map(([field, one]) => `${JSON.stringify(field)}:${JSON.stringify(one)}`), own].join(',')}}`;
  };
  return { text: made(example, path), count: number };
}

const isList = (segment: string): boolean => segment === '[]' || segment === '*';

const textOfJson = (value: Json): string => (value instanceof Raw ? value.text : JSON.stringify(value));

/** Elements have ids of their own, so that none replaces another. */
function distinct(value: Json, suffix: string): Json {
  if (Array.isArray(value)) return value.map((one) => distinct(one, suffix));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      name.endsWith('_id') && typeof one === 'string' ? one + suffix : distinct(one, suffix),
    ]),
  );
}

function isRecord(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Raw);
}

/** Where the elements go in the text of a body. */
const HOLE = '@@elements@@';

/** What a body of hostile JSON is made of: the example with elements of the first list, and a member beside it. */
export interface Frame {
  readonly path: string;
  readonly limit: number;
  readonly body: (elements: readonly string[], extra?: string) => string;
  readonly element: (i: number, value: string, name?: string) => string;
  /** The names of members of an element that the schema describes. */
  readonly declared: readonly string[];
}

export function frameOf(route: ProvedRoute): Frame {
  const { path, limit, example, places } = route;
  const list = listOf(route);
  const element = list === undefined ? undefined : at(example, [...list, '0']);
  const declared = places
    .filter(
      (place) =>
        place.path.length === (list?.length ?? 0) + 2 && list?.every((name, i) => name === place.path[i]),
    )
    .map((place) => place.path.at(-1) ?? '')
    .filter((name) => !name.endsWith('_id') && name !== 'extra');
  return {
    path,
    limit,
    declared: [...new Set(declared)],
    body: (elements, extra) => {
      const text = JSON.stringify(list === undefined ? example : withHole(example, list, HOLE));
      const [before = '', after = '}'] = text.split(`"${HOLE}"`);
      const filled = list === undefined ? text : `${before}[${elements.join(',')}]${after}`;
      return extra === undefined ? filled : `${filled.slice(0, -1)},"extra":${extra}}`;
    },
    element: (i, value, name = 'extra') => {
      const one = distinct(element, String(i));
      if (!isRecord(one)) return i % 2 ? JSON.stringify(`${String(one)}${i}`) : value;
      const members = Object.entries(one).filter(([own]) => own !== name);
      return `{${[...members.map(([own, of]) => `${JSON.stringify(own)}:${JSON.stringify(of)}`), `${JSON.stringify(name)}:${value}`].join(',')}}`;
    },
  };
}

function withHole(value: Json, [name, ...rest]: readonly string[], hole: string): Json {
  if (name === undefined) return hole;
  if (!isRecord(value)) return { [name]: withHole(undefined, rest, hole) };
  return { ...value, [name]: withHole(value[name], rest, hole) };
}
