import { createRequire } from 'node:module';
import {
  defineSink,
  isObjectPath,
  type JsonObject,
  OptionError,
  parseDuration,
  parseSize,
  type Sink,
} from 'millrace/api';
import { SegmentWriter } from './segment-writer.js';
import type { Options } from './options.generated.js';

const LEAST_KEEP_MS = 60_000;
const LEAST_BYTES = 2 ** 20;

export const sink = defineSink<Options>({
  name: 'file',
  summary: 'Writes records to segments in a folder, and deletes old segments.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ keep, bytes }, context): Sink {
    if (context.format === 'events')
      throw new OptionError([], 'the `file` sink writes columns only', 'remove `format: events`');
    if (isObjectPath(context.folder))
      throw new OptionError(
        [],
        `the ledger of the project is ${context.folder}, which is no folder`,
        'write `use: s3`',
      );
    return new SegmentWriter({
      writer: context.name === 'file' ? context.instance : `${context.instance}-${context.name}`,
      folder: context.folder,
      keepMs: keep === undefined ? context.keepMs : timeOf(keep),
      bytes: bytes === undefined ? context.keepBytes : sizeOf(bytes),
    });
  },
});

function timeOf(text: string): number {
  const time = parseDuration(text);
  if (time !== undefined && time >= LEAST_KEEP_MS) return time;
  throw new OptionError(['keep'], `\`${text}\` is not a time of at least 1m`, 'write e.g. 30d');
}

function sizeOf(text: string): number {
  const size = parseSize(text);
  if (size !== undefined && size >= LEAST_BYTES) return size;
  throw new OptionError(['bytes'], `\`${text}\` is not a size of at least 1MB`, 'write e.g. 20GB');
}
