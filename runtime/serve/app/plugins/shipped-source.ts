import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Source, SourceContext, SourcePlugin } from '../../../ground/api/source.js';
import type { JsonObject } from '../../../ground/api/types.js';
import { SHIPPED_PLUGINS } from '../../../ground/core/locations.js';
import { LateReader } from './late-reader.js';
import { offlineHost, pluginServices } from './plugin-host.js';

/**
 * Makes a source of a plugin that ships with Millrace, without a file in sources/.
 * @param options all options, checked
 */
export async function shippedSource(
  plugin: string,
  options: JsonObject,
  context: Pick<SourceContext, 'name' | 'rejected' | 'consumer'>,
): Promise<Source> {
  const module = (await import(pathToFileURL(join(SHIPPED_PLUGINS, plugin, 'index.js')).href)) as {
    readonly source: SourcePlugin;
  };
  const caller = { pipeline: '', step: context.name };
  const { logger, metrics, now, cache } = pluginServices(offlineHost(), new LateReader(), plugin, caller);
  return module.source.create(options as never, {
    ...{ logger, metrics, now, cache },
    ...context,
    findPackage: () => undefined,
  });
}
