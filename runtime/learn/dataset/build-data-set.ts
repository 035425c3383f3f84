import { setImmediate } from 'node:timers/promises';
import { didYouMean } from '../../ground/core/nearest.js';
import { absentKinds } from './absent-kinds.js';
import { buildIdentity, BuildWork } from './build-work.js';
import { DataSetFiles } from './data-set-files.js';
import { divideLedger, openDivided, type DividedFacts, type DividedLedger } from './divided-ledger.js';
import { FeatureWriter } from './feature-writer.js';
import { RequestJoin, type JoinCounts } from './join-requests.js';
import { attributionCounts, MANIFEST_FORMAT, type Manifest } from './manifest.js';
import { MILLION, type DataSetOptions } from './options.js';
import { DataSetProblem } from './problem.js';
import { RowBatch, type Rows } from './row-batch.js';
import { spanText } from './span-text.js';
import { Splitter } from './splitter.js';
import { Summaries } from './summaries.js';
import type { DataFormat } from './table-files.js';
import type { ReadReport } from '../../state/ledger/frame-splitter.js';

const MINUTE = 60_000;

export interface BuiltDataSet {
  readonly manifest: Manifest;
  /** What was read of the ledger. */
  readonly report: ReadReport;
  /** What the user should know, one sentence each. */
  readonly warnings: readonly string[];
}

/** Called while a data set is built. */
export interface BuildListener {
  /** @param fraction that is done, 0 to 1 */
  progress?(fraction: number): void;
  /** A build that was stopped is continued. */
  resumed?(done: number, parts: number): void;
}

/** What a partition has when it is joined: its rows, and the counts of all partitions up to it. */
interface JoinedPart {
  readonly train: Rows;
  readonly holdout: Rows;
  readonly counts: JoinCounts;
  readonly statuses: Float64Array;
  readonly split: Pick<Splitter, 'unnamed' | 'otherTypes'>;
}

/**
 * Joins the rankings of a ledger with their feedback, and writes a data set. It reads the ledger once, divides it into
 * partitions on disk, and joins one partition at a time, so its memory does not grow with the ledger. A build that was
 * stopped after the division continues with the partitions that are not joined, if ledger and options are the same.
 * @param ledger a folder with segments
 * @throws DataSetProblem
 */
export async function buildDataSet(
  ledger: string,
  out: string,
  format: DataFormat,
  given: DataSetOptions,
  listener: BuildListener = {},
): Promise<BuiltDataSet> {
  const files = new DataSetFiles(out, format);
  // The ledger of judgments is temporary.
  const identity = given.source === 'judgments' ? undefined : await buildIdentity(ledger, format, given);
  const work = new BuildWork<DividedFacts, JoinedPart>(files.work, identity);
  try {
    const divided = await dividedBy(work, files.work, ledger, given, listener);
    const { facts } = divided;
    const options = fitted(given, facts);
    const splitter = new Splitter(options, facts.times, facts.end);
    const summaries = new Summaries(facts.features);
    files.open(facts.features, summaries);
    const counts = firstCounts(facts);
    const features = new FeatureWriter(facts.features, summaries);
    const join = new RequestJoin({ divided, options, splitter, features, counts });
    await joinAll(join, work, facts, { splitter, summaries, counts, files }, listener);
    checkDivided(counts, options, splitter);
    checkNotEmpty(counts, options, facts);
    files.close();
    const manifest = manifestOf(facts, options, splitter, {
      files: files.names(),
      features: summaries.features(),
      sampled: summaries.sampled,
      left_out: facts.leftOut,
      ...counts,
    });
    files.writeManifest(manifest);
    return { manifest, report: facts.report, warnings: warningsOf(facts, options, manifest, splitter) };
  } finally {
    files.end();
  }
}

