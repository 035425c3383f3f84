import type { Column } from '../../../ground/api/columns.js';
import type { BringInput, RuleComponent } from '../../../ground/api/component.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { idProblem } from '../../../ground/core/ids.js';
import { IdList } from '../../../ground/core/parse-ids.js';
import { runKernels } from '../../../language/expression/run-kernels.js';
import { copyColumn } from '../../../language/frame/copy-column.js';
import type { Frame } from '../../../language/frame/frame.js';
import { CurationBinding } from '../../../state/curation/curation-binding.js';
import type { PlannedStep } from '../../compile/plan.js';
import type { OpenedRequest, PlanRun } from '../plan-run.js';
import type { BroughtCandidates } from './retrieval-report.js';
import { readValues } from './retrieve.js';

/** The most candidates that the pins of a request can bring. */
const MOST_BROUGHT = 50;

/**
 * The candidates that pins of the plan name and a request lacks, in the order of the steps. What the pins read of the
 * request is read before the candidates are.
 * @param bare the request without candidates, whose frame is released
 */
export async function bring(
  run: PlanRun,
  bare: OpenedRequest,
  { ids, duplicates }: OpenedRequest['request'],
): Promise<BroughtCandidates | undefined> {
  const { plan, stages } = run;
  const { frame } = bare;
  await readValues(run, bare);
  const wanted = new Set<string>();
  const compute = async (kernels: PlannedStep['inputs']): Promise<void> => {
    const computing = runKernels(kernels, frame, () => stages.deadline.check());
    if (computing !== undefined) await computing;
  };
  for (const step of plan.steps) {
    // Definitions are computed by the first step that uses them.
    await compute(step.prepare);
    const brings = bringsOf(step);
    if (brings === undefined || (step.when !== undefined && frame.number(step.when.slot).values[0] !== 1))
      continue;
    await compute(step.inputs);
    for (const id of brings(inputOf(step, frame))) if (idProblem(id) === undefined) wanted.add(id);
  }
  plan.frames.release(frame);
  for (const id of ids) wanted.delete(id);
  if (wanted.size === 0) return undefined;
  const room = Math.min(MOST_BROUGHT, plan.definition.limits.candidates - ids.length - duplicates.length);
  const brought = [...wanted].slice(0, Math.max(0, room));
  return { ids: brought, left_out: wanted.size - brought.length };
}

/** A body with more candidates. */
export function withCandidates(body: JsonObject, key: string, more: readonly string[]): JsonObject {
  const sent: unknown = body['candidates'];
  const list =
    sent instanceof IdList
      ? new IdList(sent.key, [...sent.ids, ...more], sent.isDistinct)
      : [...(sent as readonly JsonValue[]), ...more.map((id) => ({ [key]: id }))];
  return { ...body, candidates: list as unknown as JsonValue };
}

function bringsOf({ component }: PlannedStep): RuleComponent['brings'] {
  return (component as Partial<RuleComponent>).brings;
}

function inputOf({ isShipped }: PlannedStep, frame: Frame): BringInput {
  return {
    now: frame.now,
    column: ({ slot }) => {
      const column = frame.columns[slot] as Column;
      return (isShipped ? column : copyColumn(column, 1, (like) => like.slice())) as never;
    },
    curated: (input) => {
      if (!(input instanceof CurationBinding)) throw new Error('call build.needCuration in create');
      return input.match(frame);
    },
  };
}
