import type { JsonValue } from '../../ground/api/types.js';
import { Status } from '../../ground/api/status.js';
import type { NamedColumn, Plan, PlannedStep } from '../../request/compile/plan.js';
import type { Kernel } from '../../language/expression/environment.js';
import { Frame } from '../../language/frame/frame.js';
import { dependenceOf } from '../../request/compile/dependence.js';

/** A feature of a data set. */
export interface LoggedFeature {
  readonly name: string;
  readonly type: 'number' | 'text';
  readonly column: string;
}

/** A request of a data set. Only rows that a user examined should be in it. */
export interface LoggedRequest {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly ids: readonly string[];
  /** By row: values by column of the data set. An absent value is missing. */
  readonly rows: readonly Readonly<Record<string, JsonValue>>[];
  /** By row. */
  readonly grades: Float64Array;
}

/** A step cannot run on logged values. */
export interface NotLogged {
  /** The name of the step. */
  readonly step: string;
  /** It reads values that were not logged; it reads interactions; or it is a filter that the params change. */
  readonly why: 'lacks' | 'interactions' | 'removes';
  /** The values that were not logged. */
  readonly values: readonly string[];
}

interface LoggedColumn {
  readonly feature: LoggedFeature;
  readonly slot: number;
}

/** The values of a logged column, as they are in a frame. */
interface Kept {
  readonly slot: number;
  readonly values: Float64Array | readonly string[];
  readonly status: Uint8Array;
}

/**
 * Runs the steps of a plan on logged values instead of values of the store. Steps that the params cannot change are not
 * run if their outputs were logged. Filters are not run: a data set has the candidates that they kept.
 */
export class LoggedValues {
  /** What cannot run; empty if all can. */
  readonly missing: readonly NotLogged[];
  /** The steps to run, in order, each with kernels that put the logged values back where expressions overwrote them. */
  readonly steps: ReadonlyMap<PlannedStep, PlannedStep>;
  readonly #plan: Plan;
  readonly #columns: readonly LoggedColumn[];
  readonly #overwritten: readonly LoggedColumn[];
  /** By frame: the values that expressions overwrite. */
  readonly #kept = new WeakMap<Frame, readonly Kept[]>();

