import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MODELS_LEFT } from '../../serve/app/project/compile-tunable.js';
import { openTunable } from '../../serve/app/project/open-tunable.js';
import { buildDataSet, type BuiltDataSet } from '../../learn/dataset/build-data-set.js';
import { ImportLedger } from '../../learn/dataset/import/import-ledger.js';
import { JudgedRecords } from '../../learn/dataset/judged-records.js';
import type { DataSetOptions } from '../../learn/dataset/options.js';
import type { DataFormat } from '../../learn/dataset/table-files.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { scratchFolder } from '../../ground/core/scratch-folder.js';
import { readJudgedQueries } from '../../learn/judge/judged-queries.js';
import type { Columns } from '../../learn/judge/judgment-columns.js';
import type { JudgmentFormat } from '../../learn/judge/read-judgments.js';
import { startProgress } from '../../ground/core/progress.js';

export interface JudgedFlags extends SettingFlags {
  readonly judgments: string;
  readonly judgmentFormat?: JudgmentFormat;
  readonly columns?: Columns;
  readonly queryField?: string;
  readonly out: string;
  readonly format: DataFormat;
}

/** Runs the pipeline on judged queries, and makes a data set of the features that it logs and of the grades. */
export async function buildJudged(
  context: CliContext,
  pipeline: string,
  flags: JudgedFlags,
  split: DataSetOptions['split'],
): Promise<BuiltDataSet> {
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const quiet = {
    ...settings,
    logLevel: 'silent' as const,
    resident: new Set<string>(),
    untrained: 'missing' as const,
  };
  const opened = await openTunable(quiet, pipeline);
  if (opened.leftModels) context.stderr.write(MODELS_LEFT);
  const work = scratchFolder(context, join(tmpdir(), 'millrace-judged-'));
  const ledger = new ImportLedger(work.path, randomUUID());
  try {
    const { plan, config, services, version } = opened;
    const { queries, shape } = await readJudgedQueries(
      context,
      flags.judgments,
      { format: flags.judgmentFormat, formatFlag: '--judgment-format', columns: flags.columns },
      flags.queryField,
      { definition: plan.definition, config },
    );
    const records = new JudgedRecords(plan, services, ledger, version);
    const progress = startProgress(context.stderr, 'ranking', queries.length, 'queries');
    try {
      for (const [at, query] of queries.entries()) {
        const grades = new Map(query.candidates.map(({ id, grade }) => [id, grade]));
        await records.add(query.query, { body: shape.bodyOf(query, query.candidates), grades });
        progress.update(at + 1, at + 1);
      }
    } finally {
      progress.stop();
    }
    ledger.finish();
    return await buildDataSet(work.path, flags.out, flags.format, {
      pipeline,
      source: 'judgments',
      label: records.grades,
      attribute: [],
      window: 0,
      examined: { rule: 'judged' },
      split,
      gap: 0,
      since: -Infinity,
      until: Infinity,
      add: [],
    });
  } finally {
    ledger.abandon();
    await work.remove();
    await opened.close();
  }
}
