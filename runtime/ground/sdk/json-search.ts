import type { BuildContext } from '../api/build-context.js';
import { OptionError } from '../api/option-error.js';
import type { RetrieverComponent } from '../api/retriever.js';
import type { JsonObject } from '../api/types.js';
import { BodyTemplate, type BodyOptions } from './body-template.js';
import { HitReader, type HitNumbers, type HitPaths } from './hit-reader.js';
import { addressParts, openOutboundClient, probeServer, sendTwice } from './outbound-client.js';

/** How long `millrace validate --connect` waits for the server, in milliseconds. */
const PROBE_MS = 2_000;

/** A search engine that takes and answers JSON over HTTP. */
export interface JsonSearch extends BodyOptions, HitPaths {
  /** The address that gets a POST for each request. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The maximum number of connections, and so of requests at a time. */
  readonly connections: number;
  /** The maximum size of an answer in bytes. */
  readonly max_bytes: number;
}

/** What a plugin adds that knows its engine. */
export interface JsonSearchExtras {
  /** Adds to the body what each request sends. It may throw an OptionError at `place`. */
  readonly complete?: (body: JsonObject, place: readonly (string | number)[]) => JsonObject;
  readonly numbers?: HitNumbers;
}

/**
 * Makes a retriever that asks a search engine, with one pool of connections.
 * @throws OptionError
 */
export function openJsonSearch(
  search: JsonSearch,
  build: BuildContext,
  { complete = (body) => body, numbers }: JsonSearchExtras = {},
): RetrieverComponent {
  const { url, headers, connections, max_bytes: maxBytes } = search;
  if (search.body !== undefined && search.body_file !== undefined)
    throw new OptionError(['body_file'], 'there is a `body` already', 'remove one of the two');
  const [base, path] = addressParts(url);
  const template = BodyTemplate.of(search, build, complete);
  const client = openOutboundClient(build.http, { url: base, headers, connections, reserved: ['accept'] });
  const reader = new HitReader(search, numbers);
  const fixed = { path, maxBytes } as const;
  const names = [...Object.keys(search.outputs), ...Object.keys(numbers?.outputs ?? {})];
  return {
    outputs: Object.fromEntries(names.map((name) => [name, 'number'] as const)),
    probe: probeServer(client, base, { ...fixed, timeoutMs: PROBE_MS }),
    async retrieve({ column, most, signal, timeoutMs, trace }) {
      const body = template.fill((input) => column(input));
      const ask = { ...fixed, method: 'POST', body, signal, timeoutMs, trace } as const;
      return reader.read(await sendTwice(client, ask), most);
    },
    close: () => client.close(),
  };
}
