/**
 * Compares what Millrace reads from Feast's Redis with what Feast's own SDK reads, value by value:
 *
 *   node dist/test/acceptance/feast-sdk.js --python PATH
 *
 * PATH is a Python with `feast[redis]`. feast_values.py writes a value of every type to a private Redis and reads all
 * of them back. `millrace features import-feast` declares the views, and a service without pipelines answers
 * get-online-features. The intended differences are in docs/feast.md and in `expected` below; any other difference
 * fails the run.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { createApp } from '../../runtime/serve/app/app.js';
import {
  FEATURE_TYPES,
  isFeatureValueType,
  type FeatureValueType,
} from '../../runtime/state/feast/value-types.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { millrace } from '../support/command-line.js';
import { MemoryStore } from '../support/memory-store.js';
import { startRedisServer } from '../support/redis-server.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

/** A value in the notation of feast_values.py: null, or its type and the value. */
type Spelt = null | {
  readonly [type: string]: string | number | boolean | readonly Spelt[] | { readonly [name: string]: Spelt };
};

interface Case {
  readonly view: string;
  /** Feast's value type of each feature. */
  readonly types: Readonly<Record<string, string>>;
  /** The declared types, if they differ from the types that import-feast writes. */
  readonly declared?: Declared;
  /** By join key: one id per row. */
  readonly keys: Readonly<Record<string, readonly Spelt[]>>;
  readonly results: Readonly<
    Record<string, { values: readonly Spelt[]; statuses: readonly string[]; times: readonly string[] }>
  >;
}

type Declared = (typeof FEATURE_TYPES)[FeatureValueType];

interface Written {
  readonly value_types: readonly string[];
  readonly written: Readonly<Record<string, number>>;
  readonly cases: readonly Case[];
}

interface Cell {
  readonly value: unknown;
  readonly status: string;
}

const NO_TIME = '1970-01-01T00:00:00Z';
const MAX_FLOAT32 = 3.4028234663852886e38;
const INVALID: Cell = { value: null, status: 'INVALID' };
/** Views of feast_values.py whose ttl has expired. */
const EXPIRED = new Set(['aged', 'text_of_aged']);

const present = (value: unknown): Cell => ({ value, status: 'PRESENT' });

/** Returns the expected answer of get-online-features for a value that Feast's SDK reads. */
function expected(spelt: Spelt, declared: Declared, hasRow: boolean): Cell {
  if (spelt === null) return { value: null, status: hasRow ? 'NULL_VALUE' : 'NOT_FOUND' };
  switch (declared) {
    case 'int':
      return Number.isSafeInteger(numberOf(spelt)) ? present(numberOf(spelt)) : INVALID;
    case 'float': {
      const value = numberOf(spelt);
      if (Number.isNaN(value)) return { value: null, status: 'NULL_VALUE' };
      return Number.isFinite(value) ? present(value) : INVALID;
    }
    case 'bool':
      return present(spelt['bool']);
    case 'timestamp':
      return present(spelt['time']);
    case 'string':
      return present(textOf(spelt));
    case 'list(string)':
      return present(elementsOf(spelt).map(textOf));
    case 'vector(n)': {
      const elements = elementsOf(spelt);
      const values = elements.map(numberOf);
      const exact = elements.every((one, i) => one?.['int'] === undefined || Number.isSafeInteger(values[i]));
      const fit = values.length === 3 && values.every((value) => Math.abs(value) <= MAX_FLOAT32);
      return fit && exact ? present(values) : INVALID;
    }
  }
}

/** Returns a string unchanged, bytes in base64, and any other value as JSON. */
function textOf(spelt: Spelt): string {
  if (typeof spelt?.['text'] === 'string') return spelt['text'];
  return typeof spelt?.['bytes'] === 'string' ? base64(spelt['bytes']) : jsonOf(spelt);
}

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

function jsonOf(spelt: Spelt): string {
  if (spelt === null) return 'null';
  const [[type, value] = ['', '']] = Object.entries(spelt);
  switch (type) {
    case 'int':
    case 'bool':
      return `${value as number}`;
    case 'text':
      return JSON.stringify(value);
    case 'bytes':
      return JSON.stringify(base64(value as string));
    case 'time':
      return String(Number(value) / 1000);
    case 'float': {
      const number = value === 'nan' ? NaN : numberOf(spelt);
      return JSON.stringify(Number.isFinite(number) ? number : String(number));
    }
    case 'list':
    case 'set':
      return `[${elementsOf(spelt).map(jsonOf).join(',')}]`;
    case 'map':
      return `{${Object.entries(value as { readonly [name: string]: Spelt })
        .map(([name, one]) => `${JSON.stringify(name)}:${jsonOf(one)}`)
        .join(',')}}`;
    default:
      throw new Error(`not a value: ${JSON.stringify(spelt)}`);
  }
}

function numberOf(spelt: Spelt): number {
  const text = spelt?.['float'] ?? spelt?.['int'];
  // JSON has no -0, so JavaScript writes it as 0.
  return text === 'inf' ? Infinity : text === '-inf' ? -Infinity : Number(text) + 0;
}

function elementsOf(spelt: Exclude<Spelt, null>): readonly Spelt[] {
  return (spelt['list'] ?? spelt['set']) as readonly Spelt[];
}