  constructor(plan: Plan, params: Iterable<string>, features: Iterable<LoggedFeature>) {
    this.#plan = plan;
    const names = [...params];
    const { again } = dependenceOf(plan, names);
    const changed = changedNames(plan, names, again);
    const logged = new Map<string, LoggedColumn>();
    const slots = new Map(namedColumns(plan).map(({ name, slot }) => [name, slot]));
    for (const feature of features) {
      const slot = slots.get(feature.name);
      if (slot === undefined || changed.has(feature.name)) continue;
      if (plan.layout.columns[slot]?.shape.kind === feature.type) logged.set(feature.name, { feature, slot });
    }
    this.#columns = [...logged.values()];
    const definitions = new Set(plan.definitions.map(({ name }) => name));
    this.#overwritten = this.#columns.filter(({ feature }) => definitions.has(feature.name));

    const running = this.#runningSteps(again, changed);
    const missing: NotLogged[] = [];
    const outputs = new Set(
      running.flatMap((step) => Array.from(step.outputs.keys(), (output) => `${step.as}:${output}`)),
    );
    for (const step of running) {
      if (step.kind === 'filter') {
        missing.push({ step: step.as, why: 'removes', values: [] });
        continue;
      }
      if (step.readsInteractions) {
        missing.push({ step: step.as, why: 'interactions', values: [] });
        continue;
      }
      const lacks = step.reads.filter((name) => !this.#isKnown(name, logged, outputs, new Set()));
      if (lacks.length > 0) missing.push({ step: step.as, why: 'lacks', values: lacks });
    }
    this.missing = missing;
    const putBack: Kernel = (frame) => {
      this.#putBack(frame);
      return undefined;
    };
    this.steps = new Map(
      running.map((step) => [
        step,
        {
          ...step,
          prepare: Object.freeze([...step.prepare, putBack]),
          inputs: Object.freeze([...step.inputs, putBack]),
        },
      ]),
    );
  }

  /** A new frame with the logged values of a request. */
  frameOf(request: LoggedRequest): Frame {
    const frame = new Frame(this.#plan.layout);
    const { ids } = request;
    frame.reset(ids.length, request.time);
    for (const node of this.#plan.nodes) {
      if (node.parent !== undefined || node.scope !== 'candidate') continue;
      const { values, status } = frame.text(node.ids);
      for (const [row, id] of ids.entries()) {
        values[row] = id;
        status[row] = Status.present;
      }
    }
    for (const { feature, slot } of this.#columns) {
      if (feature.type === 'number') {
        const { values, status, stride } = frame.number(slot);
        for (const [row, cells] of request.rows.slice(0, stride === 0 ? 1 : undefined).entries()) {
          const value = cells[feature.column];
          if (typeof value !== 'number') continue;
          values[row] = value;
          status[row] = Status.present;
        }
      } else {
        const { values, status, stride } = frame.text(slot);
        for (const [row, cells] of request.rows.slice(0, stride === 0 ? 1 : undefined).entries()) {
          const value = cells[feature.column];
          if (typeof value !== 'string') continue;
          values[row] = value;
          status[row] = Status.present;
        }
      }
    }
    this.#kept.set(
      frame,
      this.#overwritten.map(({ feature, slot }) => {
        const { values, status } = feature.type === 'number' ? frame.number(slot) : frame.text(slot);
        return { slot, values: values.slice(), status: status.slice() };
      }),
    );
    return frame;
  }

  #putBack(frame: Frame): void {
    for (const { slot, values, status } of this.#kept.get(frame) ?? []) {
      frame.columns[slot]?.status.set(status);
      if (values instanceof Float64Array) frame.number(slot).values.set(values);
      else for (const [row, value] of values.entries()) frame.text(slot).values[row] = value;
    }
  }

  /** Steps that the params change, and rules before them, which set scores and places. */
  #runningSteps(again: readonly PlannedStep[], changed: ReadonlySet<string>): readonly PlannedStep[] {
    const isAgain = new Set(again);
    return this.#plan.steps.filter((step) => {
      if (step.kind === 'rule') return true;
      if (step.kind === 'effect') return false;
      // A filter that the params do not change keeps what it kept.
      if (step.kind === 'filter') return step.reads.some((name) => changed.has(name));
      return isAgain.has(step);
    });
  }

  #isKnown(
    name: string,
    logged: ReadonlyMap<string, LoggedColumn>,
    outputs: ReadonlySet<string>,
    seen: Set<string>,
  ): boolean {
    const { definition, candidateType, open } = this.#plan;
    if (name === 'score' || definition.params.has(name) || logged.has(name) || outputs.has(name)) return true;
    if (name === `${candidateType.name}.${candidateType.key}` || name === candidateType.name) return true;
    const uses = open?.readsOfDefinitions.get(name);
    if (uses === undefined || seen.has(name)) return false;
    seen.add(name);
    return [...uses].every((one) => this.#isKnown(one, logged, outputs, seen));
  }
}

/** Everything in a plan that a ranking can log. */
function namedColumns({ shown, log }: Plan): readonly NamedColumn[] {
  return [...shown.request, ...shown.candidate, ...log.values];
}

/** The names whose values the params change: definitions, outputs of steps, and expressions in their options. */
function changedNames(
  plan: Plan,
  params: readonly string[],
  again: readonly PlannedStep[],
): ReadonlySet<string> {
  const changed = new Set(params);
  const uses = plan.open?.readsOfDefinitions ?? new Map<string, ReadonlySet<string>>();
  for (const step of again) {
    for (const output of step.outputs.keys()) changed.add(`${step.as}:${output}`);
    for (const { name } of step.computes) changed.add(name);
    if (step.when?.computes !== undefined) changed.add(step.when.computes.name);
  }
  const depends = (name: string): boolean =>
    changed.has(name) || Array.from(uses.get(name) ?? []).some(depends);
  for (const name of uses.keys()) if (depends(name)) changed.add(name);
  return changed;
}
