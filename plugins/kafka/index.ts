import { createRequire } from 'node:module';
import { defineSink, type JsonObject, OptionError, parseDuration, type Sink } from 'millrace/api';
import { TopicWriter } from './topic-writer.js';
import type { Options } from './options.generated.js';

const BROKER = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/;

export const sink = defineSink<Options>({
  name: 'kafka',
  summary: 'Sends records to a Kafka topic.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, { findPackage }): Sink {
    const timeoutMs = parseDuration(options.timeout);
    if (timeoutMs === undefined || timeoutMs < 1)
      throw new OptionError(['timeout'], `\`${options.timeout}\` is not a time`, 'write e.g. 500ms or 10s');
    for (const [i, broker] of options.brokers.entries())
      if (!BROKER.test(broker))
        throw new OptionError(['brokers', i], 'expected host:port', 'for example "kafka-1:9092"');
    const { username, password, cert, key_file: keyFile } = options;
    if ((username === undefined) !== (password === undefined))
      throw new OptionError(
        [username === undefined ? 'password' : 'username'],
        '`username` and `password` need each other',
      );
    if ((cert === undefined) !== (keyFile === undefined))
      throw new OptionError(
        [cert === undefined ? 'key_file' : 'cert'],
        '`cert` and `key_file` need each other: a certificate and its private key',
      );
    const client = findPackage('kafkajs');
    if (client === undefined)
      throw new OptionError(
        [],
        'the sink needs the npm package kafkajs, which is not installed',
        'run `npm install kafkajs@2` in the project, or beside Millrace',
      );
    return new TopicWriter(options, timeoutMs, client);
  },
});
