import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import { timestampOf } from '../../ground/core/timestamp.js';
import { scratchFolder } from '../../ground/core/scratch-folder.js';
import { Violations } from '../../ground/core/violations.js';
import { DataSetProblem } from '../../learn/dataset/problem.js';
import type { Gate } from '../../learn/evaluation/gate.js';
import { parseMetric, type Metric } from '../../learn/evaluation/metric-names.js';
import type { Contestant } from '../../learn/judge/contestant.js';
import { diffJson, listedCandidates } from '../../learn/judge/diff-report.js';
import { draftEffect, MOST_PLACES, type DraftedPlace } from '../../learn/judge/draft-effect.js';
import { evaluationJson } from '../../learn/judge/evaluation.js';
import { parseGates } from '../../learn/judge/gates.js';
import { requestShape } from '../../learn/judge/request-shape.js';
import { diffRequests } from '../../learn/judge/run-diff.js';
import { runEvaluation } from '../../learn/judge/run-evaluation.js';
import { experimentReport } from '../../learn/outcomes/experiment-report.js';
import { planOf } from '../../learn/outcomes/plan-of.js';
import { diffTree } from '../../learn/report/diff-tree.js';
import { draftTree } from '../../learn/report/draft-tree.js';
import { evaluationTree } from '../../learn/report/evaluation-tree.js';
import { reportJson } from '../../learn/report/experiment-json.js';
import { reportTree } from '../../learn/report/experiment-tree.js';
import { CommandFailure, DiagnosedUsageError, UsageError } from '../../project/config/diagnostics/failure.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { keepTest } from '../ranking-tests/made/keep-test.js';
import { consoleOf } from './job-console.js';
import { loggedRanking } from './logged-ranking.js';
import type { ComparisonRequest } from '../../serve/compare/comparison.js';
import {
  judgmentsPath,
  type Compared,
  type Comparer,
  type ComparisonRun,
} from '../../serve/compare/comparisons.js';

const DEFAULT_METRICS = ['ndcg@10', 'map', 'mrr', 'precision@10', 'recall@10'];
/** The worst and best queries that are shown. */
const SHOWN = 10;
const WANTED_EFFECT = 0.05;

export const comparer: Comparer = {
  check: (request) => void gatesOf(request),
  run: runComparison,
  logged: loggedRanking,
  keep: keepTest,
};

async function runComparison(run: ComparisonRun): Promise<Compared> {
  const { experiment, queries, draft } = run.request;
  if (draft !== undefined) return await drafted(run, draft);
  if (experiment !== undefined) return await reported(run, experiment);
  return queries === undefined ? await evaluated(run) : await diffed(run, queries);
}

/** The conditions of a comparison. @throws MillraceError invalid_body with the place of a mistake */
function gatesOf({ metrics = DEFAULT_METRICS, require = [], against }: ComparisonRequest): {
  readonly metrics: readonly Metric[];
  readonly gates: readonly Gate[];
} {
  const violations = new Violations();
  const read = metrics.flatMap((name, at) => {
    const metric = parseMetric(name);
    if (!('problem' in metric)) return [metric];
    violations.add(`/metrics/${at}`, 'unknown_name', `${metric.problem}; ${metric.help}`);
    return [];
  });
  const gates = require.flatMap((text, at) => {
    try {
      return parseGates([text], against !== undefined);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const [first] = error instanceof DiagnosedUsageError ? error.diagnostics : [];
      const help = first?.help === undefined ? '' : `; ${first.help}`;
      violations.add(`/require/${at}`, 'wrong_value', `${first?.message ?? error.message}${help}`);
      return [];
    }
  });
  violations.throwIfAny('the comparison');
  return { metrics: read, gates };
}

async function evaluated(run: ComparisonRun): Promise<Compared> {
  const { project, request } = run;
  const { pipeline, against, judgments, logged = 0, slice, query_field: queryField } = request;
  const { metrics, gates } = gatesOf(request);
  const names = [pipeline, against].filter((name) => name !== undefined);
  const source =
    judgments === undefined
      ? { ledger: project.settings.ledgerDir }
      : { judgments: await judgmentsPath(project, judgments) };
  const evaluation = await runEvaluation(
    consoleOf(run),
    {
      ...source,
      ...(slice === undefined || slice === '' ? {} : { slice }),
      ...(against === undefined ? {} : { against }),
      ...(queryField === undefined ? {} : { queryField }),
      ...{ metrics, last: logged, label: new Map([['click', 1]]), worst: SHOWN, pages: true },
      ...{ gain: 'exp2', empty: 'skip', ties: 'input', relevant: 1, shuffles: 1, seed: 0 },
    },
    gates,
    names.map((name) => contestantOf(run, name)),
  );
  // Users of the workbench need not know paths of the machine.
  const named = judgments === undefined ? { ledger: 'ledger' } : { judgments };
  const shown = { ...evaluation, source: named };
  return { report: evaluationTree(shown), result: evaluationJson(shown) };
}

