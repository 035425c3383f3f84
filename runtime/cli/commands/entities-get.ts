import { Command } from 'commander';
import { printable } from '../../ground/core/display-width.js';
import type { JsonObject } from '../../ground/api/types.js';
import { MAX_BATCH } from '../../state/index/entity-index.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { addIdFlags, idsOf, type IdFlags } from '../load/ids.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { addTargetFlags } from '../setting-flags.js';
import { renderTable, widthOf } from '../report/table.js';

type Flags = TargetFlags & IdFlags & { readonly json?: boolean };

/** Longer names of attributes are cut. */
const LONGEST_NAME = 32;

export function getEntitiesCommand(context: CliContext): Command {
  const get = addIdFlags(new Command('get'))
    .description('print entities of the index by their ids')
    .option('--json', 'print the entities as JSON, whole')
    .action((type: string, ids: readonly string[], flags: Flags) => getEntities(context, type, ids, flags));
  return addTargetFlags(get);
}

async function getEntities(
  context: CliContext,
  type: string,
  given: readonly string[],
  flags: Flags,
): Promise<void> {
  const ids = [...new Set(await idsOf(context, given, flags))];
  const found: [id: string, entity: JsonObject | null][] = [];
  const target = await openTarget(context, flags, 'data');
  try {
    for (let from = 0; from < ids.length; from += MAX_BATCH)
      found.push(...Object.entries(await target.getEntities(type, ids.slice(from, from + MAX_BATCH))));
  } finally {
    await target.close();
  }
  if (flags.json === true) printJson(context, { entity_type: type, entities: Object.fromEntries(found) });
  else context.stdout.write(found.flatMap(([id, entity]) => textOf(context, type, id, entity)).join('\n'));
  const missing = found.flatMap(([id, entity]) => (entity === null ? [id] : []));
  for (const id of missing) context.stderr.write(`not in the index: ${printable(id)}\n`);
  if (missing.length > 0)
    throw new CommandFailure(`${missing.length} of ${ids.length} ids of ${type} are not in the index`);
}

/** A table of one entity, as wide as the terminal. Values are JSON, so the text "7" differs from the number 7. */
function textOf(context: CliContext, type: string, id: string, entity: JsonObject | null): readonly string[] {
  if (entity === null) return [];
  const { width } = styleOf(context, context.stdout);
  const rows = Object.entries(entity).map(([name, value]) => [name, JSON.stringify(value)]);
  const names = Math.max(...rows.map(([name = '']) => widthOf(name)), 'attribute'.length);
  const table = renderTable(
    { attribute: LONGEST_NAME, value: width - Math.min(names, LONGEST_NAME) - 2 },
    rows,
  );
  return [`${printable(`${type} ${id}`)}\n${table}`];
}
