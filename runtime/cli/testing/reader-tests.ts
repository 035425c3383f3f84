import assert from 'node:assert/strict';
import type { OutboundHttp } from '../../ground/api/http-client.js';
import type { Reader, ReaderInput, ReaderPlugin, ReadRows } from '../../ground/api/reader.js';
import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import { misfit } from '../../ground/core/value-fit.js';
import type { ConformanceTest } from './conformance-test.js';
import { NO_SERVER } from './create-step.js';
import type { FakeServices } from './fake-services.js';
import { createOutside, outsideTests } from './outside-tests.js';

/** A view, its reader, and rows that the other system has. */
export interface ReaderExample {
  readonly with?: JsonObject;
  /** The names of the key, e.g. `['product_id']`. */
  readonly keys: readonly string[];
  /** The types of the features. */
  readonly features: Readonly<Record<string, ValueType>>;
  /** Rows that the other system has: the ids of each, and its values. There are two at least. */
  readonly rows: readonly {
    readonly key: readonly string[];
    readonly values: Readonly<Record<string, JsonValue>>;
  }[];
  /** A key that the other system does not have. */
  readonly missing: readonly string[];
  readonly http?: OutboundHttp;
  readonly findPackage?: (name: string) => string | undefined;
  readonly services?: FakeServices;
}

/** Creates a reader as the runtime does. @throws Error if the options are wrong; what `create` throws */
export function createReader(plugin: ReaderPlugin, example: ReaderExample): Reader {
  const context = {
    view: 'test',
    keys: example.keys,
    features: new Map(Object.entries(example.features)),
    http: example.http ?? NO_SERVER,
    findPackage: example.findPackage ?? (() => undefined),
  };
  return createOutside(plugin, example.with, context, example.services);
}

/** What every reader must do. */
export function readerTests(plugin: ReaderPlugin, example: ReaderExample): ConformanceTest[] {
  const all = example.rows.map(({ key }) => key);
  const withReader = async (work: (reader: Reader) => Promise<void>): Promise<void> => {
    const reader = createReader(plugin, example);
    try {
      await work(reader);
    } finally {
      await reader.close?.();
    }
  };
  return [
    ...outsideTests(
      plugin,
      example.with,
      () => createReader(plugin, example),
      (reader) => assert.equal(typeof reader.read, 'function'),
    ),
    {
      name: 'reads rows in the order of the keys, whatever that order is',
      run: () =>
        withReader(async (reader) => {
          for (const keys of [all, [...all].reverse(), all.slice(0, 1)]) {
            const rows = checked(await reader.read(inputOf(keys)), example, keys.length);
            for (const [at, key] of keys.entries()) {
              const wanted = example.rows.find((row) => row.key === key)?.values ?? {};
              for (const name of Object.keys(example.features))
                assert.deepEqual(
                  rows.columns[name]?.[at] ?? null,
                  wanted[name] ?? null,
                  `${name} of ${key.join()}`,
                );
            }
          }
        }),
    },
    ...keyTests(all, example, withReader),
    {
      name: 'ends when its signal aborts',
      run: () =>
        withReader(async (reader) => {
          const signal = AbortSignal.abort(new Error('too late'));
          await assert.rejects(async () => reader.read({ ...inputOf(all), signal }));
        }),
    },
  ];
}

/** What the keys of a read may be. */
function keyTests(
  all: readonly (readonly string[])[],
  example: ReaderExample,
  withReader: (work: (reader: Reader) => Promise<void>) => Promise<void>,
): ConformanceTest[] {
  return [
    {
      name: 'tells keys without a row from keys that could not be read',
      run: () =>
        withReader(async (reader) => {
          const rows = checked(
            await reader.read(inputOf([example.missing, ...all])),
            example,
            all.length + 1,
          );
          assert.equal(rows.problem, undefined);
          for (const name of Object.keys(example.features))
            assert.equal(rows.columns[name]?.[0], undefined, `${name} of a key without a row`);
        }),
    },
    {
      name: 'takes ids that hold any characters as ids, and many of them',
      run: () =>
        withReader(async (reader) => {
          const odd = ["' or 1=1 --", '"', '\\', '{a,b}', 'é🙂', '%', '\n', ','];
          const keys = odd.map((id) => example.keys.map(() => id));
          const many = Array.from({ length: 1_000 }, (_, n) => example.keys.map(() => `no-such-id-${n}`));
          for (const asked of [keys, many]) {
            const rows = checked(
              await reader.read(inputOf([...asked, ...all])),
              example,
              asked.length + all.length,
            );
            for (const name of Object.keys(example.features))
              assert.ok(
                rows.columns[name]?.slice(0, asked.length).every((value) => value === undefined),
                `${name} of keys without a row`,
              );
          }
        }),
    },
  ];
}

const TIMEOUT_MS = 5_000;

function inputOf(keys: readonly (readonly string[])[]): ReaderInput {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return { keys, now: 0, signal, timeoutMs: TIMEOUT_MS, trace: undefined };
}

/** Checks the form of an answer, and the types of its values. */
function checked(rows: ReadRows, { features }: ReaderExample, count: number): ReadRows {
  for (const [name, type] of Object.entries(features)) {
    const column = rows.columns[name];
    assert.ok(Array.isArray(column), `the column ${name} is missing`);
    assert.equal(column.length, count, `the column ${name} has a value for each key`);
    for (const value of column as readonly (JsonValue | undefined)[])
      if (value !== undefined) assert.equal(misfit(value, type)?.detail, undefined, name);
  }
  assert.ok(rows.times === undefined || rows.times.length === count, 'there is a time for each key');
  return rows;
}
