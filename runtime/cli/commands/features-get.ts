import { Command } from 'commander';
import type { JsonValue } from '../../ground/api/types.js';
import type { FeatureView } from '../../project/config/model/views.js';
import { nearest } from '../../ground/core/nearest.js';
import { printable } from '../../ground/core/display-width.js';
import type { OnlineAnswer } from '../../state/index/online-answer.js';
import { MAX_ONLINE_FEATURES } from '../../state/index/online-request.js';
import { rowKeys } from '../../state/index/row-keys.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { addKeyFlag, rowsOf, type KeyField } from '../load/row-keys-flag.js';
import { lookUp, readSchemas } from '../project-types.js';
import { addTargetFlags } from '../setting-flags.js';
import { renderTable } from '../report/table.js';

type Flags = TargetFlags & { readonly key: readonly KeyField[]; readonly json?: boolean };

type RowKeys = Readonly<Record<string, string>>;

/** A feature of one row, as a ranking reads it. */
interface FoundFeature {
  readonly value: JsonValue;
  readonly status: OnlineAnswer['results'][number]['statuses'][number];
}

interface FoundRow {
  readonly keys: RowKeys;
  /** Null if the row is not stored. */
  event_time: string | null;
  readonly features: Record<string, FoundFeature>;
}

/** The event time in the answer for a row that is not stored. */
const NO_TIME = '1970-01-01T00:00:00Z';

export function getFeaturesCommand(context: CliContext): Command {
  const get = addKeyFlag(new Command('get'))
    .description('print feature rows by their keys, with the values that a ranking reads')
    .argument('<VIEW>', 'feature view, a file of schemas/features')
    .option('--json', 'print the rows as JSON, whole')
    .action((view: string, flags: Flags) => getFeatures(context, view, flags));
  return addTargetFlags(get);
}

async function getFeatures(context: CliContext, name: string, flags: Flags): Promise<void> {
  const { views, counters, entities } = await readSchemas(context, flags);
  if (counters.has(name))
    throw new CommandFailure(
      `${name} is a counter, not a feature view`,
      'millrace rank … --explain shows the counts that a ranking reads',
    );
  const view = lookUp(views, name, 'feature view');
  const rows = rowsOf(flags.key);
  for (const row of rows) checkKeys(name, rowKeys(view, entities), row);
  const target = await openTarget(context, flags, 'data');
  let found: readonly FoundRow[];
  try {
    found = await readRows(view, rows, (body) => target.onlineFeatures(body));
  } finally {
    await target.close();
  }
  if (flags.json === true) printJson(context, { view: name, rows: found });
  else context.stdout.write(found.map((row) => textOf(context, name, row)).join('\n'));
  // A stored row has an event time, even if it lacks every feature.
  const missing = found.filter(({ event_time: time }) => time === null);
  for (const { keys } of missing) context.stderr.write(`not stored: ${keysText(keys)}\n`);
  if (missing.length > 0)
    throw new CommandFailure(`${missing.length} of ${found.length} rows of ${name} are not stored`);
}

function checkKeys(view: string, keys: readonly string[], row: RowKeys): void {
  const given = Object.keys(row);
  const wrong = given.find((key) => !keys.includes(key));
  const near = wrong === undefined ? undefined : nearest(wrong, keys);
  if (wrong !== undefined)
    throw new UsageError(
      `${wrong} is not a key of ${view}; ${near === undefined ? `its keys are ${keys.join(', ')}` : `did you mean ${near}?`}`,
    );
  const missing = keys.filter((key) => !given.includes(key));
  if (missing.length > 0)
    throw new UsageError(`name each row with ${missing.map((key) => `--key ${key}=ID`).join(' and ')}`);
}

/** Reads all features of the view, as many at once as one request may name. */
async function readRows(
  view: FeatureView,
  rows: readonly RowKeys[],
  read: (body: object) => Promise<OnlineAnswer>,
): Promise<readonly FoundRow[]> {
  const names = [...view.features.keys()];
  const keys = Object.keys(rows[0] ?? {});
  const ids = Object.fromEntries(keys.map((key) => [key, rows.map((row) => row[key] ?? '')]));
  const found = rows.map((row): FoundRow => ({ keys: row, event_time: null, features: {} }));
  for (let from = 0; from < names.length; from += MAX_ONLINE_FEATURES) {
    const some = names.slice(from, from + MAX_ONLINE_FEATURES);
    const answer = await read({ features: some.map((name) => `${view.name}:${name}`), entities: ids });
    for (const [i, name] of some.entries()) {
      const result = answer.results[keys.length + i];
      if (result === undefined) throw new Error(`the answer lacks ${view.name}:${name}`);
      for (const [at, row] of found.entries()) {
        const time = result.event_timestamps[at];
        if (time !== undefined && time !== NO_TIME) row.event_time = time;
        row.features[name] = { value: result.values[at] ?? null, status: result.statuses[at] ?? 'NOT_FOUND' };
      }
    }
  }
  return found;
}

function textOf(context: CliContext, view: string, { keys, event_time: time, features }: FoundRow): string {
  const { width } = styleOf(context, context.stdout);
  const table = renderTable(
    { feature: Math.floor(width * 0.4), status: 'left', value: Math.floor(width * 0.35) },
    Object.entries(features).map(([name, { value, status }]) => [name, status, JSON.stringify(value)]),
  );
  return `${[view, keysText(keys), ...(time === null ? [] : [`at ${time}`])].filter((part) => part !== '').join(' ')}\n${table}`;
}

function keysText(keys: RowKeys): string {
  return printable(
    Object.entries(keys)
      .map(([key, id]) => `${key}=${id}`)
      .join(' '),
  );
}
