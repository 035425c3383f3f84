import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import type { FeatureSummary } from '../dataset/manifest.js';
import type { DataFeature, DataRow } from './data-frame.js';
import { isStored, isUnanswered, readStored } from '../../ground/core/stored-files.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { openInput } from '../../project/rows/open-input.js';

export type Split = 'train' | 'holdout';

/** A data set of `millrace dataset build`. */
export interface DataFolder {
  readonly folder: string;
  /** The first 12 hex digits of the SHA-256 of the manifest. */
  readonly version: string;
  readonly pipeline: string;
  readonly features: readonly DataFeature[];
  readonly rows: Readonly<Record<Split, number>>;
  /** The probability that a user looks at a place, from the first place on, if the manifest has it. */
  readonly propensities: readonly number[] | undefined;
  /** False if the clicks decided which rows count as examined. Weights by propensity are then wrong. */
  readonly mayWeigh: boolean;
}

/** The rows of one request. */
export interface RequestRows {
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly rows: readonly DataRow[];
}

const FORMAT = 1;
const BUILD_HELP = 'make one with `millrace dataset build`';

/** Reads the manifest of a data set. @throws CommandFailure */
export async function openDataFolder(folder: string): Promise<DataFolder> {
  const path = join(folder, 'manifest.json');
  const content = await readStored(path).catch((error: unknown) => {
    if (isUnanswered(error)) throw error;
    throw new CommandFailure(`${folder} is not a data set: it has no manifest.json`, BUILD_HELP, {
      cause: error,
    });
  });
  let manifest: JsonObject;
  try {
    manifest = JSON.parse(content.toString('utf8')) as JsonObject;
  } catch (error) {
    throw new CommandFailure(`${path} is not JSON`, BUILD_HELP, { cause: error });
  }
  if (manifest.format !== FORMAT)
    throw new CommandFailure(
      `${path} has the format ${JSON.stringify(manifest.format ?? null)}, and this version reads ${FORMAT}`,
      'build the data set again with this version',
    );
  const features = (manifest.features ?? []) as unknown as readonly FeatureSummary[];
  const rows = (manifest.rows ?? {}) as Partial<Record<Split, number>>;
  return {
    folder,
    version: createHash('sha256').update(content).digest('hex').slice(0, 12),
    pipeline: typeof manifest.pipeline === 'string' ? manifest.pipeline : '',
    features: features.map((feature) => {
      const { name, type, column = name } = feature;
      return { name, type, column, ...(isConstant(feature) ? { isConstant: true } : {}) };
    }),
    rows: { train: rows.train ?? 0, holdout: rows.holdout ?? 0 },
    propensities: manifest.propensities as unknown as readonly number[] | undefined,
    mayWeigh: (manifest.examined as { readonly propensities?: boolean } | undefined)?.propensities !== false,
  };
}

/** @param feature its quantiles are those of values that are present */
function isConstant({ quantiles = [], values = [], missing }: FeatureSummary): boolean {
  if (missing > 0) return missing === 1;
  return quantiles.length > 0 ? quantiles[0] === quantiles.at(-1) : values[0]?.share === 1;
}

/** Reads the rows of a file of a data set, a request at a time. @throws CommandFailure */
export async function* readRequests(
  { folder, features }: DataFolder,
  split: Split,
): AsyncGenerator<RequestRows> {
  const path = await firstOf(['parquet', 'csv'].map((kind) => join(folder, `${split}.${kind}`)));
  if (path === undefined)
    throw new CommandFailure(
      `${folder} has no ${split}.parquet or ${split}.csv`,
      'build the data set with --format parquet or csv',
    );
  const types = new Map<string, ValueType>([
    ['request_id', { kind: 'string' }],
    ['candidate_id', { kind: 'string' }],
    ['time', { kind: 'timestamp' }],
    ['place', { kind: 'int' }],
    ['label', { kind: 'float' }],
    ...features.map(({ column, type }): [string, ValueType] => [
      column,
      { kind: type === 'number' ? 'float' : 'string' },
    ]),
  ]);
  const input = await openInput(path, {
    stdin: Readable.from([]),
    columnTypes: () => Promise.resolve(types),
  });
  let requestId: string | undefined;
  let time = 0;
  let rows: DataRow[] = [];
  try {
    for await (const chunk of input.chunks()) {
      const [bad] = chunk.bad;
      if (bad !== undefined) throw new CommandFailure(`${path}: ${input.unit} ${bad.line}: ${bad.problem}`);
      for (const { value } of chunk.rows) {
        const own = textOf(value.request_id);
        if (own !== requestId) {
          if (requestId !== undefined) yield { requestId, time, rows };
          requestId = own;
          time = timeOf(value.time);
          rows = [];
        }
        rows.push(value);
      }
    }
  } finally {
    await input.close();
  }
  if (requestId !== undefined) yield { requestId, time, rows };
}

async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isStored(path)) return path;
  return undefined;
}

/** An id as text. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function timeOf(value: unknown): number {
  return typeof value === 'number' ? value : Date.parse(String(value));
}
