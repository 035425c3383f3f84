import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { partitionsOf } from '../dataset/scan-ledger.js';
import { numberOf, textOf, textsOf } from '../dataset/fields.js';
import { PartitionFiles } from '../dataset/partition-files.js';
import { timeText } from '../../ground/core/timestamp.js';
import { eventIdentity } from '../../ground/core/event-identity.js';
import { DataSetProblem } from '../dataset/problem.js';
import type { Exclusion } from '../../state/ledger/experiment-columns.js';
import { loggedPipeline } from '../../request/pipeline/log/logged-request.js';
import { objectOf } from '../../request/pipeline/log/replay-needs.js';
import { readReport, type ReadReport } from '../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import { Latencies } from './latency.js';
import { kindsOf, metricsOf, type ReportPlan, type ReportSources } from './report-plan.js';
import { outcomeActs, pasts } from './unit-files.js';
import type { Act, Exposed, Past, Request, Told } from './unit-lines.js';
import { ruleOf, type ExperimentMetric } from '../../project/config/model/experiments.js';
import { isMixed } from '../../project/config/model/experiment-modes.js';

/** What a ledger holds of an experiment, divided into partitions on disk. */
export interface ScannedExperiment {
  /** `Exposed` and `Told`, by request. */
  readonly byRequest: PartitionFiles;
  /** `Request` and `Act`, by unit. */
  readonly byUnit: PartitionFiles;
  /** By arm: the times of the answered requests. */
  readonly latencies: ReadonlyMap<string, Latencies>;
  /** Requests that do not count, by reason. */
  readonly excluded: ReadonlyMap<string, number>;
  /** Of an interleaving: failed requests. They showed no page, so they do not count. */
  readonly failed: number;
  /** Feedback without a request id and without the id of a unit. */
  readonly orphans: number;
  /** The time of the report. */
  readonly at: number;
  /** Rows of a file of outcomes that are later than the report. They do not count. */
  readonly laterRows: number;
  /** The time of the first ranking. */
  readonly start: number;
  /** The time of the last ranking or feedback. */
  readonly end: number;
  /** From when on, and until when, it is known what units did: from a file, or from the ledger. */
  readonly pastStart: number;
  readonly lastKnown: number;
  /** The time of the last counted request under another rule of decision; -Infinity if there was none. */
  readonly otherRule: number;
  /** Whether a file tells the past of units, and not the ledger. */
  readonly hasPastFile: boolean;
  /** The kinds of feedback in the ledger. */
  readonly kinds: ReadonlySet<string>;
  /** The smallest share of requests that a pipeline logged by something else than the unit; 1 if all units are whole. */
  readonly sampled: number;
  readonly report: ReadReport;
}

/**
 * Reads a ledger and files about units once, and divides what belongs to an experiment into partitions.
 * @throws DataSetProblem if the ledger has no request of the experiment; InputError for a file
 */
export async function scanExperiment(plan: ReportPlan, sources: ReportSources): Promise<ScannedExperiment> {
  const { ledger, files, progress } = sources;
  const { outcomes, covariates } = files;
  const { bytes, parts } = await partitionsOf(
    ledger,
    [outcomes, covariates].flatMap((path) => path ?? []),
  );
  const scan = new Scan(plan, sources, parts);
  if (outcomes !== undefined)
    for await (const act of outcomeActs(files, outcomes, plan)) scan.addOutcome(act);
  if (covariates !== undefined) for await (const past of pasts(files, covariates)) scan.addPast(past);
  let read = 0;
  for await (const record of readRecords(ledger, scan.report)) {
    scan.add(record);
    read += record.frame.length;
    if (scan.report.records % 1000 === 0) progress(read / bytes);
  }
  return scan.finish(ledger);
}

class Scan {
  readonly report = readReport();
  readonly #plan: ReportPlan;
  readonly #metrics: readonly ExperimentMetric[];
  readonly #needed: ReadonlySet<string>;
  /** Whether the requests before the experiment tell what units did then. */
  readonly #readsPast: boolean;
  readonly #hasPastFile: boolean;
  readonly #at: number;
  readonly #byRequest: PartitionFiles;
  readonly #byUnit: PartitionFiles;
  readonly #latencies = new Map<string, Latencies>();
  readonly #excluded = new Map<string, number>();
  readonly #kinds = new Set<string>();
  /** Kinds of feedback that a file has instead. */
  readonly #replaced = new Set<string>();
  readonly #others = new Set<string>();
  /** By schema: whether its records were written under the rule of the plan. */
  readonly #hasRule = new Map<string, boolean>();
  #found = 0;
  #failed = 0;
  #orphans = 0;
  #start = Infinity;
  #feedbackStart = Infinity;
  #fileStart = Infinity;
  #fileEnd = -Infinity;
  #end = -Infinity;
  #otherRule = -Infinity;
  #sampled = 1;
  #laterRows = 0;
  /** Whether rankings after the time of the report were left out. */
  #goesOn = false;

