import type { Component } from '../../ground/api/component.js';
import type { WarmNotices } from '../../ground/api/component-life.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { Located } from '../../project/config/yaml/source.js';
import type { OpenReader } from '../../state/readers/view-rows.js';
import type { Plan, PlannedStep } from './plan.js';

/** Longest time that a component may take to warm up, in milliseconds. */
export const WARM_MS = 60_000;
/** Longest time to wait until a component is closed, in milliseconds. */
export const CLOSE_MS = 10_000;

/** Warms up the readers of views, as `warmComponents` does for components. */
export async function warmReaders(
  readers: readonly OpenReader[],
  diagnostics: Diagnostics,
  limitMs = WARM_MS,
): Promise<void> {
  for (const { view, reader } of readers)
    await warm(reader, view.reader?.use ?? { value: view.name, at: view.at }, diagnostics, limitMs);
}

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
    const at = definition.components[number - 1]?.use.at ?? definition.at;
    await warm(component, { value: use, at }, diagnostics, limitMs);
  }
}

async function warm(
  component: Pick<Component, 'warm'>,
  { value: use, at }: Located<string>,
  diagnostics: Diagnostics,
  limitMs: number,
): Promise<void> {
  if (component.warm === undefined) return;
  const notices: WarmNotices = {
    warn: (message, help) => diagnostics.warning('component_warning', at, `\`${use}\`: ${message}`, help),
  };
  try {
    await within(limitMs, async () => component.warm?.(notices));
  } catch (error) {
    diagnostics.error('component_failed', at, `\`${use}\` did not warm up: ${reasonOf(error)}`);
  }
}

/** The steps of a plan, after its retrievers. */
export function everyStep({ steps, retrieval }: Plan): readonly PlannedStep[] {
  return retrieval === undefined ? steps : [...retrieval.plan.steps, ...steps];
}

/** Closes all components, also if some of them fail. @returns the errors */
export async function closeComponents(
  components: Iterable<Pick<Component, 'close'>>,
  limitMs = CLOSE_MS,
): Promise<unknown[]> {
  const closed = await Promise.allSettled(
    Array.from(components, (component) => within(limitMs, async () => component.close?.())),
  );
  return closed.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
}

/** Waits for work. @throws Error if it takes longer */
export async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${ms / 1000} s`)), ms);
  });
  return Promise.race([work(), late]).finally(() => clearTimeout(timer));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
