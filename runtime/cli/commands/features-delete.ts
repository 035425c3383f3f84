import { Readable } from 'node:stream';
import { Command, InvalidArgumentError } from 'commander';
import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import { EVENT_TIME, rowKeys } from '../../state/index/row-keys.js';
import { TIME_FORMS, timestampOf } from '../../ground/core/timestamp.js';
import { cellValue } from '../../ground/core/cell-value.js';
import type { Input } from '../../project/rows/open-input.js';
import type { InputRow, RowChunk } from '../../project/rows/rows.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { addLoadFlags, loadFile, loadInput, type JobWords, type LoadFlags } from '../load/load-file.js';
import type { RowOrder } from '../load/batches.js';
import { checkRowColumns } from '../load/key-columns.js';
import { addKeyFlag, rowsOf, type KeyField } from '../load/row-keys-flag.js';
import { lookUp, readSchemas } from '../project-types.js';
import { addTargetFlags } from '../setting-flags.js';

type Flags = LoadFlags & {
  readonly key: readonly KeyField[];
  /** Epoch milliseconds. */
  readonly eventTime?: number;
};

const DELETING: JobWords = {
  doing: 'deleting',
  done: 'deleted',
  where: 'from',
  unfinished: 'not every row was deleted; running the command again is safe',
};

/** Deletions are ordered by their event times. A row without one gets the current time. */
const ANY_ORDER: RowOrder = { idOf: () => undefined, isOrdered: () => false };

export function deleteFeaturesCommand(context: CliContext): Command {
  const remove = addKeyFlag(new Command('delete'))
    .description('delete feature rows by their keys, or the rows of a file')
    .argument('<VIEW>', 'feature view, a file of schemas/features')
    .argument('[FILE]', 'file of rows as for `features load`; only the keys and event_time are used')
    .option(
      '--event-time <TIME>',
      'event time for rows that have none; stored rows with a later event time stay [default: now]',
      eventTime,
    )
    .action((view: string, file: string | undefined, flags: Flags) =>
      deleteFeatures(context, view, file, flags),
    );
  return addTargetFlags(addLoadFlags(remove));
}

async function deleteFeatures(
  context: CliContext,
  view: string,
  file: string | undefined,
  flags: Flags,
): Promise<void> {
  const hasKeys = flags.key.length > 0;
  if (file !== undefined && hasKeys) throw new UsageError('use --key or a file, not both');
  // A view without entities has one row, and that row has no key.
  if (file === undefined && !hasKeys) {
    const [first] = await keysOf(context, view, flags);
    if (first !== undefined) throw new UsageError(`choose the rows with --key ${first}=ID, or with a file`);
  }
  const what = `${view} rows`;
  if (file === undefined) {
    const rows = rowsOf(flags.key).map((key) => withTime(key, flags.eventTime));
    await loadInput(inputOf(rows), context, flags, {
      file,
      what,
      words: DELETING,
      order: ANY_ORDER,
      columnTypes: () => Promise.resolve(new Map()),
      send: (target) => (some) => target.deleteRows(view, some),
    });
    return;
  }
  const keys = await keysOf(context, view, flags);
  await loadFile(context, flags, {
    file,
    what,
    words: DELETING,
    order: ANY_ORDER,
    columnTypes: () => Promise.resolve(columnTypes(keys)),
    checkColumns: (names) => checkRowColumns(view, keys, names),
    send: (target) => (some) =>
      target.deleteRows(
        view,
        some.map((row) => keyRow(row, keys, flags.eventTime)),
      ),
  });
}

/** Returns the keys of the view's rows. @throws CommandFailure if the project has no such view */
async function keysOf(context: CliContext, view: string, flags: Flags): Promise<readonly string[]> {
  const project = await readSchemas(context, flags);
  return rowKeys(lookUp(project.views, view, 'feature view'), project.entities);
}

function columnTypes(keys: readonly string[]): ReadonlyMap<string, ValueType> {
  const types = keys.map((key): [string, ValueType] => [key, { kind: 'string' }]);
  return new Map([...types, [EVENT_TIME, { kind: 'timestamp' }]]);
}

/** Takes the keys and the event time of a row, which may also contain features. */
function keyRow(
  { line, value, bytes }: InputRow,
  keys: readonly string[],
  time: number | undefined,
): InputRow {
  const fields = [...keys, EVENT_TIME].flatMap((name): [string, JsonValue][] => {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    return field === undefined ? [] : [[name, field]];
  });
  return { line, value: withTime(Object.fromEntries(fields), time), bytes };
}

function withTime(row: JsonObject, time: number | undefined): JsonObject {
  return time === undefined ? row : { [EVENT_TIME]: time, ...row };
}

function inputOf(rows: readonly JsonObject[]): Input {
  const read = rows.map((value, i): InputRow => ({ line: i + 1, value, bytes: 0 }));
  return {
    unit: 'row',
    totalBytes: undefined,
    bytesRead: () => 0,
    misspelt: () => [],
    undeclared: () => [],
    chunks: () => Readable.from([{ rows: read, bad: [] }]) as AsyncIterable<RowChunk>,
    close: () => Promise.resolve(),
  };
}

function eventTime(text: string): number {
  const time = timestampOf(cellValue(text, { kind: 'timestamp' }));
  if (!Number.isNaN(time)) return time;
  throw new InvalidArgumentError(`Expected ${TIME_FORMS}.`);
}
