import type { JsonObject, JsonValue } from '../../api/types.js';
import { idProblem, idText } from '../../core/ids.js';
import type {
  EventOutput,
  ForeignAct,
  ForeignCandidate,
  ForeignRanking,
  Owners,
  RowReader,
} from './foreign-event.js';
import type { EntitySource, FeedbackSource, Path, RankingSource, Where } from './mapping.js';
import { foreignTime, isMissing, readId, readTime, shown, valueAt } from './read-values.js';

/** Keys of `map:` that name no entity type. */
export const OWN_KEYS = ['request', 'time', 'position', 'score', 'items', 'type', 'quantity'] as const;
const OWN: ReadonlySet<string> = new Set(OWN_KEYS);
/** Epoch milliseconds of the first row, if the rows have no time. Each later row counts as a second later. */
const NO_TIME_START = Date.UTC(2000, 0, 1);

/** Reads rows that hold one entity each. All columns but the id are attributes. */
export function entityReader(source: EntitySource): RowReader {
  const [[type, path] = ['', '']] = Object.entries(source.map);
  return {
    read(row, output) {
      const id = readId(valueAt(row, path), path, output);
      if (id === undefined) return;
      const values = Object.fromEntries(Object.entries(row).filter(([name]) => name !== path));
      output.event({ is: 'entity', type, id, time: NaN, values });
    },
  };
}

/**
 * Reads rows that hold a candidate that was shown, or a list of them.
 * @param candidateType the entity type of the candidates
 * @param file the number of the file; the ids of requests that the rows do not name contain it
 */
export function rankingReader(source: RankingSource, candidateType: string, file: number): RowReader {
  const { map, where, pool } = source;
  const idPath = onePath(map[candidateType]) ?? '.';
  const items = onePath(map.items);
  const timeOf = timeReader(map.time);
  const ownersOf = ownersReader(map, candidateType);
  const requestPaths = pathsOf(map.request);
  const pools = pool === undefined ? undefined : new Pools(pool, file);
  let rows = 0;

  function readList(
    row: JsonObject,
    list: Omit<ForeignRanking, 'is' | 'candidates'>,
    output: EventOutput,
  ): void {
    const shownItems = listOf(valueAt(row, items ?? ''));
    if (shownItems === undefined || shownItems.length === 0) {
      output.reject(
        'no_candidates',
        `${items ?? ''} is ${shownItems === undefined ? 'not a list' : 'empty'}`,
      );
      return;
    }
    const acted = actedIds(row, source.feedback, list.time);
    const candidates = shownItems.flatMap((item, at): ForeignCandidate[] => {
      const candidate = readCandidate(item, source, idPath, list.time, output);
      if (candidate === undefined) return [];
      const acts = acted.flatMap(({ ids, act }) => (ids.has(candidate.id) ? [act] : []));
      return [{ ...candidate, position: candidate.position ?? at + 1, acts: [...candidate.acts, ...acts] }];
    });
    if (candidates.length > 0) output.event({ is: 'ranking', ...list, candidates });
  }

  return {
    read(row, output) {
      if (!isWanted(row, where)) return;
      rows += 1;
      const time = timeOf(row, output);
      if (time === undefined) return;
      const owners = ownersOf(row, output);
      if (owners === undefined) return;
      const request =
        requestPaths.length === 0 ? `row-${file}-${rows}` : readRequest(row, requestPaths, output);
      if (request === undefined) return;
      const list = { request, time, owners, sent: pick(row, source.send) };
      if (items !== undefined) {
        readList(row, list, output);
        return;
      }
      const candidate = readCandidate(row, source, idPath, time, output);
      if (candidate === undefined) return;
      if (pools === undefined) output.event({ is: 'impression', ...list, candidate });
      else for (const full of pools.add(time, candidate)) output.event(full);
    },
    end(output) {
      for (const rest of pools?.end() ?? []) output.event(rest);
    },
  };
}

