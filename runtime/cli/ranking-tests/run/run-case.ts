import { MillraceError } from '../../../ground/api/errors.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { answer } from '../../../request/pipeline/run-pipeline.js';
import { EVENT_TIME } from '../../../state/index/row-keys.js';
import { entriesIn, itemsIn, member, plain, type Placed } from '../files/placed.js';
import { stubbedEntries, stubbedOutput } from '../files/stubbed.js';
import type { TestCase } from '../files/test-case.js';
import type { CaseServices, CaseStores } from './case-services.js';
import type { CompiledCase } from './compile-cases.js';
import { outcomeOf, type FailedRequest, type Outcome } from './outcome.js';
import type { StubbedOutput } from './stub.js';

/** The most that one upload or push takes. */
const PORTION = 1000;

/** A part of `given:` that the store does not take. */
export class GivenError extends Error {
  constructor(
    readonly part: 'entities' | 'features',
    /** The entity type or the view. */
    readonly of: string,
    /** Number of the first item of the portion. */
    readonly first: number,
    readonly reason: MillraceError,
  ) {
    super(reason.message, { cause: reason });
    this.name = 'GivenError';
  }
}

/**
 * A case whose data is stored. It can run any number of requests, one after the other, until the next case is opened.
 */
export class OpenCase {
  readonly #compiled: CompiledCase;
  readonly #services: CaseServices;
  readonly #outputs: ReadonlyMap<string, ReadonlyMap<string, StubbedOutput>>;

  private constructor(compiled: CompiledCase, services: CaseServices, test: TestCase) {
    this.#compiled = compiled;
    this.#services = services;
    const outputs = new Map<string, Map<string, StubbedOutput>>();
    for (const { step, output = '', written } of stubbedEntries(test)) {
      const own = outputs.get(step) ?? new Map<string, StubbedOutput>();
      outputs.set(step, own.set(output, stubbedOutput(written)));
    }
    this.#outputs = outputs;
  }

  /** Stores what the case gives. @throws GivenError */
  static async open(compiled: CompiledCase, test: TestCase, stores: CaseStores): Promise<OpenCase> {
    const services = stores.open(test.time);
    const store = async (part: 'entities' | 'features'): Promise<void> => {
      for (const [name, { value }] of entriesIn(member(test.given, part))) {
        const items = itemsIn(value).map((item) =>
          part === 'entities' ? plain(item) : rowOf(item, test.rowTime),
        );
        for (let first = 0; first < items.length; first += PORTION) {
          const portion = items.slice(first, first + PORTION);
          try {
            if (part === 'entities') await services.entities.upload({ entity_type: name, entities: portion });
            else await services.features.push({ view: name, rows: portion });
          } catch (error) {
            throw error instanceof MillraceError ? new GivenError(part, name, first, error) : error;
          }
        }
      }
    };
    await store('entities');
    await store('features');
    return new OpenCase(compiled, services, test);
  }

  /** Runs a request through the pipeline, as the service does, without effects. */
  async run(body: JsonValue, wanted: ReadonlySet<string> = new Set()): Promise<Outcome | FailedRequest> {
    const { plan, stubs } = this.#compiled;
    for (const [step, stub] of stubs) stub.use(this.#outputs.get(step) ?? new Map());
    const { store, layouts, now, isLax } = this.#services;
    let outcome: Outcome | undefined;
    try {
      await answer(
        plan,
        { store, layouts, now, isLax, observe: (run) => void (outcome = outcomeOf(run, wanted)) },
        body,
        { requestId: 'test', runId: 'test' },
        true,
      );
    } catch (error) {
      if (error instanceof MillraceError) return { error };
      throw error;
    }
    if (outcome === undefined) throw new Error('the run was not observed');
    return outcome;
  }
}

/** A row without an event time has the time of the file. */
function rowOf(row: Placed, time: number): JsonValue {
  const value = plain(row);
  return row.kind !== 'map' || row.entries.has(EVENT_TIME)
    ? value
    : { ...(value as JsonObject), [EVENT_TIME]: time };
}

export function isFailed(result: Outcome | FailedRequest): result is FailedRequest {
  return 'error' in result;
}
