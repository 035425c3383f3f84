import { createRequire } from 'node:module';
import {
  defineSink,
  defineSource,
  type JsonObject,
  OptionError,
  parseDuration,
  type Sink,
  type Source,
} from 'millrace/api';
import { checkServer } from './client.js';
import { TopicReader, type Start } from './topic-reader.js';
import { TopicWriter } from './topic-writer.js';
import type { Options } from './options.generated.js';
import type { Options as SourceOptions } from './source.generated.js';

const require = createRequire(import.meta.url);

export const sink = defineSink<Options>({
  name: 'kafka',
  summary: 'Sends records to a Kafka topic.',
  options: require('./options.schema.json') as JsonObject,
  create(options, { findPackage }): Sink {
    const timeoutMs = timeoutOf(options);
    return new TopicWriter(options, timeoutMs, checkServer(options, 'sink', findPackage('kafkajs')));
  },
});

export const source = defineSource<SourceOptions>({
  name: 'kafka',
  summary: 'Reads a Kafka topic as a consumer group.',
  options: require('./source.schema.json') as JsonObject,
  create(options, { name, rejected, findPackage }): Source {
    const timeoutMs = timeoutOf(options);
    const group = {
      group: options.group ?? `millrace-${name}`,
      rejected: rejected ?? `${options.topic}.rejected`,
      start: startOf(options.start),
    };
    return new TopicReader(options, group, timeoutMs, checkServer(options, 'source', findPackage('kafkajs')));
  },
});

/** @throws OptionError */
function timeoutOf({ timeout }: { readonly timeout: string }): number {
  const ms = parseDuration(timeout);
  if (ms !== undefined && ms >= 1) return ms;
  throw new OptionError(['timeout'], `\`${timeout}\` is not a time`, 'write e.g. 500ms or 10s');
}

/** @throws OptionError */
function startOf(start: string): Start {
  if (start === 'earliest' || start === 'latest') return start;
  const time = Date.parse(start);
  if (!Number.isNaN(time)) return Math.max(0, time);
  throw new OptionError(
    ['start'],
    `\`start\`: expected earliest, latest or a time, found \`${start}\``,
    'a time is written e.g. 2026-11-01T00:00Z',
  );
}
