import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { didYouMean } from '../../ground/core/nearest.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { JudgedQuery } from '../../learn/evaluation/judgments.js';
import type { ExplainedCandidate } from '../../request/pipeline/explain/explanation.js';
import { settingsOf, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { readJudgedQueries } from '../../learn/judge/judged-queries.js';
import type { RequestShape } from '../../learn/judge/request-shape.js';
import { pagesOf } from '../../learn/judge/run-whole.js';
import type { TargetFlags } from '../load/open-target.js';
import type { DataTarget } from '../load/target.js';
import type { Card } from '../../state/index/cards.js';

/** The folder of judgments in a project. */
const FOLDER = 'judgments';

/** A query of the judgments, and how its request is made. */
export interface FoundQuery {
  readonly query: JudgedQuery;
  readonly shape: RequestShape;
}

/** How a judged candidate is ranked. */
export interface JudgedPlace {
  readonly place: number;
  readonly id: string;
  readonly card?: Card;
  readonly grade: number | null;
  readonly score: number | null;
  /** What each step added to the score, or what it did to the place. */
  readonly steps: ReadonlyMap<string, number | string>;
}

/**
 * Finds a judged query, in a file or in the files of the folder `judgments/` of the project.
 * @throws CommandFailure if no file has it
 */
export async function findJudgedQuery(
  context: CliContext,
  wanted: string,
  flags: TargetFlags & { readonly judgments?: string; readonly queryField?: string },
  definition: PipelineDefinition,
  config: ProjectConfig,
): Promise<FoundQuery> {
  const { project } = await settingsOf(context, flags);
  const files = flags.judgments === undefined ? await filesOf(join(project, FOLDER)) : [flags.judgments];
  if (files.length === 0)
    throw new CommandFailure(
      `the project has no judgments in ${join(relative('.', project), FOLDER)}/`,
      'name a file: --judgments FILE',
    );
  const all: string[] = [];
  for (const file of files) {
    const { queries, shape } = await readJudgedQueries(context, file, {}, flags.queryField, {
      definition,
      config,
    });
    const query = queries.find((one) => one.query === wanted);
    if (query !== undefined) return { query, shape };
    all.push(...queries.map((one) => one.query));
  }
  throw new CommandFailure(
    `no judgments of ${JSON.stringify(wanted)} in ${files.map((file) => relative('.', file)).join(', ')}`,
    didYouMean(wanted, all, (guess) => JSON.stringify(guess)) ??
      `there are ${all.length} queries, for example ${JSON.stringify(all[0] ?? '')}`,
  );
}

async function filesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => !name.startsWith('.'))
    .sort()
    .map((name) => join(folder, name));
}

/** Ranks the judged candidates of a query, and explains each. @throws as `DataTarget.explain` */
export async function rankJudgedQuery(
  target: DataTarget,
  definition: PipelineDefinition,
  { query, shape }: FoundQuery,
): Promise<readonly JudgedPlace[]> {
  const body = shape.bodyOf(query, query.candidates);
  const grades = new Map(query.candidates.map(({ id, grade }) => [id, grade]));
  const places: JudgedPlace[] = [];
  for (const page of pagesOf(body, definition)) {
    const explanation = await target.explain(definition.name, { ...body, ...page });
    for (const one of explanation.page) {
      const grade = grades.get(one.candidate_id) ?? NaN;
      places.push({
        place: one.place,
        id: one.candidate_id,
        ...(one.card === undefined ? {} : { card: one.card }),
        grade: Number.isNaN(grade) ? null : grade,
        score: one.score,
        steps: stepsOf(one),
      });
    }
    if (explanation.page.length < page.user_page_size) break;
  }
  return places;
}

/** What each step did to a candidate. Steps of one name count together. */
function stepsOf({ changes }: ExplainedCandidate): ReadonlyMap<string, number | string> {
  const steps = new Map<string, number | string>();
  for (const change of changes) {
    if ('pinned_to' in change) steps.set(change.as, `pinned ${change.pinned_to}`);
    else if ('put_below' in change) steps.set(change.as, 'last');
    else if ('pin_lost' in change) steps.set(change.as, 'lost');
    else if ('moved_to' in change)
      steps.set(change.as, `${change.moved_from ?? ''} → ${change.moved_to}`.trim());
    else {
      const before = steps.get(change.as);
      const added = (change.after ?? 0) - (change.before ?? 0);
      steps.set(change.as, typeof before === 'number' ? before + added : added);
    }
  }
  return steps;
}
