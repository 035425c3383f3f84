import { Command } from 'commander';
import type { CliContext } from '../context.js';
import { addExportFlags, exportRows, type ExportFlags } from '../load/export-rows.js';
import { addTargetFlags } from '../setting-flags.js';

export function exportEntitiesCommand(context: CliContext): Command {
  const command = new Command('export')
    .description('write all entities of a type as JSON lines, which `entities load` reads back')
    .argument('<TYPE>', 'entity type, a file of schemas/entities')
    .action((type: string, flags: ExportFlags) =>
      exportRows(context, flags, {
        what: `${type} entities`,
        changed: `carried another id under the key of their type; the export has the ids under which they are stored`,
        page: (target, cursor) => target.scanEntities(type, cursor),
      }),
    );
  return addTargetFlags(addExportFlags(command));
}
