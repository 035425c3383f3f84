import { join } from 'node:path';
import { partitionsOf } from '../dataset/scan-ledger.js';
import { numberOf, textOf, textsOf } from '../dataset/fields.js';
import { PartitionFiles } from '../dataset/partition-files.js';
import { DataSetProblem } from '../dataset/problem.js';
import type { Exclusion } from '../../state/ledger/experiment-columns.js';
import { readReport, type ReadReport } from '../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import { Latencies } from './latency.js';
import type { ReportPlan } from './report-plan.js';
import type { Act, Exposed, Request, Told } from './unit-lines.js';

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
  /** The time of the last ranking or feedback. */
  readonly end: number;
  /** The kinds of feedback in the ledger. */
  readonly kinds: ReadonlySet<string>;
  /** The smallest share of requests that a pipeline logged by something else than the unit; 1 if all units are whole. */
  readonly sampled: number;
  readonly report: ReadReport;
}

/**
 * Reads a ledger once, and divides what belongs to an experiment into partitions.
 * @param work a folder for the partitions
 * @throws DataSetProblem if the ledger has no request of the experiment
 */
export async function scanExperiment(
  ledger: string,
  work: string,
  plan: ReportPlan,
  progress: (fraction: number) => void,
): Promise<ScannedExperiment> {
  const { bytes, parts } = await partitionsOf(ledger);
  const scan = new Scan(plan, work, parts);
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
  readonly #byRequest: PartitionFiles;
  readonly #byUnit: PartitionFiles;
  readonly #latencies = new Map<string, Latencies>();
  readonly #excluded = new Map<string, number>();
  readonly #kinds = new Set<string>();
  readonly #others = new Set<string>();
  #found = 0;
  #failed = 0;
  #orphans = 0;
  #end = -Infinity;
  #sampled = 1;

  constructor(plan: ReportPlan, work: string, parts: number) {
    this.#plan = plan;
    this.#byRequest = new PartitionFiles(join(work, 'requests'), parts);
    this.#byUnit = new PartitionFiles(join(work, 'units'), parts);
  }

  add(record: DecodedRecord): void {
    if (record.kind === 'ranking') this.#ranking(record);
    else if (record.kind === 'feedback') this.#feedback(record);
  }

  finish(ledger: string): ScannedExperiment {
    const { experiment } = this.#plan;
    if (this.#found === 0) {
      const others = [...this.#others].sort().join(', ');
      throw new DataSetProblem(
        `${ledger} has no request of the experiment ${experiment}${others === '' ? '' : `; it has ${others}`}`,
        'requests take part while the experiment is active, and only pipelines with `log:` are logged',
      );
    }
    this.#byRequest.flush();
    this.#byUnit.flush();
    return {
      byRequest: this.#byRequest,
      byUnit: this.#byUnit,
      latencies: this.#latencies,
      excluded: this.#excluded,
      failed: this.#failed,
      orphans: this.#orphans,
      end: this.#end,
      kinds: this.#kinds,
      sampled: this.#sampled,
      report: this.report,
    };
  }

  #ranking(record: DecodedRecord): void {
    const time = numberOf(record.field('time'));
    const request = textOf(record.field('request_id'));
    if (Number.isNaN(time) || request === undefined) return;
    this.#end = Math.max(this.#end, time);
    const names = textsOf(record.field('experiment'));
    const at = names.indexOf(this.#plan.experiment);
    for (const name of names) if (name !== this.#plan.experiment) this.#others.add(name);
    if (at === -1 || time < this.#plan.from || time >= this.#plan.until) return;
    this.#found += 1;
    const of = (name: string): string => textsOf(record.field(name))[at] ?? '';
    const [arm, unit, excluded] = [of('arm'), of('experiment_unit'), of('excluded')];
    const reason = excluded === '' && unit === '' ? ('no_unit' satisfies Exclusion) : excluded;
    if (reason !== '') {
      this.#excluded.set(reason, (this.#excluded.get(reason) ?? 0) + 1);
      return;
    }
    this.#noteShare(record);
    const failed = textOf(record.field('status')) !== 'ok';
    if (failed && this.#plan.mode === 'interleave') {
      this.#failed += 1;
      return;
    }
    const degraded = textsOf(record.field('degraded')).length > 0;
    if (!failed) this.#latenciesOf(arm).add(numberOf(record.field('ms')));
    this.#toUnit({ is: 'request', unit, arm, time, failed, degraded });
    this.#toRequest({ is: 'exposed', request, unit, teams: teamsOf(record) });
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
    this.#end = Math.max(this.#end, numberOf(record.field('received')));
    const event = textOf(record.field('event')) ?? '';
    this.#kinds.add(event);
    const { metric, unit: type } = this.#plan;
    if (event !== metric.event && event !== metric.over) return;
    const time = numberOf(record.field('time'));
    const subject = textOf(record.field('subject_id'));
    if (Number.isNaN(time) || subject === undefined) {
      this.#orphans += 1;
      return;
    }
    const subjectType = textOf(record.field('subject_type')) ?? '';
    const value =
      metric.value.kind === 'sum' && event === metric.event ? numberOf(record.value(metric.value.of)) : 1;
    const request = textOf(record.field('request_id'));
    if (request !== undefined) {
      this.#toRequest({ is: 'told', request, event, subjectType, subject, time, value });
      return;
    }
    const unit = textOf(record.value(type));
    if (unit === undefined) {
      this.#orphans += 1;
      return;
    }
    const id = textOf(record.field('event_id'));
    const identity = JSON.stringify([event, subjectType, subject, id ?? time]);
    this.#toUnit({ is: 'act', unit, event, time, value, team: undefined, identity });
  }

  #toRequest(line: Exposed | Told): void {
    this.#byRequest.appendJson(this.#byRequest.of(line.request), line);
  }

  #toUnit(line: Request | Act): void {
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
