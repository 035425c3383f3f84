import type { Component } from '../../ground/api/component.js';
import type { WarmNotices } from '../../ground/api/component-life.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { Plan, PlannedStep } from './plan.js';

/** Longest time that a component may take to warm up, in milliseconds. */
const WARM_MS = 60_000;
/** Longest time to wait until a component is closed, in milliseconds. */
const CLOSE_MS = 10_000;

/**
 * Warms up the components of a plan, one after the other. A failure is an error at the step. A notice of a component is
 * a warning at the step.
 */
export async function warmComponents(
  { steps, definition, retrieval }: Plan,
  diagnostics: Diagnostics,
  limitMs = WARM_MS,
): Promise<void> {
  if (retrieval !== undefined) await warmComponents(retrieval.plan, diagnostics, limitMs);
  for (const { number, use, component } of steps) {
    if (component.warm === undefined) continue;
    const at = definition.components[number - 1]?.use.at ?? definition.at;
    const notices: WarmNotices = {
      warn: (message, help) => diagnostics.warning('component_warning', at, `\`${use}\`: ${message}`, help),
    };
    try {
      await within(limitMs, async () => component.warm?.(notices));
    } catch (error) {
      diagnostics.error('component_failed', at, `\`${use}\` did not warm up: ${reasonOf(error)}`);
    }
  }
}

/** The steps of a plan, after its retrievers. */
export function everyStep({ steps, retrieval }: Plan): readonly PlannedStep[] {
  return retrieval === undefined ? steps : [...retrieval.plan.steps, ...steps];
}

/** Closes all components, also if some of them fail. @returns the errors */
export async function closeComponents(
  components: Iterable<Component>,
  limitMs = CLOSE_MS,
): Promise<unknown[]> {
  const closed = await Promise.allSettled(
    Array.from(components, (component) => within(limitMs, async () => component.close?.())),
  );
  return closed.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
}

async function within(ms: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${ms / 1000} s`)), ms);
  });
  await Promise.race([work(), late]).finally(() => clearTimeout(timer));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
