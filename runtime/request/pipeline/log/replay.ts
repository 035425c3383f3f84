import type { Column } from '../../../ground/api/columns.js';
import { isKnown, Status } from '../../../ground/api/status.js';
import type { Plan } from '../../compile/plan.js';
import { Deadline } from '../../../ground/core/deadline.js';
import { draftCoins } from '../../experiments/draft-coins.js';
import { writeJson, writeList, writeMissing } from '../../../language/frame/cells.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { Cells } from '../../../state/ledger/cells.js';
import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';
import { releaseFrame } from './leave-record.js';
import { runComponents, type RankedCandidates, type StepServices } from '../components/run-components.js';
import { teamName, type Teams } from '../interleave/mixed-run.js';
import { runInterleaved } from '../interleave/run-interleaved.js';
import { setParams } from '../interleave/arm-frame.js';
import { loggedDraws } from './logged-draws.js';
import { baseColumns, pipelineOf, recordProblem, schemaProblem, type BaseColumn } from './replay-needs.js';
import {
  replayedArms,
  servedArms,
  type ReplayedArms,
  type ReplayedPipeline,
  type ReplayedPipelines,
} from './replayed-arms.js';

/** A candidate whose place or score differs. */
export interface ReplayDifference {
  readonly candidate: string;
  /** As logged and as replayed; 0 if a filter removed it. */
  readonly place: readonly [number, number];
  readonly score: readonly [number, number];
  /** Of an interleaved request: the arm that gets the credit; null if both placed it. */
  readonly team?: readonly [string | null, string | null];
}

export type ReplayOutcome =
  | {
      readonly kind: 'replayed';
      readonly candidates: number;
      readonly differences: readonly ReplayDifference[];
    }
  /** `reason` continues “they were not replayed: ”. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Runs logged requests again, from the values that were logged, with the arms of experiments that served them. */
export class Replay {
  readonly #pipelines: ReplayedPipelines;
  readonly #base = new Map<Plan, readonly BaseColumn[]>();
  /** By schema and arms. */
  readonly #arms = new Map<string, ReplayedArms | string>();
  readonly #problems = new Map<string, string | undefined>();

  /** @param pipelines of a project */
  constructor(pipelines: readonly ReplayedPipeline[]) {
    this.#pipelines = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]));
  }

  /**
   * Runs the steps over the values that were logged, and compares the order and the scores with what was served.
   * @throws MillraceError if a step fails
   */
  async run(record: DecodedRecord): Promise<ReplayOutcome> {
    const { schema } = record;
    const pipeline = this.#pipelines.get(pipelineOf(record));
    if (pipeline === undefined) return { kind: 'refused', reason: 'the project has no such pipeline' };
    const base = this.#baseOf(pipeline.plan);
    if (!this.#problems.has(schema.id))
      this.#problems.set(schema.id, schemaProblem(pipeline.plan, base, schema));
    const reason = this.#problems.get(schema.id) ?? recordProblem(record);
    if (reason !== undefined) return { kind: 'refused', reason };
    const arms = this.#armsOf(record, pipeline.plan);
    if (typeof arms === 'string') return { kind: 'refused', reason: arms };
    const { plan } = arms;
    const ids = Array.from({ length: record.rows.candidate }, (_, row) =>
      textAt(record, 'candidate_id', row),
    );
    const frame = plan.frames.acquire(ids.length, numberAt(record, 'time', 0));
    this.#fill(plan, base, frame, record, ids);
    const deadline = new Deadline(plan.definition.limits.time);
    try {
      const ranked = await runArms(arms, frame, record, ids, {
        deadline,
        isRehearsal: true,
        draws: loggedDraws(record),
        page: { size: numberAt(record, 'page_size', 0), first: numberAt(record, 'page_start', 0) },
      });
      if (typeof ranked === 'string') return { kind: 'refused', reason: ranked };
      const differences = differencesOf(record, ids, ranked);
      releaseFrame(plan, frame, ranked.steps);
      ranked.release?.();
      return { kind: 'replayed', candidates: ids.length, differences };
    } finally {
      deadline.end();
    }
  }

  #armsOf(record: DecodedRecord, plan: Plan): ReplayedArms | string {
    const key = JSON.stringify([record.schema.id, servedArms(record)]);
    const known = this.#arms.get(key) ?? replayedArms(record, plan, this.#pipelines);
    this.#arms.set(key, known);
    return known;
  }

