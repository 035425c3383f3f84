import type { Column } from '../../../ground/api/columns.js';
import type { LaterValues as Later, PhasedStep, Phases, Plan, PlannedStep } from '../../compile/plan.js';
import { putRows, takeRows } from '../../../language/frame/copy-rows.js';
import type { Frame } from '../../../language/frame/frame.js';
import { runKernels } from '../../../language/expression/run-kernels.js';
import { fetchFeatures, type ReadStatuses } from '../features/fetch-features.js';
import { hydrate } from '../hydrate/hydrate.js';
import type { ReadServices } from '../hydrate/read-services.js';
import type { OpenedRequest } from '../plan-run.js';
import type { LaterInputs } from './run-components.js';

/** Reads and computes in one request what only steps with `top:` read, each value once. */
export class LaterValues implements LaterInputs {
  /** By row: 1 if it has the values. */
  readonly #done = new Map<Later, Uint8Array>();

  /** @param statuses where the values that are read are counted */
  constructor(
    private readonly phases: Phases,
    private readonly plan: Plan,
    private readonly opened: Pick<OpenedRequest, 'frame' | 'request'>,
    private readonly reads: ReadServices,
    private readonly statuses: ReadStatuses,
  ) {}

  prepare(step: PlannedStep, check: () => void): Promise<void> | undefined {
    return runKernels(this.#of(step).prepare, this.opened.frame, check);
  }

  inputs(step: PlannedStep, rows: Int32Array, check: () => void): Promise<void> | undefined {
    const { inputs, later } = this.#of(step);
    const early = runKernels(inputs, this.opened.frame, check);
    return later.length === 0 ? early : this.#after(early, later, rows, check);
  }

  #of({ number }: PlannedStep): PhasedStep {
    return this.phases.steps.get(number) as PhasedStep;
  }

  async #after(
    early: Promise<void> | undefined,
    later: readonly Later[],
    rows: Int32Array,
    check: () => void,
  ): Promise<void> {
    if (early !== undefined) await early;
    for (const values of later) {
      const done = this.#done.get(values) ?? new Uint8Array(this.opened.frame.count);
      this.#done.set(values, done);
      const missing = rows.filter((row) => done[row] === 0);
      if (missing.length === 0) continue;
      for (const row of missing) done[row] = 1;
      await this.#compute(values, missing, check);
    }
  }

  /** Works on a frame of these rows alone. It is dropped if the work fails, which may still write to it. */
  async #compute(later: Later, rows: Int32Array, check: () => void): Promise<void> {
    const { frames } = this.phases;
    const frame = this.opened.frame;
    const part = frames.acquire(rows.length, frame.now, later.kept);
    part.preview = frame.preview;
    part.rules = frame.rules;
    for (const slot of this.phases.shared) part.columns[slot] = frame.columns[slot] as Column;
    const pairs = (slots: readonly number[]) =>
      slots.map((slot) => [frame.columns[slot] as Column, part.columns[slot] as Column] as const);
    for (const [whole, own] of pairs(later.from)) takeRows(whole, rows, own);
    if (later.levels.length > 0) await this.#read(later, rows, part);
    const computing = runKernels(later.kernels, part, check);
    if (computing !== undefined) await computing;
    for (const [whole, own] of pairs(later.to)) putRows(own, whole, rows, frame.count);
    frames.release(part);
  }

  async #read({ levels }: Later, rows: Int32Array, part: Frame): Promise<void> {
    const { nodes, entities, prefix, candidateType } = this.plan;
    const plan = { nodes, levels, entities, prefix };
    const all = this.opened.request.carried.get(candidateType.name);
    const carried = new Map(all && [[candidateType.name, Array.from(rows, (row) => all[row])]]);
    const pending = await hydrate(plan, part, { carried }, this.reads);
    const { features, attributes } = await fetchFeatures(plan, part, pending, this.reads);
    this.statuses.features.addAll(features);
    this.statuses.attributes.addAll(attributes);
  }
}
