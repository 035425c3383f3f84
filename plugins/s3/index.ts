import { createRequire } from 'node:module';
import {
  defineSink,
  isObjectPath,
  type JsonObject,
  ObjectError,
  objectPlace,
  OptionError,
  parseDuration,
  parseSize,
  type Sink,
} from 'millrace/api';
import { ObjectWriter } from './object-writer.js';
import type { Options } from './options.generated.js';

export const sink = defineSink<Options>({
  name: 's3',
  summary: 'Stores records as segments in object storage.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, { folder, format, findPackage, instance, name }): Sink {
    const { endpoint, region, url = isObjectPath(folder) ? folder : undefined } = options;
    if (url === undefined)
      throw new OptionError([], 'the sink has no `url`', 'write e.g. `with: { url: "s3://bucket/prefix" }`');
    const [ageMs, timeoutMs] = [
      timeOf(options, 'segment', 200, 3_600_000),
      timeOf(options, 'timeout', 1, 300_000),
    ];
    const bytes = parseSize(options.segment_bytes) ?? 0;
    if (bytes < 2 ** 20 || bytes > 2 ** 26)
      throw new OptionError(['segment_bytes'], `\`${options.segment_bytes}\` is not a size from 1MB to 64MB`);
    try {
      const place = objectPlace(url, { endpoint, region, timeoutMs, findPackage });
      return new ObjectWriter({ ...place, writer: `${instance}-${name}`, format, ageMs, bytes });
    } catch (error) {
      if (error instanceof ObjectError) throw new OptionError([], error.message, error.help);
      throw error;
    }
  },
});

/** @throws OptionError */
function timeOf(options: Options, name: 'segment' | 'timeout', least: number, most: number): number {
  const ms = parseDuration(options[name]);
  if (ms !== undefined && ms >= least && ms <= most) return ms;
  throw new OptionError([name], `\`${options[name]}\` is not a time from ${least}ms to ${most / 1000}s`);
}
