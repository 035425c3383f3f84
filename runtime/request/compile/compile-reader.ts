import type { Reader, ReaderContext } from '../../ground/api/reader.js';
import type { PluginServices } from '../../ground/api/services.js';
import { typeText } from '../../ground/api/types.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { FeatureView, ViewReader } from '../../project/config/model/views.js';
import type { OpenReader } from '../../state/readers/view-rows.js';
import { createOutside, findOutside, withoutStore } from './create-outside.js';
import type { OptionFiles } from './option-files.js';
import type { PluginRegistry } from './step-tools.js';

/** What readers may use of the project and of the process. */
export interface ReaderServices extends Pick<ReaderContext, 'http' | 'findPackage'> {
  /** The files that options name. */
  readonly files: OptionFiles;
  readonly entities: ReadonlyMap<string, EntityType>;
  /** The services of the plugin of a reader, by its name. */
  readonly ofPlugin: (plugin: string) => PluginServices;
}

/** Makes the reader of a view. @returns undefined if there were errors; they are in `diagnostics` */
export async function compileReader(
  view: FeatureView,
  definition: ViewReader,
  plugins: PluginRegistry,
  { files, entities, ofPlugin, http, findPackage }: ReaderServices,
  diagnostics: Diagnostics,
): Promise<OpenReader | undefined> {
  const plugin = findOutside('reader', definition.use, plugins.readers, plugins, diagnostics);
  if (plugin === undefined) return undefined;
  const context: ReaderContext = {
    ...withoutStore(ofPlugin(plugin.name)),
    ...{ http, findPackage },
    view: view.name,
    keys: view.of.map((type) => entities.get(type)?.key ?? `${type}_id`),
    features: new Map(Array.from(view.features, ([name, { type }]) => [name, type])),
  };
  const create = (bound: never): Reader => plugin.create(bound, context);
  const own = { what: 'reader', options: plugin.options, create, methods: ['read'] } as const;
  const created = await createOutside({ name: view.name, ...definition }, own, files, diagnostics);
  const features = Array.from(view.features.values(), ({ name, type }) => [name, typeText(type)]);
  const key = JSON.stringify([view.name, context.keys, features, definition.cache, created?.key]);
  return created && { view, reader: created.made, plugin, key };
}
