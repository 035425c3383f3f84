import type { JsonObject } from '../../../ground/api/types.js';
import type { Failure } from '../check/failure.js';
import type { TestCase } from '../files/test-case.js';
import type { CompiledCase } from '../run/compile-cases.js';
import { isFailed, type OpenCase } from '../run/run-case.js';
import type { Outcome } from '../run/outcome.js';
import { PROPERTIES, RequestFailed } from './properties.js';
import { requestsFor } from './requests.js';

export interface PropertyOptions {
  /** Number of generated requests for each property. */
  readonly runs: number;
  readonly seed: number;
}

/** The longest counterexample that is printed, in characters. */
const LONGEST = 2000;

/**
 * Checks the properties under `always:` with generated requests.
 * @param cases the case, and the other cases with the same data, whose requests are used too
 */
export async function checkProperties(
  test: TestCase,
  cases: readonly TestCase[],
  { plan }: CompiledCase,
  open: OpenCase,
  { runs, seed }: PropertyOptions,
): Promise<Failure[]> {
  const fc = await import('fast-check');
  const bodies = requestsFor(fc, plan, cases);
  const run = async (body: JsonObject): Promise<Outcome> => {
    const result = await open.run(body);
    if (isFailed(result))
      throw new RequestFailed(`the request failed: ${result.error.code}: ${result.error.message}`);
    return result;
  };
  const failures: Failure[] = [];
  for (const { value: name, at } of test.always) {
    const property = PROPERTIES.get(name);
    if (property === undefined) continue; // reported as a mistake of the file
    let problem = '';
    const holds = fc.asyncProperty(bodies, async (body) => {
      try {
        const outcome = await run(body);
        const found = await property.check({ body, outcome, run, maxPage: plan.definition.page.maxSize });
        if (found === undefined) return true;
        problem = found;
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error;
        problem = error.message;
      }
      return false;
    });
    const { failed, counterexample, errorInstance } = await fc.check(holds, {
      numRuns: runs,
      seed,
      endOnFailure: false,
    });
    if (errorInstance instanceof Error && problem === '') throw errorInstance;
    if (!failed) continue;
    const request = JSON.stringify(counterexample?.[0] ?? null);
    // The last problem that was found is that of the shrunk request.
    failures.push({
      at,
      what: name,
      message: `${name} does not hold: ${problem}`,
      details: [
        `request: ${request.length > LONGEST ? `${request.slice(0, LONGEST)}…` : request}`,
        `seed: ${seed}`,
      ],
    });
  }
  return failures;
}
