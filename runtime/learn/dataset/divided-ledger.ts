import { join } from 'node:path';
import type { ReadReport } from '../../state/ledger/frame-splitter.js';
import { AsOf } from './as-of.js';
import { attributeLoose } from './attribute-loose.js';
import type { Feature, LeftOut } from './features.js';
import type { AddedView } from './history-parts.js';
import type { DataSetOptions } from './options.js';
import { PartitionFiles } from './partition-files.js';
import { DataSetProblem } from './problem.js';
import { scanLedger, type ScannedLedger } from './scan-ledger.js';

const NOTHING: ReadonlySet<string> = new Set();

/** What is known of a ledger that is divided into partitions. It can be stored. */
export interface DividedFacts extends Pick<
  ScannedLedger,
  'pipeline' | 'candidateType' | 'times' | 'end' | 'versions' | 'failed' | 'kinds' | 'imported'
> {
  readonly features: readonly Feature[];
  readonly leftOut: readonly LeftOut[];
  /** Whether some features have values of the time of an import. */
  readonly isOfToday: boolean;
  /** Feedback that has no ranking, that came twice, and that has no grade. */
  readonly orphans: number;
  readonly duplicates: number;
  readonly unused: number;
  readonly views: readonly AddedView[];
  readonly report: ReadReport;
  /** The bytes of each partition. */
  readonly sizes: Readonly<Record<'rankings' | 'linked' | 'answers', readonly number[]>>;
}

/** A ledger whose partitions can be joined, one after another. */
export interface DividedLedger {
  readonly facts: DividedFacts;
  /** Ranking records of the pipeline that did not fail, by request id. */
  readonly rankings: PartitionFiles;
  /** Feedback by request id. */
  readonly linked: PartitionFiles;
  /** Undefined if no feature is added. */
  readonly asOf: AsOf | undefined;
}

/** Divides a ledger. @param work a folder for the partitions @throws DataSetProblem */
export async function divideLedger(
  ledger: string,
  work: string,
  options: DataSetOptions,
  progress: (fraction: number) => void,
): Promise<DividedLedger> {
  const scanned = await scanLedger(ledger, work, options, progress);
  const { features: table, histories, candidateType, rankings, linked } = scanned;
  const { features, leftOut } = table.features(options.today ?? NOTHING);
  const added = histories.features(candidateType);
  for (const { name } of added)
    if (features.some((feature) => feature.name === name))
      throw new DataSetProblem(`${name} is in the rankings already`, `leave out --add ${name}`);
  await AsOf.join(rankings, histories, candidateType, work);
  const loose = attributeLoose(scanned.loose, linked, options.attribute);
  const { pipeline, times, end, versions, failed, kinds, imported, unused, report } = scanned;
  const { views } = histories;
  const answers = AsOf.answersIn(work, rankings.count);
  const sizes = { rankings: rankings.sizes(), linked: linked.sizes(), answers: answers.sizes() };
  return openDivided(work, {
    ...{ pipeline, candidateType, times, end, versions, failed, kinds, imported, report, views, sizes },
    features: [...features, ...added],
    leftOut,
    isOfToday: table.isOfToday,
    orphans: scanned.orphans + loose.orphans,
    duplicates: loose.duplicates,
    unused,
  });
}

/** Opens the partitions of a ledger that was divided. */
export function openDivided(work: string, facts: DividedFacts): DividedLedger {
  const { sizes, views } = facts;
  const count = sizes.rankings.length;
  return {
    facts,
    rankings: new PartitionFiles(join(work, 'rankings'), count, sizes.rankings),
    linked: new PartitionFiles(join(work, 'linked'), count, sizes.linked),
    asOf: views.length === 0 ? undefined : new AsOf(AsOf.answersIn(work, count, sizes.answers), views),
  };
}
