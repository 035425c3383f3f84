import { createHash, randomUUID } from 'node:crypto';
import { MillraceError } from '../../ground/api/errors.js';
import { readBody, type BodyOf } from '../../ground/core/body-fields.js';
import { shuffled } from '../../ground/core/shuffle.js';
import { agreementOf } from '../../ground/core/agreement.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { paramProblem } from '../../project/config/project/param-values.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { Pipeline } from '../../request/pipeline/types.js';
import type { Cards } from '../../state/index/cards.js';
import type { Store } from '../../state/store/store.js';
import type { Asking } from '../compare/comparisons.js';
import {
  DEFAULT_DEPTH,
  DEFAULT_GRADES,
  isFormula,
  JUDGING_BODIES,
  MOST_ADDED,
  MOST_JUDGES,
  MOST_POOLED,
  MOST_QUERIES,
  readGrades,
  readStart,
  type Arm,
  type JudgedView,
  type JudgingExport,
  type JudgingRoute,
  type Round,
  type RoundList,
  type RoundState,
} from './round.js';
import { RoundStore, type Judged, type Verdict } from './round-store.js';

/** Of the project that judges see. */
export interface JudgingParts {
  readonly store: Store;
  readonly prefix: string;
  readonly now: () => number;
  readonly config: ProjectConfig;
  readonly pipelines: readonly Pipeline[];
  readonly cards: Cards;
  readonly warn: (message: string) => void;
}

/** The name of the only judge of a service without keys, unless the request has another. */
const SOMEBODY = 'judge';

/**
 * Rounds of judging. A round has the queries and the arms. The candidates of a query are the first ones of all arms; they
 * are found when the first judge opens the query, so that all judges grade the same. A judge sees neither the arms nor the
 * scores, and has an order of their own.
 */
export class Judging {
  readonly #rounds: RoundStore;

  constructor(private readonly parts: JudgingParts) {
    this.#rounds = new RoundStore(parts.store, parts.prefix, parts.now);
  }

  async list(who: Asking): Promise<RoundList> {
    const rounds = await this.#rounds.list();
    return {
      pipelines: this.#ranking
        .map(({ name }) => name)
        .filter((name) => who.pipelines?.includes(name) !== false),
      rounds: rounds.filter(({ arms }) => mayUse(arms, who)).map(stateOf),
    };
  }

  /** @throws MillraceError invalid_body, key_not_allowed, round_exists, rounds_full, or a code of STORE_WRITE_FAILURES */
  async start(body: unknown, who: Asking): Promise<RoundState> {
    const {
      round,
      arms,
      queries,
      depth = DEFAULT_DEPTH,
      grades = DEFAULT_GRADES,
      query_field,
    } = readStart(
      body,
      this.#ranking.map(({ name }) => name),
    );
    if (!mayUse(arms, who))
      throw new MillraceError('key_not_allowed', 'the key may not use a pipeline of the arms');
    this.#checkArms(arms, query_field);
    const created: Round = {
      ...{ round, id: randomUUID().slice(0, 8), arms, queries, depth },
      grades: [...grades].sort((a, b) => a - b),
      ...(query_field === undefined ? {} : { query_field }),
      ...{ author: who.name ?? null, at: new Date(this.parts.now()).toISOString() },
    };
    await this.#rounds.create(created);
    return stateOf(created);
  }

  /**
   * A query as a judge sees it.
   * @throws MillraceError unknown_round, invalid_body; what a ranking throws; a code of STORE_WRITE_FAILURES
   */
  async query(body: unknown, who: Asking): Promise<JudgedView> {
    const [round, { number, judge }] = await this.#read(body, 'query', who);
    const name = judgeOf(judge, who);
    this.#checkNumber(round, number);
    await this.#rounds.change(
      round,
      number,
      async (known) => known ?? { ids: await this.#pool(round, number), verdicts: [] },
    );
    return this.#view(round, number, name);
  }

