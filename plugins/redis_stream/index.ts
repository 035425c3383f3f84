import { createRequire } from 'node:module';
import { defineSink, type JsonObject, OptionError, parseDuration, parseSize, type Sink } from 'millrace/api';
import { StreamWriter } from './stream-writer.js';
import type { Options } from './options.generated.js';

export const sink = defineSink<Options>({
  name: 'redis_stream',
  summary: 'Adds records to a Redis stream (XADD), which removes its oldest entries.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options): Sink {
    const timeoutMs = parseDuration(options.timeout);
    if (timeoutMs === undefined || timeoutMs < 1)
      throw new OptionError(['timeout'], `\`${options.timeout}\` is not a time`, 'write e.g. 500ms or 5s');
    checkAddress(options.url);
    const { url, ca, cert, key_file: keyFile } = options;
    if ((cert === undefined) !== (keyFile === undefined))
      throw new OptionError(
        [cert === undefined ? 'key_file' : 'cert'],
        '`cert` and `key_file` need each other: a certificate and its private key',
      );
    const file = ca === undefined ? 'cert' : 'ca';
    if (!url.startsWith('rediss:') && options[file] !== undefined)
      throw new OptionError([file], `\`${file}\` needs TLS`, 'write the address with rediss://');
    return new StreamWriter(options, timeoutMs, parseSize('512KB') ?? 0);
  },
});

/** @throws OptionError, without the address, which may contain a password */
function checkAddress(url: string): void {
  const wrong = (message: string, help?: string): OptionError => new OptionError(['url'], message, help);
  if (!URL.canParse(url)) throw wrong('`url`: expected redis://host[:port][/db], or rediss:// for TLS');
  const { protocol, hostname, pathname, search, hash } = new URL(url);
  if ((protocol !== 'redis:' && protocol !== 'rediss:') || hostname === '')
    throw wrong('`url`: expected redis://host[:port][/db], or rediss:// for TLS');
  if (!/^\/?\d{0,4}$/.test(pathname) || search + hash !== '')
    throw wrong('`url`: only the number of a database can follow the address', 'e.g. redis://streams:6379/1');
}