async function dividedBy(
  work: BuildWork<DividedFacts, JoinedPart>,
  folder: string,
  ledger: string,
  given: DataSetOptions,
  listener: BuildListener,
): Promise<DividedLedger> {
  if (work.facts !== undefined) return openDivided(folder, work.facts);
  const divided = await divideLedger(ledger, folder, given, (done) => listener.progress?.(done / 3));
  work.saveFacts(divided.facts);
  return divided;
}

/** Joins all partitions, apart from those that were joined before the build was stopped. */
async function joinAll(
  join: RequestJoin,
  work: BuildWork<DividedFacts, JoinedPart>,
  { features, sizes }: DividedFacts,
  state: {
    readonly splitter: Splitter;
    readonly summaries: Summaries;
    readonly counts: JoinCounts;
    readonly files: DataSetFiles;
  },
  listener: BuildListener,
): Promise<void> {
  const { splitter, summaries, counts, files } = state;
  const { length } = sizes.rankings;
  const batches = { train: new RowBatch(features), holdout: new RowBatch(features) };
  let done = 0;
  for (let part = 0; part < length; part++) {
    let joined = done === part ? work.joined(part) : undefined;
    if (joined === undefined) {
      if (part === done && part > 0) listener.resumed?.(done, length);
      batches.train.clear();
      batches.holdout.clear();
      join.join(part, batches);
      joined = {
        train: batches.train.rows(),
        holdout: batches.holdout.rows(),
        counts,
        statuses: summaries.statuses,
        split: { unnamed: splitter.unnamed, otherTypes: splitter.otherTypes },
      };
      if (length > 1) work.saveJoined(part, joined);
      join.remove(part);
    } else {
      done += 1;
      restoreCounts(counts, joined.counts);
      summaries.restore(joined.statuses);
      splitter.restore(joined.split);
    }
    files.take('train', joined.train);
    files.take('holdout', joined.holdout);
    listener.progress?.((1 + (2 * (part + 1)) / length) / 3);
    // Between two partitions a signal can end the command.
    await setImmediate();
  }
}

function firstCounts({ failed, orphans, duplicates, unused }: DividedFacts): JoinCounts {
  return {
    requests: { train: 0, holdout: 0, censored: 0, failed, gap: 0, empty: 0, without_feedback: 0 },
    attribution: { ...attributionCounts(), orphans, duplicates, unused },
    rows: { train: 0, holdout: 0, with_grade: 0 },
    from: Infinity,
    to: -Infinity,
  };
}

function restoreCounts(counts: JoinCounts, saved: JoinCounts): void {
  for (const name of ['requests', 'attribution', 'rows'] as const) Object.assign(counts[name], saved[name]);
  counts.from = saved.from;
  counts.to = saved.to;
}

/** Shortens default windows: an imported log ends, so a window of a week would leave out most of a log of a few days. */
function fitted(options: DataSetOptions, { imported, times, end }: DividedFacts): DataSetOptions {
  const { fits, attribute, window, gap } = options;
  if (!imported || fits?.window !== true) return options;
  const tenth = (end - times.reduce((first, time) => Math.min(first, time), end)) / 10;
  const least = Math.max(MINUTE, ...attribute.map(({ window: its }) => its));
  const shorter = Math.min(window, Math.max(least, MINUTE * Math.floor(tenth / MINUTE)));
  return { ...options, window: shorter, gap: fits.gap ? shorter : gap };
}

/** @throws DataSetProblem if a split by hash names a type that no request has: most likely it is misspelt */
function checkDivided(
  { requests }: JoinCounts,
  { split }: DataSetOptions,
  { unnamed, otherTypes }: Splitter,
): void {
  const all = requests.train + requests.holdout;
  if (split.by !== 'hash' || all === 0 || unnamed < all) return;
  const share = `${(100 * split.train) / MILLION}%`;
  throw new DataSetProblem(
    `no request has a ${split.type}, so --split cannot divide them by it`,
    didYouMean(split.type, otherTypes, (guess) => `--split hash:${guess}:${share}`) ??
      `write --split hash:request:${share}, which divides the requests by their own ids`,
  );
}