/** Reads rows that hold one act of a user each. */
export function feedbackReader(source: FeedbackSource, candidateType: string): RowReader {
  const { map, where, event, values } = source;
  const idPath = onePath(map[candidateType]) ?? candidateType;
  const timeOf = timeReader(map.time);
  const ownersOf = ownersReader(map, candidateType);
  const requestPaths = pathsOf(map.request);
  const typePath = onePath(map.type) ?? 'type';
  const quantityPath = onePath(map.quantity);
  return {
    read(row, output) {
      if (!isWanted(row, where)) return;
      const kind = typeof event === 'string' ? event : kindOf(valueAt(row, typePath), event);
      if (kind === null) return;
      if (kind === undefined) {
        output.reject('unknown_event', `${typePath} is ${shown(valueAt(row, typePath))}`);
        return;
      }
      const candidate = readId(valueAt(row, idPath), idPath, output);
      if (candidate === undefined) return;
      const time = timeOf(row, output);
      if (time === undefined) return;
      const owners = ownersOf(row, output);
      if (owners === undefined) return;
      const position = readPosition(row, source.map.position, 1, output);
      if (position === null) return;
      const quantity = quantityPath === undefined ? 1 : Number(valueAt(row, quantityPath) ?? 1);
      const isRequestKnown =
        requestPaths.length > 0 && !requestPaths.some((path) => isMissing(valueAt(row, path)));
      const request = isRequestKnown ? readRequest(row, requestPaths, output) : undefined;
      if (isRequestKnown && request === undefined) return;
      output.event({
        is: 'feedback',
        event: kind,
        time,
        request,
        owners,
        candidate,
        position,
        quantity:
          Number.isFinite(quantity) && quantity >= 1 ? Math.min(Math.floor(quantity), 2 ** 31 - 1) : 1,
        values: pick(row, values),
      });
    },
  };
}

function kindOf(
  value: JsonValue | undefined,
  kinds: Readonly<Record<string, string | null>>,
): string | null | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return Object.hasOwn(kinds, text) ? kinds[text] : undefined;
}

function isWanted(row: JsonObject, where: Where | undefined): boolean {
  return Object.entries(where ?? {}).every(([path, values]) => {
    const value = valueAt(row, path);
    return (typeof value === 'string' || typeof value === 'number') && values.includes(String(value));
  });
}

function onePath(path: Path | readonly Path[] | undefined): Path | undefined {
  return typeof path === 'object' ? path[0] : path;
}

function pathsOf(path: Path | readonly Path[] | undefined): readonly Path[] {
  return path === undefined ? [] : typeof path === 'string' ? [path] : path;
}

/** One column is the id itself. Several are joined so that different rows have different ids. */
function readRequest(row: JsonObject, paths: readonly Path[], output: EventOutput): string | undefined {
  const [only] = paths;
  if (paths.length === 1 && only !== undefined) return readId(valueAt(row, only), only, output);
  const parts = paths.map((path) => valueAt(row, path) ?? null);
  if (parts.every(isMissing)) {
    output.reject('no_id', `${paths.join(', ')} are missing`);
    return undefined;
  }
  return parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('\u001f');
}

function timeReader(
  path: Path | readonly Path[] | undefined,
): (row: JsonObject, output: EventOutput) => number | undefined {
  const from = onePath(path);
  let rows = 0;
  if (from === undefined) return () => NO_TIME_START + 1000 * rows++;
  return (row, output) => readTime(valueAt(row, from), from, output);
}

function ownersReader(
  map: RankingSource['map'],
  candidateType: string,
): (row: JsonObject, output: EventOutput) => Owners | undefined {
  const types = Object.entries(map).flatMap(([type, path]) => {
    const from = onePath(path);
    return OWN.has(type) || type === candidateType || from === undefined ? [] : [{ type, path: from }];
  });
  return (row, output) => {
    const owners: Record<string, string> = {};
    for (const { type, path } of types) {
      const value = valueAt(row, path);
      if (isMissing(value)) continue;
      const id = readId(value, path, output);
      if (id === undefined) return undefined;
      owners[type] = id;
    }
    return owners;
  };
}

function pick(row: JsonValue, paths: Readonly<Record<string, Path>> | undefined): JsonObject {
  const picked: [string, JsonValue][] = [];
  for (const [name, path] of Object.entries(paths ?? {})) {
    const value = valueAt(row, path);
    if (!isMissing(value)) picked.push([name, value as JsonValue]);
  }
  return Object.fromEntries(picked);
}

function readCandidate(
  item: JsonValue,
  source: RankingSource,
  idPath: Path,
  time: number,
  output: EventOutput,
): ForeignCandidate | undefined {
  const id = readId(valueAt(item, idPath), idPath === '.' ? 'the id of an item' : idPath, output);
  if (id === undefined) return undefined;
  const position = readPosition(item, source.map.position, source.positions_from ?? 1, output);
  if (position === null) return undefined;
  const acts: ForeignAct[] = [];
  for (const [event, path] of Object.entries(source.feedback ?? {})) {
    const value = valueAt(item, path);
    if (Array.isArray(value) || isMissing(value)) continue;
    const act = readFlag(value, event, time);
    if (act === null) {
      output.reject('bad_flag', `${path}: ${shown(value)} is not yes or no, a number or a time`);
      return undefined;
    }
    if (act !== undefined) acts.push(act);
  }
  const score = Number(valueAt(item, onePath(source.map.score) ?? ''));
  return {
    id,
    position,
    ...(source.map.score !== undefined && Number.isFinite(score) ? { score } : {}),
    carried: pick(item, source.carry),
    acts,
  };
}

