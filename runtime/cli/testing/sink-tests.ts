import assert from 'node:assert/strict';
import type { OutboundHttp } from '../../ground/api/http-client.js';
import type { RecordBatch, Sink, SinkFormat, SinkPlugin } from '../../ground/api/ledger.js';
import type { JsonObject } from '../../ground/api/types.js';
import { schemaFaults } from '../../project/config/project/check-schema.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { ConformanceTest } from './conformance-test.js';
import { NO_SERVER, optionsOf } from './create-step.js';
import { FakeServices } from './fake-services.js';

export interface SinkExample {
  readonly with?: JsonObject;
  /** By default `events`. */
  readonly format?: SinkFormat;
  readonly http?: OutboundHttp;
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
export function createSink(plugin: SinkPlugin, { with: given, format = 'events', http }: SinkExample): Sink {
  const diagnostics = new Diagnostics();
  const checked = optionsOf(plugin, given, diagnostics);
  if (checked === undefined) throw new Error(diagnostics.all.map(({ message }) => message).join('; '));
  const { logger, metrics, now, cache, service } = new FakeServices();
  return plugin.create(structuredClone(checked.value) as never, {
    logger,
    metrics,
    now,
    cache,
    service,
    name: 'test',
    format,
    instance: '00000000-0000-0000-0000-000000000000',
    folder: '',
    keepMs: Infinity,
    keepBytes: Infinity,
    http: http ?? NO_SERVER,
    findPackage: () => undefined,
    warn: () => undefined,
  });
}

/** What every sink must do. */
export function sinkTests(plugin: SinkPlugin, example: SinkExample): ConformanceTest[] {
  return [
    {
      name: 'has an options schema that is valid and refuses unknown options',
      run: () => {
        assert.deepEqual(schemaFaults(plugin.options), []);
        const diagnostics = new Diagnostics();
        optionsOf(plugin, { ...example.with, no_such_option: 1 }, diagnostics);
        assert.ok(diagnostics.hasErrors, 'the schema needs "additionalProperties": false');
      },
    },
    {
      name: 'is created without a connection, and can be closed at once',
      run: async () => {
        const sink = createSink(plugin, example);
        assert.equal(typeof sink.write, 'function');
        assert.ok((sink.batchBytes ?? 1) > 0, '`batchBytes` is a size');
        await sink.close?.();
      },
    },
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
