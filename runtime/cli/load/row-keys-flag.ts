import { InvalidArgumentError, type Command } from 'commander';

/** A key of a feature row on the command line: `product_id=p1`. */
export interface KeyField {
  readonly name: string;
  readonly id: string;
}

/** Adds `--key`, which names feature rows. */
export function addKeyFlag(command: Command): Command {
  return command.option(
    '--key <FIELD=ID>',
    'key of a row; give it once for each key of the view; a repeated field starts the next row',
    addKey,
    [],
  );
}

/**
 * Groups the fields of the command line into rows: a repeated field starts the next row. A view without keys has one
 * row.
 */
export function rowsOf(fields: readonly KeyField[]): Record<string, string>[] {
  let row: Record<string, string> = {};
  const rows = [row];
  for (const { name, id } of fields) {
    if (Object.hasOwn(row, name)) rows.push((row = {}));
    row[name] = id;
  }
  return rows;
}

function addKey(text: string, before: readonly KeyField[]): readonly KeyField[] {
  const at = text.indexOf('=');
  if (at <= 0 || at === text.length - 1)
    throw new InvalidArgumentError('Expected a field and an id, such as product_id=p1.');
  return [...before, { name: text.slice(0, at), id: text.slice(at + 1) }];
}
