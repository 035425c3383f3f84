import { createRequire } from 'node:module';
import {
  addressParts,
  defineSink,
  type JsonObject,
  OptionError,
  openOutboundClient,
  type OutboundAnswer,
  parseDuration,
  parseSize,
  probeServer,
  type Sink,
  SinkError,
} from 'millrace/api';
import type { Options } from './options.generated.js';

/** Statuses that say that this body will never be taken. After any other failure it is sent again. */
const REFUSING: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** The longest answer that is read; only its beginning is logged. */
const ANSWER_BYTES = 64 * 1024;

export const sink = defineSink<Options>({
  name: 'http',
  summary: 'Sends batches of records to a server, as POST requests.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, { http }): Sink {
    const timeoutMs = parseDuration(options.timeout);
    if (timeoutMs === undefined || timeoutMs < 1)
      throw new OptionError(['timeout'], `\`${options.timeout}\` is not a time`, 'write e.g. 500ms or 10s');
    const { url, headers } = options;
    const [base, path] = addressParts(url);
    const client = openOutboundClient(http, { url: base, headers, connections: 1 });
    return {
      probe: probeServer(client, base, { path, timeoutMs, maxBytes: ANSWER_BYTES }),
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