  /** Stores grades of a judge; null takes one back. @throws as `query` */
  async grade(body: unknown, who: Asking): Promise<JudgedView> {
    const [round, { number, judge, grades = [], skipped }] = await this.#read(body, 'grade', who);
    const name = judgeOf(judge, who);
    this.#checkNumber(round, number);
    const said = readGrades(grades, round.grades);
    await this.#rounds.change(round, number, (known) => {
      const ids = known?.ids ?? [];
      const unknown = [...said.keys()].find((id) => !ids.includes(id));
      if (known === undefined || unknown !== undefined)
        throw invalid('/grades', 'grades: the query has no such candidate; read the query first');
      const before = known.verdicts.find((one) => one.judge === name);
      if (before === undefined && known.verdicts.length >= MOST_JUDGES)
        throw invalid('/judge', `a query has at most ${MOST_JUDGES} judges`);
      const verdict: Verdict = {
        judge: name,
        grades: ids.map((id, at) => (said.has(id) ? (said.get(id) ?? null) : (before?.grades[at] ?? null))),
        skipped: skipped ?? before?.skipped ?? false,
      };
      return { ids, verdicts: [...known.verdicts.filter((one) => one !== before), verdict] };
    });
    return this.#view(round, number, name);
  }

  /** Adds a candidate to the pool of a query of the round, as the screen Rank does. @throws as `query` */
  async add(body: unknown, who: Asking): Promise<{ readonly round: string; readonly number: number }> {
    const [round, { query, candidate_id: id }] = await this.#read(body, 'add', who);
    const number = round.queries.indexOf(query) + 1;
    if (number === 0) throw invalid('/query', 'query: the round has no such query');
    if (isFormula(id))
      throw invalid('/candidate_id', 'candidate_id: a spreadsheet would run the id as a formula');
    await this.#rounds.change(round, number, async (known) => {
      const { ids, verdicts } = known ?? { ids: await this.#pool(round, number), verdicts: [] };
      if (ids.includes(id)) return known ?? { ids, verdicts };
      if (ids.length >= MOST_POOLED + MOST_ADDED)
        throw invalid('/candidate_id', `a query has at most ${MOST_POOLED + MOST_ADDED} candidates`);
      return {
        ids: [...ids, id],
        verdicts: verdicts.map((one) => ({ ...one, grades: [...one.grades, null] })),
      };
    });
    return { round: round.round, number };
  }

  /** The grades as a file for `evaluate` and `tune`, and how far the judges agree. @throws MillraceError unknown_round */
  async export(body: unknown, who: Asking): Promise<JudgingExport> {
    const [round] = await this.#read(body, 'export', who);
    const known = await this.#rounds.queries(round);
    const rows: string[] = [];
    const units: number[][] = [];
    const judges = new Map<string, { grades: number; skipped: number }>();
    let queries = 0;
    for (const [at, query] of round.queries.entries()) {
      const { ids, verdicts } = known[at] ?? { ids: [], verdicts: [] };
      for (const { judge, grades, skipped } of verdicts) {
        const count = judges.get(judge) ?? { grades: 0, skipped: 0 };
        count.grades += grades.filter((grade) => grade !== null).length;
        count.skipped += Number(skipped);
        judges.set(judge, count);
      }
      const graded = ids.flatMap((id, i) => {
        const grades = verdicts.flatMap((one) => (one.skipped ? [] : (one.grades[i] ?? [])));
        units.push(grades);
        return grades.length === 0 ? [] : [[query, id, String(medianOf(grades))].map(csvCell).join(',')];
      });
      if (graded.length > 0) queries++;
      rows.push(...graded);
    }
    return {
      round: round.round,
      file: `${round.round}.csv`,
      csv: ['query,id,grade', ...rows, ''].join('\n'),
      ...{ queries, rows: rows.length },
      judges: Array.from(judges, ([judge, count]) => ({ judge, ...count })).sort((a, b) =>
        a.judge < b.judge ? -1 : 1,
      ),
      agreement: agreementOf(units),
    };
  }

  /** Removes a round with all grades. @throws MillraceError unknown_round, or a code of STORE_WRITE_FAILURES */
  async remove(body: unknown, who: Asking): Promise<{ readonly removed: string }> {
    const [round] = await this.#read(body, 'remove', who);
    await this.#rounds.remove(round.round);
    return { removed: round.round };
  }

  get #ranking(): readonly PipelineDefinition[] {
    return this.parts.config.pipelines.filter(({ task }) => task === 'rank');
  }

  async #read<Name extends Exclude<JudgingRoute, 'start'>>(
    body: unknown,
    name: Name,
    who: Asking,
  ): Promise<[Round, BodyOf<(typeof JUDGING_BODIES)[Name]>]> {
    const fields: (typeof JUDGING_BODIES)[Name] = JUDGING_BODIES[name];
    const read = readBody<(typeof JUDGING_BODIES)[Name]>(body, fields, 'the body');
    const round = await this.#rounds.get((read as unknown as { readonly round: string }).round);
    if (!mayUse(round.arms, who))
      throw new MillraceError('key_not_allowed', 'the key may not use a pipeline of the round');
    return [round, read];
  }

  #checkNumber({ queries }: Round, number: number): void {
    if (number > queries.length)
      throw invalid(
        '/number',
        `number: the round has ${Math.min(queries.length, MOST_QUERIES)} queries, found ${number}`,
      );
  }

  /** @throws MillraceError invalid_body if an arm cannot be asked the queries */
  #checkArms(arms: readonly Arm[], queryField: string | undefined): void {
    const types = new Set<string>();
    for (const [at, arm] of arms.entries()) {
      const definition = this.#definitionOf(arm);
      types.add(definition.candidateType.value);
      for (const [name, value] of Object.entries(arm.params ?? {})) {
        const problem = paramProblem(definition, name, value);
        if (problem === undefined) continue;
        const help = problem.help === undefined ? '' : `; ${problem.help}`;
        throw invalid(`/arms/${at}/params`, problem.message.replaceAll('`', '') + help.replaceAll('`', ''));
      }
      bodyOf(this.#pipelineOf(arm), queryField, '');
    }
    if (types.size > 1)
      throw invalid('/arms', `arms: they rank entities of different types: ${[...types].join(', ')}`);
  }

  #definitionOf({ pipeline }: Arm): PipelineDefinition {
    const found = this.#ranking.find(({ name }) => name === pipeline);
    if (found === undefined)
      throw new MillraceError(
        'unknown_pipeline',
        `the project has no pipeline ${pipeline} that ranks any more`,
      );
    return found;
  }

  #pipelineOf(arm: Arm): Pipeline {
    const found = this.parts.pipelines.find(({ name }) => name === arm.pipeline);
    if (found === undefined) throw new Error(`the pipeline ${arm.pipeline} is not mounted`);
    return found;
  }

  /** The first candidates of all arms, those of the first arm first. */
  async #pool(round: Round, number: number): Promise<readonly string[]> {
    const ids = new Set<string>();
    for (const arm of round.arms) {
      const definition = this.#definitionOf(arm);
      const pipeline = this.#pipelineOf(arm);
      const asked = bodyOf(pipeline, round.query_field, round.queries[number - 1] ?? '');
      // Without candidates, retrievers find them.
      const candidates = definition.retrieve === undefined ? { from: 'index', where: 'true' } : null;
      const { answer } = await pipeline.run(
        { ...asked, candidates, user_page_size: Math.min(round.depth, definition.page.maxSize) },
        {
          ...{ requestId: `judging-${round.id}-${number}`, leavesNothing: true },
          params: new Map(Object.entries(arm.params ?? {})),
        },
      );
      for (const { candidate_id: id } of (answer.ranked_candidates ?? []).slice(0, round.depth))
        if (!isFormula(id)) ids.add(id);
    }
    return [...ids];
  }

  async #view(round: Round, number: number, judge: string): Promise<JudgedView> {
    const known = await this.#rounds.queries(round);
    const { ids, verdicts } = known[number - 1] ?? { ids: [], verdicts: [] };
    const own = verdicts.find((one) => one.judge === judge);
    const type = this.#definitionOf(round.arms[0] ?? { pipeline: '' }).candidateType.value;
    const cards = await this.parts.cards.orNone(type, ids, this.parts.warn);
    const gradeOf = new Map(ids.map((id, at) => [id, own?.grades[at] ?? null]));
    return {
      ...{
        round: round.round,
        number,
        queries: round.queries.length,
        query: round.queries[number - 1] ?? '',
      },
      ...{ judge, grades: round.grades, skipped: own?.skipped ?? false },
      candidates: shuffled(ids, seedOf(round.id, number, judge)).map((id) => {
        const card = cards.get(id);
        return { candidate_id: id, ...(card === undefined ? {} : { card }), grade: gradeOf.get(id) ?? null };
      }),
      done: known.flatMap((one, at) => (isDone(one, judge) ? [at + 1] : [])),
    };
  }
}