  constructor(plan: ReportPlan, { work, at, files }: ReportSources, parts: number) {
    this.#plan = plan;
    this.#at = at;
    this.#metrics = metricsOf(plan);
    this.#needed = kindsOf(plan);
    this.#hasPastFile = files.covariates !== undefined;
    this.#readsPast = !this.#hasPastFile && this.#metrics.some(({ before }) => before !== undefined);
    this.#byRequest = new PartitionFiles(join(work, 'requests'), parts);
    this.#byUnit = new PartitionFiles(join(work, 'units'), parts);
  }

  add(record: DecodedRecord): void {
    if (record.kind === 'ranking') this.#ranking(record);
    else if (record.kind === 'feedback') this.#feedback(record);
  }

  /** @param act undefined for one without a unit */
  addOutcome(act: Act | undefined): void {
    if (act === undefined) {
      this.#orphans += 1;
      return;
    }
    this.#kinds.add(act.event);
    this.#replaced.add(act.event);
    if (!this.#needed.has(act.event)) return;
    if (act.time > this.#at) {
      this.#laterRows += 1;
      return;
    }
    this.#fileStart = Math.min(this.#fileStart, act.time);
    this.#fileEnd = Math.max(this.#fileEnd, act.time);
    this.#toUnit(act);
  }

  addPast(past: Past): void {
    this.#toUnit(past);
  }

  finish(ledger: string): ScannedExperiment {
    const { experiment, population } = this.#plan;
    const until = this.#goesOn ? ` until ${timeText(this.#at)}` : '';
    if (this.#found === 0 && population !== undefined)
      throw new DataSetProblem(
        `${ledger} has no request of the pipeline ${population} with a ${this.#plan.unitField}${until}`,
        'only pipelines with `log:` are logged',
      );
    if (this.#found === 0) {
      const others = [...this.#others].sort().join(', ');
      throw new DataSetProblem(
        `${ledger} has no request of the experiment ${experiment}${until}${others === '' ? '' : `; it has ${others}`}`,
        'requests take part while the experiment is active, and only pipelines with `log:` are logged',
      );
    }
    this.#byRequest.flush();
    this.#byUnit.flush();
    const isFile = this.#replaced.has(this.#plan.metric.event);
    return {
      byRequest: this.#byRequest,
      byUnit: this.#byUnit,
      latencies: this.#latencies,
      excluded: this.#excluded,
      failed: this.#failed,
      orphans: this.#orphans,
      at: this.#at,
      laterRows: this.#laterRows,
      start: this.#start,
      pastStart: isFile ? this.#fileStart : Math.min(this.#start, this.#feedbackStart),
      lastKnown: isFile ? this.#fileEnd : this.#end,
      end: this.#end,
      otherRule: this.#otherRule,
      hasPastFile: this.#hasPastFile,
      kinds: this.#kinds,
      sampled: this.#sampled,
      report: this.report,
    };
  }

  #ranking(record: DecodedRecord): void {
    const time = numberOf(record.field('time'));
    const request = textOf(record.field('request_id'));
    if (time > this.#at) this.#goesOn = true;
    if (Number.isNaN(time) || time > this.#at || request === undefined) return;
    this.#start = Math.min(this.#start, time);
    this.#end = Math.max(this.#end, time);
    const exposure = this.#exposureOf(record, time);
    if (exposure === undefined) {
      const unit = this.#readsPast ? this.#entityOf(record) : undefined;
      if (unit !== undefined)
        this.#toRequest({ is: 'exposed', request, unit, teams: undefined, isOther: true });
      return;
    }
    const { arm, unit } = exposure;
    this.#noteShare(record);
    this.#noteRule(record, time);
    const failed = textOf(record.field('status')) !== 'ok';
    if (failed && isMixed(this.#plan)) {
      this.#failed += 1;
      return;
    }
    const degraded = textsOf(record.field('degraded')).length > 0;
    if (!failed) this.#latenciesOf(arm).add(numberOf(record.field('ms')));
    this.#toUnit({ is: 'request', unit, arm, time, failed, degraded });
    this.#toRequest({ is: 'exposed', request, unit, teams: teamsOf(record) });
  }

  /** The arm and the unit of a request that counts. */
  #exposureOf(
    record: DecodedRecord,
    time: number,
  ): { readonly arm: string; readonly unit: string } | undefined {
    const { experiment, from, until, population, arms } = this.#plan;
    if (population !== undefined) {
      const unit = loggedPipeline(record) === population ? this.#entityOf(record) : undefined;
      if (unit === undefined) return undefined;
      this.#found += 1;
      return { arm: arms[0]?.name ?? '', unit };
    }
    const names = textsOf(record.field('experiment'));
    const at = names.indexOf(experiment);
    for (const name of names) if (name !== experiment) this.#others.add(name);
    if (at === -1 || time < from || time >= until) return undefined;
    this.#found += 1;
    const of = (name: string): string => textsOf(record.field(name))[at] ?? '';
    const [arm, unit, excluded] = [of('arm'), of('experiment_unit'), of('excluded')];
    const reason = excluded === '' && unit === '' ? ('no_unit' satisfies Exclusion) : excluded;
    if (reason === '') return { arm, unit };
    this.#excluded.set(reason, (this.#excluded.get(reason) ?? 0) + 1);
    return undefined;
  }

  /** The unit of a request that is in no experiment. */
  #entityOf(record: DecodedRecord): string | undefined {
    const start = `${this.#plan.unit}=`;
    return textsOf(record.field('entities'))
      .find((entity) => entity.startsWith(start))
      ?.slice(start.length);
  }

  #noteRule({ schema }: DecodedRecord, time: number): void {
    let isSame = this.#hasRule.get(schema.id);
    if (isSame === undefined) {
      const { metric: primary, secondary, guards: guard, experiment } = this.#plan;
      const logged = objectOf(objectOf(schema.meta['experiments'])[experiment])['metrics'];
      isSame = logged === undefined || isDeepStrictEqual(logged, ruleOf({ primary, secondary, guard }));
      this.#hasRule.set(schema.id, isSame);
    }
    if (!isSame) this.#otherRule = Math.max(this.#otherRule, time);
  }

  #noteShare(record: DecodedRecord): void {
    const { log } = record.schema.meta;
    const unit = typeof log === 'object' && log !== null && 'unit' in log ? log.unit : undefined;
    const share = numberOf(record.field('share'));
    if (share < 1 && unit !== this.#plan.unitField) this.#sampled = Math.min(this.#sampled, share);
  }

  #latenciesOf(arm: string): Latencies {
    const known = this.#latencies.get(arm);
    if (known !== undefined) return known;
    const made = new Latencies();
    this.#latencies.set(arm, made);
    return made;
  }

  #feedback(record: DecodedRecord): void {
    const received = numberOf(record.field('received'));
    if (received > this.#at) return;
    this.#end = Math.max(this.#end, received);
    const event = textOf(record.field('event')) ?? '';
    this.#kinds.add(event);
    const time = numberOf(record.field('time'));
    if (time < this.#feedbackStart) this.#feedbackStart = time;
    if (!this.#needed.has(event) || this.#replaced.has(event)) return;
    const subject = textOf(record.field('subject_id'));
    if (Number.isNaN(time) || subject === undefined) {
      this.#orphans += 1;
      return;
    }
    const subjectType = textOf(record.field('subject_type')) ?? '';
    const values = this.#metrics.map((metric) =>
      metric.value.kind === 'sum' && event === metric.event ? numberOf(record.value(metric.value.of)) : 1,
    );
    const [id, request] = [textOf(record.field('event_id')), textOf(record.field('request_id'))];
    const identity = eventIdentity({ id, request, time }, [event, subjectType, subject]);
    if (request !== undefined) {
      this.#toRequest({ is: 'told', request, event, subject, time, values, identity });
      return;
    }
    const unit = textOf(record.value(this.#plan.unit));
    if (unit === undefined) {
      this.#orphans += 1;
      return;
    }
    this.#toUnit({ is: 'act', unit, event, time, values, team: undefined, identity, by: 'byUnit' });
  }

  #toRequest(line: Exposed | Told): void {
    this.#byRequest.appendJson(this.#byRequest.of(line.request), line);
  }

  #toUnit(line: Request | Act | Past): void {
    this.#byUnit.appendJson(this.#byUnit.of(line.unit), line);
  }
}

/** The credits of the candidates of the page; undefined if the request does not interleave. */
function teamsOf(record: DecodedRecord): Readonly<Record<string, string>> | undefined {
  const teams = record.field('team');
  if (teams === undefined) return undefined;
  const ids = record.field('candidate_id');
  const shown = record.field('on_page');
  // Ids come from outside: the record must not have a prototype.
  const found = Object.create(null) as Record<string, string>;
  for (let row = 0; row < record.rows.candidate; row++) {
    const [id, team] = [ids?.at(row), teams.at(row)];
    if (typeof id === 'string' && typeof team === 'string' && shown?.numberAt(row) !== 0) found[id] = team;
  }
  return found;
}
