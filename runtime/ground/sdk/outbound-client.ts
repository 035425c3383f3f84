import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { OutboundClient, OutboundHttp } from '../api/http-client.js';
import { OptionError } from '../api/option-error.js';

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
