/**
 * Converts generated values by the rules of `accept: lax`, and by pydantic:
 *
 *   node dist/test/acceptance/lax.js --python PATH [--short] [--seed N]
 *
 * PATH is a Python with pydantic 2; lax_values.py asks it. It fails if a value differs for no reason in the table of differences
 * in docs/lax.md, or if no value shows one of its rows. --short takes 10,000 values instead of 100,000.
 */
import { execFileSync } from 'node:child_process';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import type { JsonValue, ValueType } from '../../runtime/ground/api/types.js';
import { LaxBody } from '../../runtime/ground/core/lax-value.js';
import { atOnce } from '../../runtime/ground/core/pieces.js';
import { Random } from '../../runtime/ground/core/random.js';
import { timestampOf } from '../../runtime/ground/core/timestamp.js';
import { idText, idProblem } from '../../runtime/ground/core/ids.js';
import { isJsonObject, misfit } from '../../runtime/ground/core/value-fit.js';
import { LAX_DIFFERENCES } from '../support/lax-tables.js';
import { repositoryPath } from '../support/repository.js';

/** The fields of `record`. */
const FIELDS = [
  ['n', 'int'],
  ['f', 'float'],
  ['b', 'bool'],
  ['s', 'string'],
] as const;
const TYPES: Readonly<Record<string, ValueType>> = {
  int: { kind: 'int' },
  float: { kind: 'float' },
  bool: { kind: 'bool' },
  string: { kind: 'string' },
  id: { kind: 'ref', entity: 'brand' },
  timestamp: { kind: 'timestamp' },
  'list(string)': { kind: 'list', of: { kind: 'string' } },
  'list(float)': { kind: 'list', of: { kind: 'float' } },
  record: {
    kind: 'record',
    fields: new Map(FIELDS.map(([name, kind]) => [name, { kind }])),
  },
};
/** The types of single values. */
const SINGLE = ['int', 'float', 'bool', 'string', 'id', 'timestamp'];

/** One value of a type; undefined if it is refused. */
type Found = { readonly value: unknown } | undefined;

interface Sent {
  readonly type: string;
  readonly json: string;
  /** Of a list or a record. Each is also sent alone. */
  readonly parts: readonly Sent[];
}

interface Case extends Sent {
  readonly parts: readonly Case[];
  readonly ours: Found;
  readonly theirs: Found;
}

/** By row of the table of differences: whether it is why two single values differ. */
const REASONS: Readonly<Record<string, (one: Case) => boolean>> = {
  'a number that is not finite': ({ type, json, ours, theirs }) =>
    ours === undefined &&
    (/NaN|Infinity/.test(json) ||
      (type === 'float' && JSON.stringify(theirs).includes('not finite')) ||
      beyond(json, Number.MAX_VALUE)),
  'a whole number above 2^53 - 1': ({ type, json, ours }) =>
    ours === undefined && ['int', 'string', 'id'].includes(type) && beyond(json, Number.MAX_SAFE_INTEGER),
  'a sign after zeros': ({ type, json, ours }) =>
    type === 'int' && ours === undefined && /^"\s*0+[-+]/u.test(json),
  'minus zero as a text': ({ type, json, theirs }) =>
    (type === 'string' || type === 'id') &&
    Object.is(numberIn(json), -0) &&
    (theirs?.value === '-0' || type === 'id'),
  'a number of 17 digits as a text': ({ type, ours, theirs }) =>
    (type === 'string' || type === 'id') && Number(ours?.value) === Number(theirs?.value),
  'a number with more than 64 decimals as a text': ({ type, theirs, ours }) =>
    ours === undefined &&
    (type === 'string' || type === 'id') &&
    typeof theirs?.value === 'string' &&
    theirs.value.length > 64,
  'a number as a text of more than 10,000 characters': ({ json, ours }) =>
    ours === undefined && json.length > 10_000,
  'an empty id': ({ type, json }) => type === 'id' && json === '""',
  'a time as a number up to 20,000,000,000': ({ type, json, ours }) =>
    type === 'timestamp' && !json.startsWith('"') && ours !== undefined && !beyond(json, 2e10),
  'a time as a text of digits that may be seconds': ({ type, json, ours }) =>
    type === 'timestamp' && json.startsWith('"') && ours === undefined && !beyond(json, 2e10),
  'a time as a text with a point or an exponent': ({ type, json, ours }) =>
    type === 'timestamp' && ours === undefined && /^"[^"]*[.e]/i.test(json),
  'a time after the year 9999, or before the year 1': ({ type, json, ours, theirs }) =>
    type === 'timestamp' && ours !== undefined && theirs === undefined && beyond(json, 6e13),
};

/** The number in a JSON number, or in a JSON text. */
const numberIn = (json: string): number =>
  Number((json.startsWith('"') ? (JSON.parse(json) as string) : json).replace(/[_\p{White_Space}]/gu, ''));
const beyond = (json: string, most: number): boolean => Math.abs(numberIn(json)) > most;