/** @returns undefined if the row has none; null if it is rejected */
function readPosition(
  row: JsonValue,
  path: Path | readonly Path[] | undefined,
  first: number,
  output: EventOutput,
): number | undefined | null {
  const from = onePath(path);
  const value = from === undefined ? undefined : valueAt(row, from);
  if (isMissing(value)) return undefined;
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : NaN;
  if (Number.isInteger(number) && number >= first && number < 2 ** 31) return number - first + 1;
  output.reject('bad_position', `${from ?? ''}: ${shown(value)} is not a whole number from ${first}`);
  return null;
}

const YES: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y']);
const NO: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n', 'none', 'null', 'nan']);
/** A number this large is a time, not a quantity. */
const LEAST_TIME = 1e8;

/**
 * Reads the cell of a flag: yes or no, a quantity, or the time when it happened.
 * @returns undefined if it did not happen; null if the cell cannot be read
 */
function readFlag(value: JsonValue, event: string, shownAt: number): ForeignAct | undefined | null {
  if (typeof value === 'boolean') return value ? { event, time: shownAt, quantity: 1 } : undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).trim().toLowerCase();
  if (NO.has(text)) return undefined;
  if (YES.has(text)) return { event, time: shownAt, quantity: 1 };
  const number = Number(text);
  if (Number.isNaN(number) || number >= LEAST_TIME) {
    const time = foreignTime(value);
    return Number.isNaN(time) ? null : { event, time, quantity: 1 };
  }
  if (number < 0) return null;
  return number === 0 ? undefined : { event, time: shownAt, quantity: Math.max(1, Math.floor(number)) };
}

/** A list, or a cell of CSV with one: JSON, or ids between `|`, `,` or spaces. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  if (value.trimStart().startsWith('[')) {
    try {
      const list: unknown = JSON.parse(value);
      return Array.isArray(list) ? (list as JsonValue[]) : undefined;
    } catch {
      return undefined;
    }
  }
  const separator = ['|', ',', ';', ' '].find((one) => value.includes(one));
  return (separator === undefined ? [value] : value.split(separator))
    .map((id) => id.trim())
    .filter((id) => id !== '');
}

/** Columns of feedback that hold the ids of the candidates that it happened to. */
function actedIds(
  row: JsonObject,
  feedback: RankingSource['feedback'],
  time: number,
): readonly { readonly ids: ReadonlySet<string>; readonly act: ForeignAct }[] {
  return Object.entries(feedback ?? {}).flatMap(([event, path]) => {
    const value = valueAt(row, path);
    const list = isMissing(value) ? undefined : typeof value === 'number' ? [value] : listOf(value);
    if (list === undefined) return [];
    const ids = new Set(list.flatMap((id) => (idProblem(id) === undefined ? (idText(id) ?? []) : [])));
    return [{ ids, act: { event, time, quantity: 1 } }];
  });
}

/** Lists that are still open, oldest first. More than this are not kept. */
const MOST_OPEN = 64;

/**
 * Puts rows that tell no request together into lists. A list holds each id once, so a repeated id goes into the next
 * list. The rows of a list follow one another in the file, apart from such ids.
 */
class Pools {
  readonly #size: number;
  readonly #file: number;
  readonly #open: { readonly time: number; readonly candidates: Map<string, ForeignCandidate> }[] = [];
  #lists = 0;

  constructor(size: number, file: number) {
    this.#size = size;
    this.#file = file;
  }

  /** @returns the lists that are complete */
  add(time: number, candidate: ForeignCandidate): ForeignRanking[] {
    let pool = this.#open.find(({ candidates }) => !candidates.has(candidate.id));
    if (pool === undefined) this.#open.push((pool = { time, candidates: new Map() }));
    pool.candidates.set(candidate.id, candidate);
    const done: ForeignRanking[] = [];
    if (pool.candidates.size >= this.#size) done.push(...this.#close(this.#open.indexOf(pool)));
    else if (this.#open.length > MOST_OPEN) done.push(...this.#close(0));
    return done;
  }

  end(): ForeignRanking[] {
    const done: ForeignRanking[] = [];
    while (this.#open.length > 0) done.push(...this.#close(0));
    return done;
  }

  #close(at: number): ForeignRanking[] {
    const [pool] = this.#open.splice(at, 1);
    if (pool === undefined) return [];
    this.#lists += 1;
    return [
      {
        is: 'ranking',
        request: `pool-${this.#file}-${this.#lists}`,
        time: pool.time,
        owners: {},
        sent: {},
        candidates: [...pool.candidates.values()],
        pooled: true,
      },
    ];
  }
}