async function diffed(run: ComparisonRun, queries: readonly string[]): Promise<Compared> {
  const [a, b] = [run.request.against ?? '', run.request.pipeline ?? ''].map((name) =>
    contestantOf(run, name),
  );
  if (a === undefined || b === undefined) throw new Error('two pipelines are compared');
  const shape = requestShape(a, run.request.query_field);
  // Without candidates, retrievers find them.
  const found = a.definition.retrieve === undefined ? { from: 'index', where: 'true' } : undefined;
  const bodies = queries.map((query) =>
    withCandidates(shape.bodyOf({ query, candidates: [], context: {} }, []), found),
  );
  const { report } = await diffRequests(
    consoleOf(run),
    { bodies, last: 0, depth: 10, persistence: 0.9, top: SHOWN },
    a,
    b,
  );
  const cards = await a.project.cards.orNone(
    a.definition.candidateType.value,
    listedCandidates(report),
    run.note,
  );
  return { report: diffTree(report, cards), result: diffJson(report, cards) };
}

function withCandidates(body: JsonObject, candidates: JsonObject | undefined): JsonObject {
  const others = Object.entries(body).filter(([name]) => name !== 'candidates');
  return { ...Object.fromEntries(others), ...(candidates === undefined ? {} : { candidates }) };
}

/** What a draft changes of logged requests. */
async function drafted(run: ComparisonRun, draft: string): Promise<Compared> {
  const { project, request } = run;
  const changes = await project.drafts.changes(draft);
  const places = [...changes].flatMap(([list, campaigns]) =>
    Object.entries(campaigns).flatMap(([campaign, { after }]) => placesOf(list, campaign, after)),
  );
  if (places.length > MOST_PLACES) run.note(`the first ${MOST_PLACES} places are followed`);
  const effect = await draftEffect(consoleOf(run), contestantOf(run, request.pipeline ?? ''), {
    ...{ draft, ledger: project.settings.ledgerDir, last: request.logged ?? 0 },
    rules: await project.drafts.preview(draft),
    rulesAt: request.at === undefined ? undefined : timestampOf(request.at),
    places: places.slice(0, MOST_PLACES),
  });
  return { report: draftTree(effect), result: effect };
}

/** The places that a campaign gives to products. */
function placesOf(list: string, campaign: string, of: JsonObject | null): readonly DraftedPlace[] {
  const { pin = {}, sponsor } = (of ?? {}) as {
    readonly pin?: Readonly<Record<string, string>>;
    readonly sponsor?: { readonly places: readonly number[]; readonly product: string };
  };
  return [
    ...Object.entries(pin).map(([place, product]) => ({ list, campaign, product, place: Number(place) })),
    ...(sponsor ? [{ list, campaign, product: sponsor.product, place: sponsor.places[0] ?? 1 }] : []),
  ];
}

async function reported(run: ComparisonRun, name: string): Promise<Compared> {
  const { settings, config } = run.project;
  const definition = config.experiments.find((one) => one.name === name);
  if (definition === undefined) throw new CommandFailure(`the project has no experiment ${name} any more`);
  const { plan, shown } = planOf(settings, config, definition);
  const context = consoleOf(run);
  await checkLedger(context, settings.ledgerDir);
  const work = scratchFolder(context, join(tmpdir(), 'millrace-experiment-'));
  try {
    const sources = {
      ledger: settings.ledgerDir,
      work: work.path,
      at: Date.now(),
      files: { shown, stdin: context.stdin },
      progress: (share: number) => {
        run.signal.throwIfAborted();
        run.progress(share);
      },
      ...(context.checkStopped && { checkStopped: context.checkStopped }),
    };
    const report = await experimentReport(plan, sources, WANTED_EFFECT);
    for (const warning of report.warnings) run.note(warning);
    return { report: reportTree(report), result: reportJson(report) };
  } catch (error) {
    throw error instanceof DataSetProblem ? new CommandFailure(error.message, error.help) : error;
  } finally {
    await work.remove();
  }
}

/** A pipeline that runs without effects, and lets other work of the process run before each request. */
function contestantOf({ project, signal }: ComparisonRun, name: string): Contestant {
  const pipeline = project.pipelines.find((one) => one.name === name);
  const definition = project.config.pipelines.find((one) => one.name === name);
  if (pipeline === undefined || definition === undefined)
    throw new MillraceError('unknown_pipeline', `the project has no pipeline ${name} any more`);
  const turn = async (): Promise<void> => {
    await setImmediate();
    signal.throwIfAborted();
  };
  return {
    label: name,
    definition,
    project,
    pipeline: {
      ...pipeline,
      run: async (body, context) => {
        await turn();
        return await pipeline.run(body, { ...context, leavesNothing: true });
      },
      explain: async (body, context) => {
        await turn();
        return await pipeline.explain(body, context);
      },
    },
  };
}