function ourValue(type: ValueType, json: string): Found {
  let sent: JsonValue;
  try {
    sent = JSON.parse(json) as JsonValue;
  } catch {
    return undefined;
  }
  const types = new Map([['brand', { key: 'brand_id', attributes: new Map() }]]);
  const value = atOnce(new LaxBody(types, 'id').value(sent, type, ''));
  if (misfit(value, type) !== undefined) return undefined;
  if (type.kind === 'ref' && value !== null)
    return idProblem(value) === undefined ? { value: idText(value) } : undefined;
  if (type.kind === 'record' && isJsonObject(value))
    return { value: Object.fromEntries(Object.entries(value).filter(([name]) => type.fields.has(name))) };
  return { value: type.kind === 'timestamp' && value !== null ? timestampOf(value) : value };
}

/** Whether both are refused, or one value. A text and a number differ, and 12 and 12.0 do not. */
function isSame({ type, ours, theirs }: Case): boolean {
  if (ours === undefined || theirs === undefined) return ours === theirs;
  if (type !== 'timestamp' || ours.value === null || theirs.value === null)
    return isDeepStrictEqual(withoutMinusZero(ours.value), withoutMinusZero(theirs.value));
  // Python keeps microseconds.
  return Math.abs(Number(ours.value) - Number(theirs.value)) <= 0.002;
}

function withoutMinusZero(value: unknown): unknown {
  if (typeof value === 'number') return value + 0;
  if (Array.isArray(value)) return value.map(withoutMinusZero);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutMinusZero(one)]));
}

/** Makes values of JSON that are nearly of some type. */
class Values {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  next(): Sent {
    const type = this.#below(10) === 0 ? this.#pick(Object.keys(TYPES)) : this.#pick(SINGLE);
    const of = /^list\((.*)\)$/.exec(type)?.[1];
    if (this.#below(25) === 0) return { type, json: this.#pick(OTHERS), parts: [] };
    if (of !== undefined) {
      const parts = this.#many(() => ({ type: of, json: this.#single(), parts: [] }));
      return { type, json: `[${parts.map(({ json }) => json).join(',')}]`, parts };
    }
    if (type !== 'record')
      return { type, json: type === 'timestamp' ? this.#time() : this.#single(), parts: [] };
    const fields = FIELDS.filter(() => this.#below(2) === 0).map(([name, kind]) => {
      return { name, type: kind, json: this.#single(), parts: [] };
    });
    return {
      type,
      json: `{${fields.map(({ name, json }) => `"${name}":${json}`).join(',')}}`,
      parts: fields,
    };
  }

  #single(): string {
    const kind = this.#below(10);
    if (kind < 3) return this.#number();
    if (kind === 3) return this.#pick(['true', 'false']);
    if (kind === 4) return JSON.stringify(this.#cased(this.#pick(WORDS)));
    if (kind < 8) return JSON.stringify(this.#spaced(this.#digits()));
    return JSON.stringify(this.#many(() => this.#pick(PARTS)).join(''));
  }

  /** A literal of JSON. */
  #number(): string {
    const sign = this.#pick(['', '', '-']);
    const whole = this.#pick([
      '0',
      '1',
      '2',
      '12',
      '20000000000',
      '9007199254740991',
      '9007199254740993',
      '1700000000000',
      String(this.#below(1e9)),
      '123456789012345678901234567890',
    ]);
    const rest = this.#pick(['', '', '', '.0', '.5', '.00', `.${this.#below(1e6)}`]);
    return `${sign}${whole}${rest}${this.#pick(['', '', '', '', 'e2', 'E-3', 'e-7', 'e-30', 'e-70', 'e300', 'e400', 'e16'])}`;
  }

  /** A number as people and programs write it in a text. */
  #digits(): string {
    const group = (): string => String(this.#below(this.#pick([2, 10, 1000, 1e9])));
    const whole = this.#pick([
      group(),
      `0${group()}`,
      `${group()}_${group()}`,
      '',
      '9007199254740991',
      '9007199254740992',
    ]);
    const point = this.#pick(['', '', '.', '.0', '.00', `.${group()}`, `.${group()}_${group()}`, '_.5']);
    return `${this.#pick(['', '', '+', '-'])}${whole}${point}${this.#pick(['', '', '', 'e3', 'E-2', 'e+1', 'e400', 'e1_0'])}`;
  }

