import { didYouMean } from '../../ground/core/nearest.js';
import { absentKinds } from './absent-kinds.js';
import { AsOf } from './as-of.js';
import { attributeLoose } from './attribute-loose.js';
import { DataSetFiles } from './data-set-files.js';
import { FeatureWriter } from './feature-writer.js';
import type { Feature, LeftOut } from './features.js';
import { RequestJoin, type JoinCounts } from './join-requests.js';
import { attributionCounts, MANIFEST_FORMAT, type Manifest } from './manifest.js';
import { MILLION, type DataSetOptions } from './options.js';
import { DataSetProblem } from './problem.js';
import { scanLedger, type ScannedLedger } from './scan-ledger.js';
import { spanText } from './span-text.js';
import { Splitter } from './splitter.js';
import { Summaries } from './summaries.js';
import type { DataFormat } from './table-files.js';
import type { ReadReport } from '../../state/ledger/frame-splitter.js';

const NOTHING: ReadonlySet<string> = new Set();
const MINUTE = 60_000;

export interface BuiltDataSet {
  readonly manifest: Manifest;
  /** What was read of the ledger. */
  readonly report: ReadReport;
  /** What the user should know, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Joins the rankings of a ledger with their feedback, and writes a data set. It reads the ledger once, divides it into
 * partitions on disk, and joins one partition at a time, so its memory does not grow with the ledger.
 * @param ledger a folder with segments
 * @param progress gets the fraction that is done, 0 to 1
 * @throws DataSetProblem
 */
export async function buildDataSet(
  ledger: string,
  out: string,
  format: DataFormat,
  given: DataSetOptions,
  progress: (fraction: number) => void = () => undefined,
): Promise<BuiltDataSet> {
  const files = new DataSetFiles(out, format);
  try {
    const scanned = await scanLedger(ledger, files.work, given, (done) => progress(done / 3));
    const options = fitted(given, scanned);
    const splitter = new Splitter(options, scanned.times, scanned.end);
    const { features, leftOut } = featuresOf(scanned, options.today ?? NOTHING);
    const asOf = AsOf.join(scanned.rankings, scanned.histories, scanned.candidateType, files.work);
    const loose = attributeLoose(scanned.loose, scanned.linked, options.attribute);
    const summaries = new Summaries(features);
    files.open(features, summaries);
    const counts: JoinCounts = {
      requests: {
        train: 0,
        holdout: 0,
        censored: 0,
        failed: scanned.failed,
        gap: 0,
        empty: 0,
        without_feedback: 0,
      },
      attribution: {
        ...attributionCounts(),
        orphans: scanned.orphans + loose.orphans,
        duplicates: loose.duplicates,
        unused: scanned.unused,
      },
      rows: { train: 0, holdout: 0, with_grade: 0 },
      from: Infinity,
      to: -Infinity,
    };
    const join = new RequestJoin({
      scanned,
      options,
      splitter,
      features: new FeatureWriter(features, summaries),
      asOf,
      taker: files,
      counts,
    });
    const { count } = scanned.rankings;
    for (let part = 0; part < count; part++) {
      join.join(part);
      progress((1 + (2 * (part + 1)) / count) / 3);
    }
    checkDivided(counts, options, splitter);
    checkNotEmpty(counts, options, scanned);
    files.close();
    const manifest = manifestOf(scanned, options, splitter, {
      files: files.names(),
      features: summaries.features(),
      sampled: summaries.sampled,
      left_out: leftOut,
      ...counts,
    });
    files.writeManifest(manifest);
    return { manifest, report: scanned.report, warnings: warningsOf(scanned, options, manifest, splitter) };
  } finally {
    files.end();
  }
}

/** Shortens default windows: an imported log ends, so a window of a week would leave out most of a log of a few days. */
function fitted(options: DataSetOptions, { imported, times, end }: ScannedLedger): DataSetOptions {
  const { fits, attribute, window, gap } = options;
  if (!imported || fits?.window !== true) return options;
  const tenth = (end - times.reduce((first, time) => Math.min(first, time), end)) / 10;
  const least = Math.max(MINUTE, ...attribute.map(({ window: its }) => its));
  const shorter = Math.min(window, Math.max(least, MINUTE * Math.floor(tenth / MINUTE)));
  return { ...options, window: shorter, gap: fits.gap ? shorter : gap };
}

function featuresOf(
  { features: table, histories, candidateType }: ScannedLedger,
  today: ReadonlySet<string>,
): { readonly features: readonly Feature[]; readonly leftOut: readonly LeftOut[] } {
  const { features, leftOut } = table.features(today);
  const added = histories.features(candidateType);
  for (const { name } of added)
    if (features.some((feature) => feature.name === name))
      throw new DataSetProblem(`${name} is in the rankings already`, `leave out --add ${name}`);
  return { features: [...features, ...added], leftOut };
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
function checkNotEmpty({ requests }: JoinCounts, options: DataSetOptions, scanned: ScannedLedger): void {
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
  scanned: ScannedLedger,
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
    ...(scanned.features.isOfToday ? { computed_at_import: true } : {}),
    sampled,
  };
}

function warningsOf(
  { kinds, report, features }: ScannedLedger,
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
  if (features.isOfToday)
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
