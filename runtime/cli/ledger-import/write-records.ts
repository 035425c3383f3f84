import { rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { openTunable } from '../../serve/app/project/open-tunable.js';
import type { Collector } from '../../learn/dataset/import/collect.js';
import { ImportLedger } from '../../learn/dataset/import/import-ledger.js';
import { countActs, ImportedRecords } from '../../learn/dataset/import/imported-records.js';
import { checkLogSalt, logHasherOf } from '../../request/pipeline/log/log-hasher.js';
import type { Settings } from '../../project/settings/settings.js';
import { tellStrayErrors, type CliContext } from '../context.js';
import { cellValue } from '../../ground/core/cell-value.js';
import { startProgress } from '../load/progress.js';
import type { WrittenRecords } from './import-text.js';
import { storeEntities } from './load-entities.js';
import type { Rejects } from './rejects.js';

/** Where the records of an import go. */
export interface LedgerPlace {
  /** The folder of the ledger. */
  readonly out: string;
  readonly instance: string;
  /** Segments of an earlier import of the same files. The new ones replace them. */
  readonly before: readonly string[];
}

/**
 * Stores the collected entities, and writes the rankings and the feedback as records of the pipeline.
 * @throws ProjectInvalidError; MillraceError unknown_pipeline, store_unavailable, data_folder_in_use
 */
export async function writeRecords(
  context: CliContext,
  settings: Settings,
  pipeline: string,
  collector: Collector,
  rejects: Rejects,
  { out, instance, before }: LedgerPlace,
): Promise<WrittenRecords> {
  tellStrayErrors(context, settings);
  const opened = await openTunable(settings, pipeline);
  const ledger = new ImportLedger(out, instance);
  try {
    const { plan } = opened;
    checkLogSalt([plan.definition], settings);
    const entities = await storeEntities(
      collector.wholeEntities(),
      opened.config.entities,
      opened.entities,
      rejects,
    );
    const records = new ImportedRecords({
      plan,
      services: opened.services,
      ledger,
      hasher: logHasherOf(plan.definition, settings),
      projectVersion: opened.version,
      convert: cellValue,
    });
    const added = await addRecords(context, collector, records, rejects);
    if (added.rankings > 0) {
      for (const path of before) await rm(path, { force: true });
      ledger.finish();
    } else ledger.abandon();
    return {
      ...added,
      pipeline,
      entities,
      counts: collector.counts,
      values: plan.log.values.map((value) => value.name),
      unknownCandidates: records.missing,
      out: shownPath(out),
    };
  } catch (error) {
    ledger.abandon();
    throw error;
  } finally {
    await opened.close();
  }
}

type AddedRecords = Pick<WrittenRecords, 'rankings' | 'candidates' | 'pooled' | 'from' | 'to' | 'feedback'>;

async function addRecords(
  { stderr }: CliContext,
  collector: Collector,
  records: ImportedRecords,
  rejects: Rejects,
): Promise<AddedRecords> {
  const feedback = new Map<string, number>();
  const added = { rankings: 0, candidates: 0, pooled: 0, from: Infinity, to: -Infinity };
  const progress = startProgress(stderr, 'computing', undefined, 'rankings');
  try {
    for await (const record of collector.records()) {
      if (record.is === 'feedback') {
        records.addFeedback(record);
        countActs([record], feedback);
        continue;
      }
      const refused = await records.addRanking(record);
      if (refused !== undefined) {
        rejects.add({ file: '', line: 0, ...refused, row: { request: record.request } });
        continue;
      }
      added.rankings += 1;
      added.candidates += record.candidates.length;
      if (record.pooled === true) added.pooled += 1;
      added.from = Math.min(added.from, record.time);
      added.to = Math.max(added.to, record.time);
      for (const { acts } of record.candidates) countActs(acts, feedback);
      progress.update(added.rankings, added.rankings);
    }
  } finally {
    progress.stop();
    records.close();
  }
  return { ...added, feedback };
}

/** A path below the working directory without it. */
function shownPath(path: string): string {
  const below = relative(process.cwd(), path);
  return below.startsWith('..') ? path : below;
}
