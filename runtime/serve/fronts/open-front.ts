import type { OutboundClient, OutboundHttp } from '../../ground/api/http-client.js';
import { OptionError } from '../../ground/api/option-error.js';
import { openOutboundClient } from '../../ground/sdk/outbound-client.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { FrontDefinition } from '../../project/config/model/fronts.js';
import { engineOf, type Engine } from './engines.js';

/** A front that was made from its file. */
export interface CompiledFront {
  readonly definition: FrontDefinition;
  readonly engine: Engine;
  readonly client: OutboundClient;
}

/** Opens the client of a front. @returns undefined if there were errors; they are in `diagnostics` */
export function openFront(
  definition: FrontDefinition,
  http: OutboundHttp,
  diagnostics: Diagnostics,
): CompiledFront | undefined {
  const { auth, engine } = definition;
  const { url, headers, connections } = engine;
  try {
    const client = openOutboundClient(http, {
      url: url.value,
      headers: Object.fromEntries(Array.from(headers, ([name, { value }]) => [name, value])),
      connections,
      reserved: auth === 'forward' ? ['authorization'] : [],
    });
    return { definition, engine: engineOf(engine.paths), client };
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const header = headers.get(String(error.path[1] ?? ''));
    diagnostics.error('invalid_option', (header ?? url).at, error.message, error.help);
    return undefined;
  }
}