/**
 * The body of a request for a query: in the named field, in the only one that is a query, or in the only one.
 * @throws MillraceError invalid_body if it is not known which field it is
 */
function bodyOf({ name: pipeline, fields }: Pipeline, wanted: string | undefined, query: string): JsonObject {
  const queries = fields.filter(({ name, parameter }) => name === 'query' || parameter === 'q');
  const required = fields.filter(({ optional }) => !optional);
  const [field, ...more] =
    wanted === undefined
      ? ([queries, required, fields].find((some) => some.length > 0) ?? [])
      : fields.filter(({ name }) => name === wanted);
  if (field === undefined || more.length > 0)
    throw invalid(
      '/query_field',
      `query_field: name the field of a request to ${pipeline} that gets the query; it has ${fields.map(({ name }) => name).join(', ') || 'none'}`,
    );
  return { [field.name]: field.key === undefined ? query : { [field.key]: query } };
}

function stateOf({ round, arms, queries, depth, grades, author, at }: Round): RoundState {
  return { round, arms, queries: queries.length, depth, grades, author, at };
}

function mayUse(arms: readonly Arm[], { pipelines }: Asking): boolean {
  return pipelines === undefined || arms.every(({ pipeline }) => pipelines.includes(pipeline));
}

/** A service with keys knows the judge. @throws MillraceError invalid_body if the request claims to be somebody else */
function judgeOf(claimed: string | undefined, { name }: Asking): string {
  if (name === undefined) return claimed?.trim() ?? SOMEBODY;
  if (claimed !== undefined && claimed !== name)
    throw invalid('/judge', 'judge: the key says who judges; leave the field out');
  return name;
}

function isDone(known: Judged | undefined, judge: string): boolean {
  const own = known?.verdicts.find((one) => one.judge === judge);
  return own !== undefined && (own.skipped || own.grades.every((grade) => grade !== null));
}

/** The order of a judge does not tell the order of the arms, nor that of another judge. */
function seedOf(id: string, number: number, judge: string): number {
  return createHash('sha256')
    .update(JSON.stringify([id, number, judge]))
    .digest()
    .readUInt32LE(0);
}

/** The grade in the middle; of two, the lower one, so that it is a grade of the scale. */
function medianOf(grades: readonly number[]): number {
  return [...grades].sort((a, b) => a - b)[Math.floor((grades.length - 1) / 2)] ?? 0;
}

function csvCell(text: string): string {
  return /[",\n\r]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

function invalid(pointer: string, detail: string): MillraceError {
  return new MillraceError('invalid_body', `the body at ${pointer}: ${detail}`, {
    violations: [{ pointer, code: 'wrong_value', detail }],
    extensions: { violation_count: 1 },
  });
}
