import { Command } from 'commander';
import type { ValueType } from '../../ground/api/types.js';
import { EVENT_TIME, rowKeys } from '../../state/index/row-keys.js';
import type { CliContext } from '../context.js';
import { lookUp, readSchemas } from '../project-types.js';
import { addTargetFlags } from '../setting-flags.js';
import { getFeaturesCommand } from './features-get.js';
import { exportFeaturesCommand } from './features-export.js';
import { deleteFeaturesCommand } from './features-delete.js';
import { importFeastCommand } from './features-import-feast.js';
import { checkRowColumns } from '../load/key-columns.js';
import { addLoadFlags, loadFile, type LoadFlags } from '../load/load-file.js';

export function featuresCommand(context: CliContext): Command {
  const load = new Command('load')
    .description(
      'load a file of feature rows with the keys of the view, its features and an optional event_time',
    )
    .argument('<VIEW>', 'feature view, a file of schemas/features')
    .argument(
      '<FILE>',
      '.jsonl, .ndjson, .json, .csv or .tsv, optionally with .gz; .parquet; or - for JSON lines from standard input',
    )
    .action((view: string, file: string, flags: LoadFlags) => loadFeatures(context, view, file, flags));
  addTargetFlags(addLoadFlags(load));
  return new Command('features')
    .description('work with the feature store')
    .addCommand(load)
    .addCommand(getFeaturesCommand(context))
    .addCommand(exportFeaturesCommand(context))
    .addCommand(deleteFeaturesCommand(context))
    .addCommand(importFeastCommand(context));
}

async function loadFeatures(
  context: CliContext,
  view: string,
  file: string,
  flags: LoadFlags,
): Promise<void> {
  let keys: readonly string[] = [];
  await loadFile(context, flags, {
    file,
    what: `${view} rows`,
    order: {
      idOf: () => undefined,
      // Event times order rows. A row without one gets its arrival time, so such rows must keep their order.
      isOrdered: (row) => !Object.hasOwn(row.value, EVENT_TIME),
    },
    async columnTypes() {
      const project = await readSchemas(context, flags);
      const definition = lookUp(project.views, view, 'feature view');
      const types = new Map<string, ValueType>([[EVENT_TIME, { kind: 'timestamp' }]]);
      keys = rowKeys(definition, project.entities);
      for (const key of keys) types.set(key, { kind: 'string' });
      for (const [name, feature] of definition.features) types.set(name, feature.type);
      return types;
    },
    checkColumns: (names) => checkRowColumns(view, keys, names),
    send: (target) => (rows) => target.push(view, rows),
  });
}
