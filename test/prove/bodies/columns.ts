/** The entities, columns and pipelines of generated cases. */
import { type Argument, VALUE_KINDS, type ValueKind } from '../../../runtime/language/expression/domain.js';
import { kindOf } from '../../support/expression-forms.js';
import type { Load } from './load.js';
import { grows, valueOf, type Variant } from './values.js';

/** Whose value an argument is: of each candidate, of the request, or of one stored entity that all candidates refer to. */
export type Place = 'candidate' | 'request' | 'shared';

const COLUMN_TYPES: Readonly<Record<ValueKind, string>> = {
  number: 'float',
  bool: 'bool',
  text: 'string',
  time: 'timestamp',
  numbers: 'list(float)',
  bools: '{ list: { value: bool } }',
  texts: 'list(string)',
  times: '{ list: { value: timestamp } }',
  vector: 'vector(8)',
};
/** As many columns of each kind as a form has arguments of it. */
const COLUMNS = 3;
const NUMBER_COLUMNS = 7;
const PREFIXES: Readonly<Record<Place, string>> = {
  candidate: 'thing.',
  request: 'owner.',
  shared: 'thing.shared.',
};
const MAX_CANDIDATES = 10_000;
export const RANKING_LIMIT = 1.9 * 1024 * 1024;

const attributes = VALUE_KINDS.flatMap((kind) =>
  Array.from(
    { length: kind === 'number' ? NUMBER_COLUMNS : COLUMNS },
    (_, i) => `  ${kind}_${i}: ${COLUMN_TYPES[kind]}\n`,
  ),
).join('');

/** The entity types of the cases. */
export const ENTITY_FILES: Readonly<Record<string, string>> = Object.fromEntries(
  ['thing', 'owner', 'shared'].map((name) => [
    `schemas/entities/${name}.yaml`,
    `entity: ${name}\nattributes:\n${name === 'thing' ? '  shared: ref(shared)\n' : ''}${attributes}`,
  ]),
);

/** An argument of a case: its column, and where its values are. */
export interface Bound {
  readonly argument: Argument;
  readonly place: Place;
  readonly role: number;
}

const columnOf = ({ argument, role }: Bound): string => `${kindOf(argument) ?? ''}_${role}`;
/** The elements of lists of bools and of times are in records. */
export const nameOf = (bound: Bound): string =>
  PREFIXES[bound.place] + columnOf(bound) + (isRecords(bound) ? '.value' : '');
const isRecords = ({ argument }: Bound): boolean => argument === 'bools' || argument === 'times';

/** How the candidates share the bytes of a body. */
export const LAYOUTS: Readonly<Record<string, (bytes: number) => number>> = {
  'as many candidates as bytes of each': (bytes) => Math.sqrt(bytes) / 2,
  'many candidates': (bytes) => bytes / 100,
  'two candidates': () => 2,
};
/** A request that retrieves its candidates. */
export const RETRIEVED: Layout = 'no candidates';
export type Layout = keyof typeof LAYOUTS;

/** A pipeline of one step. */
export function pipelineFile(name: string, step: object, more: object = {}): Record<string, string> {
  return {
    [`pipelines/${name}.yaml`]: JSON.stringify({
      pipeline: name,
      rank: 'thing',
      request: { owner: 'owner' },
      components: [step],
      limits: { candidates: MAX_CANDIDATES, time: '30s' },
      page: { size: 24, max_size: 100 },
      ...more,
    }),
  };
}

/** Makes a body of about so many bytes whose columns have the values that arguments need. */
export function bodyOf(
  path: string,
  bounds: readonly Bound[],
  layout: Layout,
  variant: Variant,
  bytes: number,
  seed: number,
): Load {
  const growing = bounds.filter(({ argument }) => grows(argument));
  const some = (place: Place): boolean => growing.some((bound) => bound.place === place);
  const parts = (['candidate', 'request', 'shared'] as const).filter(some).length;
  // Values that do not grow need candidates that do.
  const count = Math.max(1, Math.min(MAX_CANDIDATES, Math.floor((LAYOUTS[layout] ?? (() => 1))(bytes))));
  const share = bytes / Math.max(1, parts);
  const cells = (place: Place, row: number, room: number): Record<string, unknown> => {
    const own = bounds.filter((bound) => bound.place === place);
    const each = room / Math.max(1, own.filter(({ argument }) => grows(argument)).length);
    return Object.fromEntries(
      own.map((bound) => [
        columnOf(bound),
        valueOf(bound.argument, each, { seed: seed * 1_000_003 + row, role: bound.role }, variant),
      ]),
    );
  };
  const isShared = bounds.some(({ place }) => place === 'shared');
  const room = some('candidate') ? Math.max(1, share / count - 30) : 1;
  const candidates = Array.from({ length: count }, (_, row) => ({
    thing_id: `t${row}`,
    ...(isShared ? { shared: 's' } : {}),
    ...cells('candidate', row, room),
  }));
  const owner = { owner_id: 'o', ...cells('request', 0, share) };
  const body = layout === RETRIEVED ? { owner } : { owner, candidates };
  const sent = { path, bytes: Buffer.from(JSON.stringify(body)) };
  if (!isShared) return { sent };
  const stored = Buffer.from(
    JSON.stringify({ entity_type: 'shared', entities: [{ shared_id: 's', ...cells('shared', 0, share) }] }),
  );
  return { sent, before: [{ path: '/api/v1/entities/upload', bytes: stored }], read: stored.length };
}
