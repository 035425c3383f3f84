import type { PlannedStep } from '../../compile/plan.js';
import type { TraceSpan } from '../../../project/tracing/trace-span.js';

/** The parts of a step's report that its span shows. */
interface Traced {
  readonly outcome: string;
  readonly pending?: Promise<void>;
}

/**
 * Runs a step in a span of its own. The span of an effect ends when the effect ends, which may be after the request.
 * @param parent the span of the stage, which is recorded
 * @param arm of a step that runs for the second arm of an interleaving: the experiment and the arm, as in `prices=cheap`
 */
export async function traceStep<R extends Traced>(
  parent: TraceSpan,
  { as, use, kind, number, version }: PlannedStep,
  run: (span: TraceSpan) => Promise<R>,
  arm?: string,
): Promise<R> {
  const span = parent.start('step', `step ${as}`, {
    'millrace.step.use': use,
    'millrace.step.kind': kind,
    'millrace.step.number': number,
    ...(version === undefined ? {} : { 'millrace.model.version': version }),
    ...(arm === undefined ? {} : { 'millrace.arm': arm }),
  });
  let pending: Promise<void> | undefined;
  try {
    const done = await run(span);
    ({ pending } = done);
    span.set({ 'millrace.step.outcome': done.outcome });
    return done;
  } catch (error) {
    span.set({ 'millrace.step.outcome': 'failed' });
    throw error;
  } finally {
    if (pending === undefined) span.end();
    else void pending.then(() => span.end());
  }
}
