import { isScalar } from 'yaml';
import { parseDuration } from '../../../ground/api/duration.js';
import { TIME_FORMS, timestampOf } from '../../../ground/core/timestamp.js';
import { isDate } from '../../../ground/core/time-zone.js';
import { warnOfDate } from '../curation/read-rule.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { numberOf, Section } from '../yaml/section.js';
import { textOf, type Entry } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import {
  GUARDS,
  type ArmDefinition,
  type ExperimentDefinition,
  type ExperimentGuard,
  type ExperimentMetric,
  type ExperimentMetrics,
} from '../model/experiments.js';

const DAY = 86_400_000;
const DEFAULT_MARGIN = 0.1;

/** Loads the experiments of a project. `checkExperiments` checks the names in them. Wrong shapes are already reported. */
export function loadExperiments(
  files: readonly ParsedFile[],
  diagnostics: Diagnostics,
): ExperimentDefinition[] {
  return files.flatMap((parsed) => loadExperiment(parsed, diagnostics) ?? []);
}

/** @returns undefined if a required key is missing, which is reported */
function loadExperiment(
  { file, name, root }: ParsedFile,
  diagnostics: Diagnostics,
): ExperimentDefinition | undefined {
  const experiment = new Section('experiment', file, root, diagnostics);
  const [pipeline, unit] = [experiment.located('pipeline'), experiment.located('unit')];
  const arms = experiment.entries('arms').map((entry) => readArm(experiment, entry));
  if (pipeline === undefined || unit === undefined || arms.length === 0) return undefined;
  const from = readTime(experiment, 'from');
  const until = readTime(experiment, 'until');
  if (from !== undefined && until !== undefined && until <= from)
    experiment.wrong('until', 'must be later than `from`');
  const assign = experiment.located('assign');
  for (const key of assign === undefined ? [] : (['share', 'layer', 'offset'] as const))
    if (experiment.has(key))
      experiment.wrong(
        key,
        'does not apply with `assign`',
        'leave it out: the other platform chooses the units',
      );
  return {
    name: name.value,
    pipeline,
    mode: experiment.word('mode') ?? 'split',
    unit,
    assign: assign && { value: assign.value.replace(/^request\./, ''), at: assign.at },
    share: experiment.share('share') ?? 1,
    offset: experiment.share('offset') ?? 0,
    layer: experiment.located('layer') ?? name,
    from,
    until,
    arms: new Map(arms.map((arm) => [arm.name, arm])),
    metrics: readMetrics(experiment.section('metrics')),
    file,
    at: name.at,
  };
}

function readTime(experiment: Section<'experiment'>, key: 'from' | 'until'): number | undefined {
  const node = experiment.value(key);
  if (!isScalar(node)) return undefined;
  const time = timestampOf(node.value);
  if (isDate(String(node.value)))
    warnOfDate({ value: String(node.value), at: experiment.at(key) }, experiment.diagnostics);
  if (!Number.isNaN(time)) return time;
  experiment.wrong(key, `expected ${TIME_FORMS}`);
  return undefined;
}

function readArm(experiment: Section<'experiment'>, { key: name, keyAt, value }: Entry): ArmDefinition {
  const arm = experiment.of('experiment.arms.*', value);
  const params = arm.entries('params').flatMap((entry) => {
    const number = numberOf(entry.value);
    return number === undefined ? [] : [[entry.key, { value: number, at: entry.keyAt }] as const];
  });
  return {
    name,
    weight: arm.number('weight') ?? 1,
    params: new Map(params),
    pipeline: arm.located('pipeline'),
    at: keyAt,
  };
}

function readMetrics(metrics: Section<'experiment.metrics'>): ExperimentMetrics | undefined {
  const primary = readMetric(metrics.section('primary'));
  if (primary === undefined) return undefined;
  const place = 'experiment.metrics.secondary';
  return {
    primary,
    secondary: metrics.items('secondary').flatMap((item) => readMetric(metrics.of(place, item)) ?? []),
    guard: metrics.items('guard').flatMap((item) => readGuard(metrics.of('experiment.metrics.guard', item))),
  };
}

function readMetric(
  metric: Section<'experiment.metrics.primary'> | Section<'experiment.metrics.secondary'>,
): ExperimentMetric | undefined {
  const event = metric.text('event');
  if (event === undefined) return undefined;
  const value = metric.text('value') ?? 'count';
  const summed = /^sum\((.*)\)$/.exec(value)?.[1];
  return {
    event,
    value: summed === undefined ? { kind: value === 'any' ? 'any' : 'count' } : { kind: 'sum', of: summed },
    over: metric.text('over'),
    within: parseDuration(metric.text('within') ?? '') ?? 7 * DAY,
    before: parseDuration(metric.section('adjust').text('before') ?? ''),
    at: metric.at(),
  };
}

function readGuard(guard: Section<'experiment.metrics.guard'>): ExperimentGuard[] {
  const named = textOf(guard.node) ?? guard.text('metric');
  const metric = GUARDS.find((one) => one === named);
  return metric === undefined
    ? []
    : [{ metric, margin: guard.share('margin') ?? DEFAULT_MARGIN, at: guard.at() }];
}
