import { validateHeaderName, validateHeaderValue } from 'node:http';
import {
  OutboundError,
  type OutboundClient,
  type OutboundHttp,
  type OutboundRequest,
} from '../api/http-client.js';
import { OptionError } from '../api/option-error.js';
import { ProbeError, type ServerProbe } from '../api/server-probe.js';

/** Headers that the connection or the body sets. */
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

/** What a user writes about another server, and what the plugin decides. */
export interface OutboundClientOptions {
  /** The option `url`. */
  readonly url: string;
  /** The option `headers`. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Maximum number of connections at a time. */
  readonly connections: number;
  /** Further headers that the user cannot set, in lower case. */
  readonly reserved?: readonly string[];
}

/**
 * Makes the client for a plugin with the options `url` and `headers`.
 * @throws OptionError at `url` or `headers`, without the values of headers, which may be secrets
 */
export function openOutboundClient(
  http: OutboundHttp,
  { url, headers = {}, connections, reserved = [] }: OutboundClientOptions,
): OutboundClient {
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      checkHeader(name, value, reserved);
      return [name.toLowerCase(), value];
    }),
  );
  try {
    return http.open(url, { connections, headers: sent });
  } catch (error) {
    throw new OptionError(['url'], error instanceof Error ? error.message : String(error));
  }
}

/** An address whose query belongs to each request: the base of the client, and the path of its requests. */
export function addressParts(url: string): readonly [base: string, path: string] {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)];
}

/** What a request says of its repetition. */
export type OutboundTry = Pick<OutboundRequest, 'signal' | 'timeoutMs' | 'isRetry'>;

/**
 * Sends a request that changes nothing on the server. After a lost or refused connection, or a 503, it is sent once more
 * within its time limit, but not after a timeout.
 * @throws as `OutboundClient.request`
 */
export async function sendTwice<R extends OutboundTry, A extends { readonly status: number }>(
  client: { request(request: R): Promise<A> },
  request: R,
): Promise<A> {
  const end = performance.now() + request.timeoutMs;
  const mayRetry = (): boolean => performance.now() < end && !request.signal.aborted;
  try {
    const answer = await client.request(request);
    if (answer.status !== 503 || !mayRetry()) return answer;
  } catch (error) {
    const lost =
      error instanceof OutboundError && (error.fault === 'closed' || error.fault === 'unreachable');
    if (!lost || !mayRetry()) throw error;
  }
  const timeoutMs = Math.max(1, Math.ceil(end - performance.now()));
  return client.request({ ...request, timeoutMs, isRetry: true });
}

/** For `millrace validate --connect`: asks with a GET whether a server is there, and takes the credentials. */
export function probeServer(
  client: OutboundClient,
  server: string,
  request: Pick<OutboundRequest, 'path' | 'timeoutMs' | 'maxBytes'>,
): ServerProbe {
  return {
    server,
    ask: async (signal) => {
      const { status } = await client.request({ method: 'GET', ...request, signal });
      if (status === 401 || status === 403)
        throw new ProbeError(
          `it refuses the request with ${status}`,
          'check the credentials under `headers`',
        );
      if (status >= 500) throw new ProbeError(`it answers ${status}`, 'check the log of that server');
      return `it answers; a GET gave ${status}`;
    },
  };
}

function checkHeader(name: string, value: string, reserved: readonly string[]): void {
  const wrong = (what: string, part: 'key' | 'value' = 'key'): OptionError =>
    new OptionError(['headers', name], what, undefined, part);
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || reserved.includes(lower))
    throw wrong(`\`${name}\` is not a header that an option can set`);
  try {
    validateHeaderName(name);
  } catch {
    throw wrong(`\`${name}\` is not the name of a header`);
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    throw wrong(`the value of \`${name}\` has characters that a header cannot hold`, 'value');
  }
}
