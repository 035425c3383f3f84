import { createRequire } from 'node:module';
import {
  defineSink,
  defineSource,
  type JsonObject,
  OptionError,
  parseDuration,
  parseSize,
  type Sink,
  type Source,
} from 'millrace/api';
import { checkServer } from './connect.js';
import { StreamReader } from './stream-reader.js';
import { StreamWriter } from './stream-writer.js';
import type { Options } from './options.generated.js';
import type { Options as SourceOptions } from './source.generated.js';

const require = createRequire(import.meta.url);

export const sink = defineSink<Options>({
  name: 'redis_stream',
  summary: 'Adds records to a Redis stream (XADD), which removes its oldest entries.',
  options: require('./options.schema.json') as JsonObject,
  create(options): Sink {
    const timeoutMs = millisecondsOf(options.timeout, 'timeout');
    checkServer(options);
    return new StreamWriter(options, timeoutMs, parseSize('512KB') ?? 0);
  },
});

export const source = defineSource<SourceOptions>({
  name: 'redis_stream',
  summary: 'Reads the entries of a Redis stream as a consumer group.',
  options: require('./source.schema.json') as JsonObject,
  create(options, { name, rejected, consumer }): Source {
    const timeoutMs = millisecondsOf(options.timeout, 'timeout');
    checkServer(options);
    return new StreamReader(options, {
      group: options.group ?? `millrace-${name}`,
      consumer: options.consumer ?? consumer,
      rejected: rejected ?? `${options.stream}:rejected`,
      start: startOf(options.start),
      claimIdleMs: millisecondsOf(options.claim_idle, 'claim_idle'),
      timeoutMs,
    });
  },
});

/** Where a new group begins, as Redis takes it. @throws OptionError */
function startOf(start: string): string {
  if (start === 'earliest') return '0';
  if (start === 'latest') return '$';
  const time = Date.parse(start);
  if (!Number.isNaN(time)) return `${Math.max(0, time)}-0`;
  throw new OptionError(
    ['start'],
    `\`start\`: expected earliest, latest or a time, found \`${start}\``,
    'a time is written e.g. 2026-11-01T00:00Z',
  );
}

function millisecondsOf(text: string, option: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1) return ms;
  throw new OptionError([option], `\`${text}\` is not a time`, 'write e.g. 500ms or 5s');
}
