import assert from 'node:assert/strict';
import type { OutboundHttp } from '../../ground/api/http-client.js';
import type { RecordBatch, Sink, SinkFormat, SinkPlugin } from '../../ground/api/ledger.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { ConformanceTest } from './conformance-test.js';
import { NO_SERVER } from './create-step.js';
import { createOutside, outsideTests } from './outside-tests.js';

export interface SinkExample {
  readonly with?: JsonObject;
  /** By default `events`. */
  readonly format?: SinkFormat;
  readonly http?: OutboundHttp;
  /** Finds an optional package that the sink needs; by default none is installed. */
  readonly findPackage?: (name: string) => string | undefined;
  /** Reads the lines that the other side has, to compare them with those that were written. */
  readonly received?: () => Promise<readonly string[]> | readonly string[];
}

/** Makes a batch of events from JSON objects. */
export function fakeBatch(events: readonly JsonObject[]): RecordBatch {
  const lines = events.map((event) => JSON.stringify(event));
  const body = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  return {
    format: 'events',
    contentType: 'application/x-ndjson',
    count: events.length,
    bytes: body.length,
    kinds: ['ranking'],
    body: () => body,
    messages: () =>
      lines.map((line, i) => ({
        kind: 'ranking',
        requestId: `r${i}`,
        unit: undefined,
        bytes: Buffer.from(line),
      })),
    schemas: () => new Map(),
    frames: () => [],
  };
}

/** Creates a sink as the runtime does. @throws Error if the options are wrong; what `create` throws */
export function createSink(plugin: SinkPlugin, example: SinkExample): Sink {
  const { with: given, format = 'events', http, findPackage = () => undefined } = example;
  return createOutside(plugin, given, {
    name: 'test',
    format,
    instance: '00000000-0000-0000-0000-000000000000',
    folder: '',
    keepMs: Infinity,
    keepBytes: Infinity,
    http: http ?? NO_SERVER,
    findPackage,
    warn: () => undefined,
  });
}

/** What every sink must do. */
export function sinkTests(plugin: SinkPlugin, example: SinkExample): ConformanceTest[] {
  return [
    ...outsideTests(
      plugin,
      example.with,
      () => createSink(plugin, example),
      (sink) => {
        assert.equal(typeof sink.write, 'function');
        assert.ok((sink.batchBytes ?? 1) > 0, '`batchBytes` is a size');
      },
    ),
    {
      name: 'writes batches in order, and each of their events',
      run: async () => {
        const sink = createSink(plugin, example);
        const events = Array.from({ length: 7 }, (_, n) => ({ event: n, text: 'é\n"' }));
        await sink.write(fakeBatch(events.slice(0, 3)), new AbortController().signal);
        await sink.write(fakeBatch(events.slice(3)), new AbortController().signal);
        await sink.close?.();
        if (example.received === undefined) return;
        const lines = await example.received();
        assert.deepEqual(
          lines.map((line) => JSON.parse(line) as unknown),
          events,
        );
      },
    },
    {
      name: 'does not write a batch whose signal is aborted',
      run: async () => {
        const sink = createSink(plugin, example);
        const aborted = AbortSignal.abort(new Error('too late'));
        await assert.rejects(async () => sink.write(fakeBatch([{ event: 'late' }]), aborted));
        await sink.close?.();
      },
    },
  ];
}