  #time(): string {
    const at = this.#pick([1.7e12, 2e10, 3e11, 2.6e14, 1e9, 1e6]) + this.#below(1e6);
    const number = `${this.#pick(['', '', '-'])}${at}${this.#pick(['', '', '', '.5', '.0'])}`;
    const day = `20${10 + this.#below(80)}-0${1 + this.#below(9)}-${10 + this.#below(18)}`;
    const clock = `${day}${this.#pick(['T', ' '])}${10 + this.#below(13)}:30${this.#pick(['', ':15', ':15.250'])}${this.#pick(['', 'Z', '+02:00'])}`;
    return this.#pick([
      number,
      JSON.stringify(number),
      `"+${at}"`,
      `"${at}e1"`,
      `" ${at}"`,
      `"${day}"`,
      `"${clock}"`,
      'true',
      '"today"',
    ]);
  }

  #spaced(text: string): string {
    const space = (): string => (this.#below(5) === 0 ? this.#pick(SPACES) : '');
    return `${space()}${text}${space()}`;
  }

  #cased(text: string): string {
    return Array.from(text, String)
      .map((one) => (this.#below(3) === 0 ? one.toUpperCase() : one))
      .join('');
  }

  #many<T>(make: () => T): T[] {
    return Array.from({ length: this.#below(5) }, make);
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#below(from.length)] as T;
  }

  #below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }
}

/** Values that few seeds make. */
const RARE = [
  ['float', 'NaN'],
  ['float', 'Infinity'],
  ['float', '-Infinity'],
  ['int', '"0-12"'],
  ['int', `"${'0'.repeat(10_000)}7"`],
  ['float', `"${'1_'.repeat(10_000)}7e-10005"`],
  ['string', '1700000000000.281192e2'],
] as const;
const OTHERS = ['null', '[]', '{}', '[1]', '{"brand":1}', '""', '" "'];
const WORDS = [
  'true',
  'false',
  't',
  'f',
  'y',
  'n',
  'yes',
  'no',
  'on',
  'off',
  '1',
  '0',
  'nan',
  'inf',
  'infinity',
  '-inf',
  'null',
  'none',
  'yess',
  ' true',
];
const SPACES = [
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '\u0085',
  '\u2003',
  '\u2028',
  '\u3000',
  '\ufeff',
  '\u200b',
  '\u001c',
  '\u000b',
  '  ',
];
const PARTS = [
  '0',
  '1',
  '9',
  '12',
  '_',
  '.',
  'e',
  'E',
  '+',
  '-',
  ' ',
  '\u00a0',
  'x',
  '0x',
  '١',
  '１',
  ',',
  'é',
  '🙂',
];

function casesOf(
  python: string,
  count: number,
  seed: number,
): { readonly version: string; readonly cases: readonly Case[] } {
  const values = new Values(seed);
  const sent = Array.from({ length: count }, () => values.next());
  for (const [type, json] of RARE) sent.push({ type, json, parts: [] });
  const all = sent.flatMap((one) => [...one.parts, one]);
  const printed = execFileSync(python, [repositoryPath('test/acceptance/lax_values.py')], {
    encoding: 'utf8',
    input: all.map(({ type, json }) => `${type}\t${json}\n`).join(''),
    maxBuffer: 1 << 28,
  });
  const [version = '', ...lines] = printed.split('\n');
  if (lines.length !== all.length + 1) throw new Error(`${lines.length - 1} answers to ${all.length} values`);
  const cases = new Map<Sent, Case>();
  for (const [i, one] of all.entries()) {
    const line = lines[i] ?? '';
    const theirs = line === '' ? undefined : { value: JSON.parse(line) as unknown };
    const ours = ourValue(TYPES[one.type] as ValueType, one.json);
    cases.set(one, { ...one, ours, theirs, parts: one.parts.map((part) => cases.get(part) as Case) });
  }
  return { version, cases: [...cases.values()] };
}

/** The rows that are why a value differs. A list or a record differs where one of its values does. */
function reasonsFor(one: Case): string[] {
  const causes = [one, ...one.parts].filter((part) => !isSame(part));
  return Object.keys(REASONS).filter((row) => causes.some((cause) => REASONS[row]?.(cause)));
}

function main(python: string, count: number, seed: number): boolean {
  const { version, cases } = casesOf(python, count, seed);
  const seen = new Map<string, number>();
  const unexplained: Case[] = [];
  let accepted = 0;
  let converted = 0;
  for (const one of cases) {
    if (one.ours !== undefined) accepted++;
    if (one.ours !== undefined && JSON.stringify(one.ours.value) !== one.json) converted++;
    if (isSame(one)) continue;
    const reasons = reasonsFor(one);
    if (reasons.length === 0) unexplained.push(one);
    for (const reason of reasons) seen.set(reason, (seen.get(reason) ?? 0) + 1);
  }
  for (const { type, json, ours, theirs } of unexplained.slice(0, 20))
    console.error(`${type} ${json}: ours ${JSON.stringify(ours)}, pydantic ${JSON.stringify(theirs)}`);
  for (const row of LAX_DIFFERENCES) console.log(`${String(seen.get(row) ?? 0).padStart(8)}  ${row}`);
  const isListed = isDeepStrictEqual([...LAX_DIFFERENCES].sort(), Object.keys(REASONS).sort());
  if (!isListed) console.error('the rows of docs/lax.md are not the reasons here');
  const unseen = LAX_DIFFERENCES.filter((row) => !seen.has(row));
  for (const row of unseen) console.error(`${row}: no value shows it`);
  console.log(
    `${cases.length} values beside pydantic ${version}: ${accepted} accepted, ${converted} of them not as sent, ${unexplained.length} differ without a reason`,
  );
  return isListed && unseen.length === 0 && unexplained.length === 0;
}

const { values: flags } = parseArgs({
  options: {
    python: { type: 'string' },
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
if (flags.python === undefined) throw new Error('--python PATH is missing');
process.exitCode = main(flags.python, flags.short ? 10_000 : 100_000, Number(flags.seed)) ? 0 : 1;
