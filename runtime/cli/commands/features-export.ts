import { Command } from 'commander';
import type { CliContext } from '../context.js';
import { addExportFlags, exportRows, type ExportFlags } from '../load/export-rows.js';
import { addTargetFlags } from '../setting-flags.js';

export function exportFeaturesCommand(context: CliContext): Command {
  const command = new Command('export')
    .description('write all rows of a feature view as JSON lines, which `features load` reads back')
    .argument('<VIEW>', 'feature view, a file of schemas/features')
    .action((view: string, flags: ExportFlags) =>
      exportRows(context, flags, {
        what: `${view} rows`,
        changed:
          'had features that the view does not declare or that do not fit it; the export leaves those out',
        page: (target, cursor) => target.scanFeatures(view, cursor),
      }),
    );
  return addTargetFlags(addExportFlags(command));
}
