import assert from 'node:assert/strict';
import type { Source, SourceMessage, SourcePlugin } from '../../ground/api/source.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { ConformanceTest } from './conformance-test.js';
import { createOutside, outsideTests } from './outside-tests.js';

export interface SourceExample {
  readonly with?: JsonObject;
  /** Makes the other side empty, and gives it messages with these contents, in order. */
  readonly send: (contents: readonly string[]) => Promise<void> | void;
  readonly findPackage?: (name: string) => string | undefined;
}

/** Creates a source as the runtime does. @throws Error if the options are wrong; what `create` throws */
export function createSource(plugin: SourcePlugin, { with: given, findPackage }: SourceExample): Source {
  return createOutside(plugin, given, {
    ...{ name: 'test', rejected: undefined, consumer: 'test' },
    findPackage: findPackage ?? (() => undefined),
  });
}

const CONTENTS = ['one', 'é\n"', '{"three":3}', '4', 'five'];

/** What every source must do. */
export function sourceTests(plugin: SourcePlugin, example: SourceExample): ConformanceTest[] {
  const { signal } = new AbortController();
  const withSource = async (work: (source: Source) => Promise<void>): Promise<void> => {
    const source = createSource(plugin, example);
    try {
      await source.open(signal);
      await work(source);
    } finally {
      await source.close?.();
    }
  };
  return [
    ...outsideTests(
      plugin,
      example.with,
      () => createSource(plugin, example),
      (source) => assert.equal(typeof source.read, 'function'),
    ),
    {
      name: 'reads messages in order, at most as many as asked for, each with an id of its own',
      run: async () => {
        await example.send(CONTENTS);
        await withSource(async (source) => {
          const first = await source.read(2, signal);
          assert.ok(first.length <= 2, 'it returned more messages than asked for');
          await source.settle(first, []);
          const all = [...first, ...(await readAll(source, CONTENTS.length - first.length, signal))];
          assert.deepEqual(all.map(textOf), CONTENTS);
          assert.equal(new Set(all.map(({ partition, id }) => `${partition} ${id}`)).size, CONTENTS.length);
        });
      },
    },
    {
      name: 'delivers what is not settled again, with the same ids, and what is settled not',
      run: async () => {
        await example.send(CONTENTS);
        let seen: readonly SourceMessage[] = [];
        await withSource(async (source) => {
          const settled = await readAll(source, 2, signal);
          assert.equal(settled.length, 2);
          seen = await source.read(1, signal);
        });
        await withSource(async (source) => {
          const left = await readAll(source, CONTENTS.length - 2, signal);
          assert.deepEqual(left.map(textOf), CONTENTS.slice(2));
          assert.equal(left[0]?.id, seen[0]?.id);
        });
      },
    },
  ];
}

const MOST_READS = 100;

/** Reads and settles so many messages. */
async function readAll(source: Source, count: number, signal: AbortSignal): Promise<SourceMessage[]> {
  const all: SourceMessage[] = [];
  for (let reads = 0; all.length < count && reads < MOST_READS; reads++) {
    const read = await source.read(count - all.length, signal);
    await source.settle(read, []);
    all.push(...read);
  }
  return all;
}

function textOf({ content }: SourceMessage): string {
  return Buffer.from(content ?? []).toString('utf8');
}
