import { movesOf } from '../ranking-tests/check/check-outcome.js';
import type { CoveredPart } from '../ranking-tests/coverage.js';
import { rankedOf } from '../ranking-tests/properties/properties.js';
import type { Failure } from '../ranking-tests/check/failure.js';
import type { CaseResult, TestRun } from '../ranking-tests/run-tests.js';

/** The results for `--json`. Lines and columns are 1-based. */
export function resultsJson(run: TestRun, withCoverage: boolean): object {
  const failed = run.results.filter(({ failures }) => failures.length > 0).length;
  return {
    ok: failed === 0,
    passed: run.results.length - failed,
    failed,
    skipped: run.skipped,
    snapshots: run.snapshots,
    cases: run.results.map(caseJson),
    ...(withCoverage ? { coverage: run.coverage.parts.map(partJson) } : {}),
  };
}

function caseJson({ test, failures, outcome, ms }: CaseResult): object {
  return {
    name: test.name,
    pipeline: test.pipeline.value,
    ...placeOf(test),
    passed: failures.length === 0,
    ms: Math.round(ms * 1000) / 1000,
    ...(failures.length === 0 ? {} : { failures: failures.map(failureJson) }),
    ...(outcome === undefined
      ? {}
      : {
          ranked: rankedOf(outcome).map((one) => ({
            candidate_id: one.id,
            place: one.place,
            score: Number.isNaN(one.score) ? null : one.score,
            moved_by: movesOf(one).map(({ as, number }) => ({ step: number, as })),
          })),
          removed: outcome.steps.flatMap(({ step, removed }) =>
            removed.map((id) => ({ candidate_id: id, step: step.number, as: step.as })),
          ),
          degraded: outcome.degraded,
        }),
  };
}

function failureJson(failure: Failure): object {
  const { what, message, details } = failure;
  return { what, message, ...(details === undefined ? {} : { details }), ...placeOf(failure) };
}

function partJson(part: CoveredPart): object {
  const { pipeline, step, as, use, what, fired } = part;
  return { pipeline, step, as, use, what, fired, ...placeOf(part) };
}

function placeOf({ at }: Pick<Failure, 'at'>): object {
  return { file: at.file.path, ...at.file.position(at.start) };
}
