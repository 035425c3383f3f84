import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SinkPlugin } from '../runtime/ground/api/ledger.js';
import type { Plugin } from '../runtime/ground/api/plugin.js';
import type { ReaderPlugin } from '../runtime/ground/api/reader.js';
import type { SourcePlugin } from '../runtime/ground/api/source.js';

/** The components, the sinks, the sources and the readers, without the folders that have only a schema yet. */
export async function loadPlugins(
  root: string,
  names: readonly string[],
): Promise<{
  readonly plugins: Plugin[];
  readonly sinks: SinkPlugin[];
  readonly sources: SourcePlugin[];
  readonly readers: ReaderPlugin[];
}> {
  const plugins: Plugin[] = [];
  const sinks: SinkPlugin[] = [];
  const sources: SourcePlugin[] = [];
  const readers: ReaderPlugin[] = [];
  for (const name of names.filter((one) => existsSync(join(root, 'plugins', one, 'index.ts')))) {
    const module = (await import(join(root, 'dist', 'plugins', name, 'index.js'))) as {
      readonly plugin?: Plugin;
      readonly sink?: SinkPlugin;
      readonly source?: SourcePlugin;
      readonly reader?: ReaderPlugin;
    };
    if (module.plugin !== undefined) plugins.push(module.plugin);
    if (module.sink !== undefined) sinks.push(module.sink);
    if (module.source !== undefined) sources.push(module.source);
    if (module.reader !== undefined) readers.push(module.reader);
  }
  return { plugins, sinks, sources, readers };
}
