import { Command } from 'commander';
import type { ValueType } from '../../api/types.js';
import type { CliContext } from '../context.js';
import { lookUp, readProject } from '../project-types.js';
import { addTargetFlags } from '../setting-flags.js';
import { checkKeyColumns } from '../load/key-columns.js';
import { addLoadFlags, loadFile, type LoadFlags } from '../load/load-file.js';

type Flags = LoadFlags & { readonly key?: string };

export function entitiesCommand(context: CliContext): Command {
  const load = new Command('load')
    .description('load a file of entities; one that exists already is replaced whole')
    .argument('<TYPE>', 'entity type, a file of schemas/entities')
    .argument(
      '<FILE>',
      '.jsonl, .ndjson, .json or .csv, also with .gz; .parquet; - for JSON lines on standard input',
    )
    .option('--key <FIELD>', "field that holds the id, where it is not the type's key")
    .action((type: string, file: string, flags: Flags) => loadEntities(context, type, file, flags));
  addTargetFlags(addLoadFlags(load));
  return new Command('entities').description('work with the entity index').addCommand(load);
}

async function loadEntities(context: CliContext, type: string, file: string, flags: Flags): Promise<void> {
  // Predefined types have this key; for one that names another, rows that repeat an id are refused by the service.
  let key = flags.key ?? (type === 'query' ? 'query' : `${type}_id`);
  await loadFile(context, flags, {
    file,
    what: `${type} entities`,
    order: {
      idOf(row) {
        const id = Object.hasOwn(row.value, key) ? row.value[key] : undefined;
        return typeof id === 'string' ? id : undefined;
      },
      isOrdered: () => false,
    },
    withoutKey: {
      problem: `the entity has no ${key}`,
      help: 'name the field that holds the id with --key',
    },
    async columnTypes() {
      const entity = lookUp((await readProject(context, flags)).entities, type, 'entity type');
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
    send: (target) => async (rows) => {
      await target.upload(type, flags.key, rows);
      return { older: 0 };
    },
  });
}