/** Converts an id to the form that a caller of get-online-features sends. */
function idOf(spelt: Spelt): string | number {
  if (typeof spelt?.['bytes'] === 'string') return spelt['bytes'];
  if (spelt?.['time'] !== undefined) return String(Number(spelt['time']) / 1000);
  const text = textOf(spelt);
  return spelt?.['int'] !== undefined && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** Sorts the elements of sets and the members of maps, which have no order. */
function sorted(cell: Cell, type: string): Cell {
  const { value } = cell;
  if (/MAP|STRUCT/.test(type) && value !== null) return { ...cell, value: [value].flat().map(parsed) };
  return type.endsWith('_SET') && Array.isArray(value)
    ? { ...cell, value: (value as unknown[]).toSorted() }
    : cell;
}

const parsed = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : text);

class Comparison {
  compared = 0;
  differences = 0;
  readonly types = new Set<string>();
  readonly statuses = new Map<string, number>();

  async compare(url: string, one: Case): Promise<void> {
    const read = Object.entries(one.types).flatMap(([name, type]): [string, FeatureValueType][] =>
      isFeatureValueType(type) ? [[name, type]] : [],
    );
    const response = await fetch(`${url}/feature/get-online-features`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        features: read.map(([name]) => `${one.view}:${name}`),
        entities: Object.fromEntries(Object.entries(one.keys).map(([key, ids]) => [key, ids.map(idOf)])),
      }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${one.view}: ${text}`);
    const answer = JSON.parse(text) as {
      metadata: { feature_names: string[] };
      results: { values: unknown[]; statuses: string[]; event_timestamps: string[] }[];
    };
    for (const [name, type] of read) {
      const ours = answer.results[answer.metadata.feature_names.indexOf(name)];
      const theirs = one.results[name];
      this.types.add(type);
      theirs?.values.forEach((value, row) => {
        const time = theirs.times[row];
        const cell = EXPIRED.has(one.view)
          ? { value: null, status: 'OUTSIDE_MAX_AGE' }
          : expected(value, one.declared ?? FEATURE_TYPES[type], time !== NO_TIME);
        const found = { value: ours?.values[row], status: ours?.statuses[row] ?? '' };
        this.#check(`${one.view}:${name}, row ${row}`, sorted(found, type), sorted(cell, type));
        this.#check(`${one.view}:${name}, row ${row}, time`, ours?.event_timestamps[row], time);
        this.statuses.set(found.status, (this.statuses.get(found.status) ?? 0) + 1);
      });
    }
  }

  #check(what: string, found: unknown, wanted: unknown): void {
    this.compared++;
    if (isDeepStrictEqual(found, wanted)) return;
    this.differences++;
    console.error(`${what}\n  expected ${JSON.stringify(wanted)}\n  found    ${JSON.stringify(found)}`);
  }
}

/** Returns the types that do not become a feature and that import-feast does not report. */
function unreported({ value_types: types, cases }: Written, output: string): string[] {
  return types.filter((type) => {
    if (isFeatureValueType(type)) return !cases.some((one) => Object.values(one.types).includes(type));
    return !output.includes(`features of the type ${type} are not supported`);
  });
}

async function main(python: string): Promise<boolean> {
  const redis = await startRedisServer();
  try {
    return await withFiles({}, async (root) => {
      const script = repositoryPath('test/acceptance/feast_values.py');
      const output = execFileSync(python, [script, String(redis.port), root], {
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const written = JSON.parse(output) as Written;
      const imported = await millrace(
        [
          'features',
          'import-feast',
          join(root, 'registry.json'),
          '--url-from',
          'FEAST_REDIS_URL',
          '--project',
          root,
        ],
        {},
      );
      // If integers are declared as strings, their values are exact at any size.
      const asTexts = written.cases.flatMap((one): Case[] =>
        one.types['v'] === 'INT64' ? [{ ...one, view: `text_of_${one.view}`, declared: 'string' }] : [],
      );
      for (const one of asTexts) {
        const imported = join(root, `schemas/features/${one.view.replace('text_of_', '')}.yaml`);
        const text = (await readFile(imported, 'utf8'))
          .replace(/^view: (.*)$/m, `view: ${one.view}`)
          .replace(/^( +)project: .*$/m, `$&\n$1view: ${one.view.replace('text_of_', '')}`)
          .replaceAll(/: int$/gm, ': string');
        await writeFile(join(root, `schemas/features/${one.view}.yaml`), text);
      }
      process.env.FEAST_REDIS_URL = redis.url;
      const app = await createApp(loadSettings({ LOG_LEVEL: 'silent' }, { project: root }), {
        store: new MemoryStore(),
      });
      const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
      const comparison = new Comparison();
      try {
        for (const one of [...written.cases, ...asTexts])
          await comparison.compare(`http://127.0.0.1:${server.port}`, one);
      } finally {
        await server.close(0);
        await app.close();
      }
      const missed = unreported(written, imported.stderr);
      for (const type of missed) console.error(`import-feast neither reads nor reports the type ${type}`);
      const warned = imported.stderr.includes('ttl of aged:');
      if (!warned) console.error('import-feast does not warn about the ttl of aged');
      const counts = (of: Iterable<readonly [string, number]>): string =>
        Array.from(of, ([name, count]) => `${name} ${count}`).join(', ');
      console.log(`Feast wrote rows by ${counts(Object.entries(written.written))}`);
      console.log(
        `${written.value_types.length} value types: ${comparison.types.size} read, ` +
          `${written.value_types.length - comparison.types.size} reported as not supported`,
      );
      console.log(`statuses: ${counts(comparison.statuses)}`);
      console.log(`${comparison.compared} values and times compared, differences ${comparison.differences}`);
      return comparison.differences === 0 && missed.length === 0 && warned;
    });
  } finally {
    await redis.remove();
  }
}

const { values: flags } = parseArgs({ options: { python: { type: 'string' } } });
if (flags.python === undefined) throw new Error('--python PATH is missing');
process.exitCode = (await main(flags.python)) ? 0 : 1;