  #baseOf(plan: Plan): readonly BaseColumn[] {
    const known = this.#base.get(plan) ?? baseColumns(plan);
    this.#base.set(plan, known);
    return known;
  }

  #fill(
    plan: Plan,
    base: readonly BaseColumn[],
    frame: Frame,
    record: DecodedRecord,
    ids: readonly string[],
  ): void {
    const [candidates] = plan.nodes;
    if (candidates === undefined) throw new Error('a plan has candidates');
    const column = frame.text(candidates.ids);
    for (const [row, id] of ids.entries()) {
      column.values[row] = id;
      column.status[row] = Status.present;
    }
    for (const { slot, name } of base) {
      const cells = record.value(name);
      const to = frame.columns[slot];
      if (cells === undefined || to === undefined) throw new Error(`the record has no ${name}`);
      const rows = to.stride === 0 ? 1 : frame.count;
      for (let row = 0; row < rows; row++) writeCell(to, row, cells);
    }
    setParams(plan, frame);
  }
}

/** Writes a cell as it was served, with its status. */
function writeCell(column: Column, row: number, cells: Cells): void {
  const status = cells.statusAt(row);
  const value = cells.at(row);
  if (!isKnown(status) || value === undefined) {
    writeMissing(column, row, status);
  } else if (column.kind === 'texts') {
    writeList(column, row, value as readonly string[], status);
  } else if (column.kind === 'numbers') {
    writeList(column, row, Float64Array.from(value as readonly number[]), status);
  } else if (column.kind === 'number') {
    column.values[row] = cells.numberAt(row);
    column.status[row] = status;
  } else {
    writeJson(column, row, value);
    column.status[row] = status;
  }
}

/** Runs the steps as they were run when the request was served. @returns why it cannot be compared, if an arm fails */
async function runArms(
  { plan, second }: ReplayedArms,
  frame: Frame,
  record: DecodedRecord,
  ids: readonly string[],
  services: StepServices,
): Promise<ReplayedRanking | string> {
  if (second === undefined) return runComponents(plan, frame, ids, services);
  const { experiment, arms, plan: other, shared } = second;
  const run = await runInterleaved(
    plan,
    frame,
    ids,
    {
      name: `${experiment}=${arms[1]}`,
      plan: other,
      shared,
      coin: draftCoins(experiment, String(record.field('request_id')?.at(0))),
      read: () => Promise.reject(new Error('a replay reads nothing')),
    },
    services,
  );
  const { interleaved: order, problem } = run;
  if (order === undefined) return `an arm of the experiment ${experiment} fails now: ${problem ?? ''}`;
  return { ...run, teams: { experiment, arms, order } };
}

type ReplayedRanking = RankedCandidates & { readonly teams?: Teams; readonly release?: () => void };

function differencesOf(
  record: DecodedRecord,
  ids: readonly string[],
  { ranking, teams }: ReplayedRanking,
): ReplayDifference[] {
  const places = new Int32Array(ids.length);
  const scores = new Float64Array(ids.length);
  ranking.placeAll(places, scores);
  return ids.flatMap((candidate, row) => {
    const place = [numberAt(record, 'place', row), places[row] ?? 0] as const;
    const score = [numberAt(record, 'score', row), scores[row] ?? NaN] as const;
    const team = teams && ([teamAt(record, row), teamName(teams, row) ?? null] as const);
    // -0 and 0 are the same score.
    const isSame =
      place[0] === place[1] &&
      (score[0] === score[1] || score.every((one) => Number.isNaN(one))) &&
      team?.[0] === team?.[1];
    return isSame ? [] : [{ candidate, place, score, ...(team && { team }) }];
  });
}

function teamAt(record: DecodedRecord, row: number): string | null {
  const team = record.field('team')?.at(row);
  return typeof team === 'string' ? team : null;
}

function numberAt(record: DecodedRecord, field: string, row: number): number {
  return record.field(field)?.numberAt(row) ?? NaN;
}

function textAt(record: DecodedRecord, field: string, row: number): string {
  const value = record.field(field)?.at(row);
  return typeof value === 'string' ? value : '';
}
