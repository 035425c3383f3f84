import { createRequire } from 'node:module';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import {
  defineSink,
  type JsonObject,
  OptionError,
  type OutboundAnswer,
  type OutboundClient,
  parseDuration,
  parseSize,
  type Sink,
  type SinkContext,
  SinkError,
} from 'millrace/api';
import type { Options } from './options.generated.js';

/** Statuses that say that this body will never be taken. After any other failure it is sent again. */
const REFUSING: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Headers that the connection or the batch sets. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The longest answer that is read; only its beginning is logged. */
const ANSWER_BYTES = 64 * 1024;

export const sink = defineSink<Options>({
  name: 'http',
  summary: 'Sends batches of records to a server, as POST requests.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, context): Sink {
    const timeoutMs = parseDuration(options.timeout);
    if (timeoutMs === undefined || timeoutMs < 1)
      throw new OptionError(['timeout'], `\`${options.timeout}\` is not a time`, 'write e.g. 500ms or 10s');
    const { client, path } = openClient(options, context);
    return {
      batchBytes: parseSize(options.batch) ?? 0,
      async write(batch, signal) {
        const answer = await client.request({
          method: 'POST',
          path,
          body: batch.body(),
          contentType: batch.contentType,
          signal,
          timeoutMs,
          maxBytes: ANSWER_BYTES,
        });
        checkAnswer(answer);
      },
      close: () => client.close(),
    };
  },
});

/** The client of the address, and what follows the address: its query. */
function openClient(
  { url, headers = {} }: Options,
  { http }: SinkContext,
): { readonly client: OutboundClient; readonly path: string } {
  const sent = checkedHeaders(headers);
  const [base = url, query] = url.split('?', 2);
  try {
    return {
      client: http.open(base, { connections: 1, headers: sent }),
      path: query === undefined ? '' : `?${query}`,
    };
  } catch (error) {
    throw new OptionError(['url'], error instanceof Error ? error.message : String(error));
  }
}

/** @throws OptionError, without the value, which may be a secret */
function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (RESERVED.has(name.toLowerCase()))
        throw new OptionError(
          ['headers', name],
          `\`${name}\` is not a header that a sink can set`,
          undefined,
          'key',
        );
      try {
        validateHeaderName(name);
      } catch {
        throw new OptionError(['headers', name], `\`${name}\` is not the name of a header`, undefined, 'key');
      }
      try {
        validateHeaderValue(name, value);
      } catch {
        throw new OptionError(
          ['headers', name],
          `the value of \`${name}\` has characters that a header cannot hold`,
        );
      }
      return [name.toLowerCase(), value];
    }),
  );
}

/** @throws SinkError for every status but 2xx */
function checkAnswer({ status, retryAfter, body }: OutboundAnswer): void {
  if (status >= 200 && status < 300) return;
  const said = body.toString('utf8', 0, 200).replaceAll(/\s+/g, ' ').trim();
  const message = `the server answered ${status}${said === '' ? '' : `: ${said}`}`;
  if (REFUSING.has(status)) throw new SinkError(message, { lost: 'refused' });
  throw new SinkError(message, { retryAfterMs: pauseOf(retryAfter) });
}

/** `Retry-After` in milliseconds: a number of seconds, or a date. Undefined for any other text. */
function pauseOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