/** @throws DataSetProblem if no request is left */
function checkNotEmpty({ requests }: JoinCounts, options: DataSetOptions, scanned: DividedFacts): void {
  if (requests.train + requests.holdout > 0 && requests.train > 0) return;
  const { censored, gap } = requests;
  if (requests.holdout > 0)
    throw new DataSetProblem(
      `no request is left to train on: ${gap} are in the gap of ${spanText(options.gap)} before the hold-out`,
      'use a shorter --gap or --window, or split by a hash, e.g. --split hash:user:80%',
    );
  if (censored > 0)
    throw new DataSetProblem(
      `all ${censored} requests are younger than the window of ${spanText(options.window)}: their feedback may still come`,
      'use a shorter --window, e.g. --window 1h',
    );
  throw new DataSetProblem(
    `there are no rankings of ${scanned.pipeline} between --since and --until, apart from ${requests.failed} that failed`,
  );
}

function manifestOf(
  scanned: DividedFacts,
  options: DataSetOptions,
  splitter: Splitter,
  made: Pick<Manifest, 'files' | 'features' | 'sampled' | 'left_out'> & JoinCounts,
): Manifest {
  const { files, features, sampled, left_out, requests, rows, attribution, from, to } = made;
  const { split, examined } = options;
  return {
    format: MANIFEST_FORMAT,
    created: new Date().toISOString(),
    source: options.source ?? 'ledger',
    pipeline: scanned.pipeline,
    pipeline_versions: Object.fromEntries(scanned.versions),
    candidate_type: scanned.candidateType,
    files,
    features,
    left_out,
    label: Object.fromEntries(options.label),
    window_ms: options.window,
    requests,
    rows,
    attribution,
    attribute: Object.fromEntries(
      options.attribute.map(({ event, window }) => [event, { by: 'last_click', window_ms: window }]),
    ),
    split: {
      by: split.by,
      train: split.train / MILLION,
      ...(split.by === 'hash' ? { type: split.type } : {}),
      ...(splitter.at === undefined || splitter.at === Infinity
        ? {}
        : { at: new Date(splitter.at).toISOString(), gap_ms: options.gap }),
    },
    examined: {
      rule: examined.rule === 'last_click' ? `last_click+${examined.further}` : examined.rule,
      propensities: examined.rule === 'page',
    },
    time: { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
    ...(scanned.isOfToday ? { computed_at_import: true } : {}),
    sampled,
  };
}

function warningsOf(
  { kinds, report, isOfToday }: DividedFacts,
  { label, examined, split }: DataSetOptions,
  { requests, rows, left_out: leftOut }: Manifest,
  { unnamed }: Splitter,
): readonly string[] {
  const warnings: string[] = [];
  warnings.push(...absentKinds(label.keys(), kinds));
  if (rows.with_grade === 0) warnings.push('no row has a grade above 0, so nothing can be learned');
  if (split.by === 'hash' && unnamed > 0)
    warnings.push(
      `${unnamed} of ${requests.train + requests.holdout} requests have no ${split.type}: --split divides them by their own ids`,
    );
  if (requests.holdout === 0) warnings.push('the hold-out is empty');
  if (examined.rule === 'last_click')
    warnings.push(
      'rows below the last click are marked as not examined; do not use weights by propensity with them, because the cut depends on the clicks',
    );
  const late = leftOut.filter(({ today }) => today !== undefined);
  if (late.length > 0)
    warnings.push(
      `left out, because an import knew only their values of today: ${late.map(({ name }) => name).join(', ')}; ` +
        `keep them with --today ${[...new Set(late.flatMap(({ today }) => today ?? []))].join(',')}`,
    );
  if (isOfToday)
    warnings.push(
      'some values of imported rankings are those of the import: they may know what happened after the ranking',
    );
  const lost = report.damaged + report.torn + report.skipped;
  if (lost > 0)
    warnings.push(
      `${report.damaged} damaged, ${report.torn} torn and ${report.skipped} unknown frames of the ledger were skipped`,
    );
  return warnings;
}
