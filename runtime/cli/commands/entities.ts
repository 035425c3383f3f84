import { Command } from 'commander';
import type { ValueType } from '../../ground/api/types.js';
import { printable } from '../../ground/core/display-width.js';
import { idText } from '../../ground/core/ids.js';
import type { InputRow } from '../../project/rows/rows.js';
import type { CliContext } from '../context.js';
import { lookUp, readSchemas } from '../project-types.js';
import { SeenIds } from '../../project/rows/seen-ids.js';
import { addTargetFlags } from '../setting-flags.js';
import { deleteEntitiesCommand } from './entities-delete.js';
import { getEntitiesCommand } from './entities-get.js';
import { exportEntitiesCommand } from './entities-export.js';
import { importWyvernCommand } from './entities-import-wyvern.js';
import { checkKeyColumns } from '../load/key-columns.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { addLoadFlags, loadFile, type JobWords, type LoadFlags } from '../load/load-file.js';

type Flags = LoadFlags & { readonly key?: string; readonly merge?: boolean; readonly create?: boolean };

/** The most unknown ids that the summary names. */
const SHOWN_IDS = 3;

export function entitiesCommand(context: CliContext): Command {
  const load = new Command('load')
    .description(
      'load a file of entities; each row replaces the stored entity completely, or is merged into it',
    )
    .argument('<TYPE>', 'entity type, a file of schemas/entities')
    .argument(
      '<FILE>',
      '.jsonl, .ndjson, .json, .csv or .tsv, optionally with .gz; .parquet; or - for JSON lines from standard input',
    )
    .option('--key <FIELD>', 'field that holds the id, if it is not the key of the entity type')
    .option(
      '--merge',
      'replace only the attributes that a row has; keep the others, and remove those that are null',
    )
    .option('--create', 'with --merge: create the entities that the index does not have')
    .action((type: string, file: string, flags: Flags) => loadEntities(context, type, file, flags));
  addTargetFlags(addLoadFlags(load));
  return new Command('entities')
    .description('work with the entity index')
    .addCommand(load)
    .addCommand(getEntitiesCommand(context))
    .addCommand(deleteEntitiesCommand(context))
    .addCommand(exportEntitiesCommand(context))
    .addCommand(importWyvernCommand(context));
}

async function loadEntities(context: CliContext, type: string, file: string, flags: Flags): Promise<void> {
  const { merge = false, create = false } = flags;
  if (create && !merge)
    throw new UsageError('--create has a meaning only with --merge; a load without it creates entities');
  const unknown: string[] = [];
  let key = flags.key ?? (type === 'query' ? 'query' : `${type}_id`);
  // If the type names another key, the ids are unknown here, and the bodies are sent one after the other.
  const idOf = ({ value }: InputRow): string | undefined =>
    Object.hasOwn(value, key) ? idText(value[key]) : undefined;
  await loadFile(context, flags, {
    file,
    what: `${type} entities`,
    ...(merge ? { words: updating(unknown) } : {}),
    order: { idOf, isOrdered: (row) => idOf(row) === undefined },
    withoutKey: {
      problem: `the entity has no ${key}`,
      help: 'name the field that holds the id with --key',
    },
    async columnTypes() {
      const entity = lookUp((await readSchemas(context, flags)).entities, type, 'entity type');
      key = flags.key ?? entity.key;
      const types = new Map<string, ValueType>([[key, { kind: 'string' }]]);
      for (const [name, { type: its }] of entity.attributes) {
        types.set(name, its);
        if (its.kind === 'ref') types.set(`${name}_id`, its);
      }
      return types;
    },
    checkColumns: (names) =>
      checkKeyColumns([key], names, (near) =>
        flags.key === undefined
          ? `name the column that holds the id with --key${near === undefined ? '' : `, e.g. --key ${near}`}`
          : `--key names a column of the file${near === undefined ? '' : `; did you mean --key ${near}?`}`,
      ),
    send(target) {
      const seen = new SeenIds();
      return async (rows) => {
        const repeated = (ids: readonly string[]): number =>
          ids.reduce((count, id) => count + (seen.add(id) ? 0 : 1), 0);
        if (merge) {
          const { entity_ids: ids, unknown_ids: missing } = await target.update(
            type,
            flags.key,
            rows,
            create,
          );
          if (unknown.length < SHOWN_IDS) unknown.push(...missing.slice(0, SHOWN_IDS));
          return { older: 0, unknown: missing.length, duplicates: repeated([...ids, ...missing]) };
        }
        const { entity_ids: ids, duplicates = 0 } = await target.upload(type, flags.key, rows);
        return { older: 0, duplicates: duplicates + repeated(ids) };
      };
    },
  });
}

/** @param unknown some ids that the index does not have, once the file is loaded */
function updating(unknown: readonly string[]): JobWords {
  return {
    doing: 'updating',
    done: 'updated',
    where: 'in',
    unfinished: 'the file was not loaded completely; loading it again is safe',
    unknown: () =>
      `not in the index (such as ${unknown.slice(0, SHOWN_IDS).map(printable).join(', ')}; --create creates them)`,
  };
}
