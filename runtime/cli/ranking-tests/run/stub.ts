import type { FeatureComponent, OutputKind, StepOutput } from '../../../ground/api/component.js';
import type { StepInput } from '../../../ground/api/step-input.js';
import { Status } from '../../../ground/api/status.js';
import type { Found, RetrieverComponent } from '../../../ground/api/retriever.js';
import { PLACE } from '../../../request/compile/check-component.js';
import type { StubOf } from '../../../request/compile/step-tools.js';

export type StubValue = number | string | boolean;

/** The values of one output: one for all candidates, or one for each id. */
export type StubbedOutput = StubValue | ReadonlyMap<string, StubValue>;

/** By output of the step. */
export type StubbedOutputs = ReadonlyMap<string, StubbedOutput>;

/**
 * Replaces the component of a step. Its outputs are those of the component that it replaces. If that cannot be created,
 * they are the outputs that the tests name. Outputs without a value are absent.
 */
export class Stub {
  /** Outputs of the replaced component; undefined if it cannot be created. */
  real: Readonly<Record<string, OutputKind>> | undefined;
  #values: StubbedOutputs = new Map();

  /** @param named the outputs that the tests name, with the kinds of their values */
  constructor(readonly named: Readonly<Record<string, OutputKind>>) {}

  /** Sets the values for the next request. */
  use(values: StubbedOutputs): void {
    this.#values = values;
  }

  readonly component: StubOf = (real): FeatureComponent & Pick<RetrieverComponent, 'retrieve'> => {
    this.real = real;
    const outputs = real ?? this.named;
    return {
      outputs,
      retrieve: () => this.#found(),
      compute: (input, output) => {
        for (const [name, kind] of Object.entries(outputs)) {
          const values = this.#values.get(name);
          if (values !== undefined) fill(input, output, name, kind, values);
        }
      },
    };
  };

  /** For a retriever: the candidates that the values name. */
  #found(): Found {
    const ids = idsOf(this.#values);
    const columns = Array.from(this.#values, ([name, values]) => [
      name,
      Float64Array.from(ids, (id) => Number(typeof values === 'object' ? (values.get(id) ?? NaN) : values)),
    ]);
    return { ids, columns: Object.fromEntries(columns) as Found['columns'] };
  }
}

/** The ids of a list of values by id, in the order of their places, or else as they are written. */
function idsOf(values: StubbedOutputs): string[] {
  const places = values.get(PLACE);
  const ids = new Set(
    [...values.values()].flatMap((one) => (typeof one === 'object' ? [...one.keys()] : [])),
  );
  const placeOf = (id: string): number =>
    typeof places === 'object' ? Number(places.get(id) ?? Infinity) : 0;
  return [...ids].sort((a, b) => placeOf(a) - placeOf(b) || 0);
}

function fill(
  input: StepInput,
  output: StepOutput,
  name: string,
  kind: OutputKind,
  values: StubbedOutput,
): void {
  const column = kind === 'text' ? output.text(name) : output.number(name);
  for (const row of input.rows) {
    const value = typeof values === 'object' ? values.get(input.candidate(row).id) : values;
    if (value === undefined) continue;
    if (column.kind === 'text') column.values[row] = String(value);
    else column.values[row] = Number(value);
    column.status[row] = Status.present;
  }
}

/** The kind of an output with these values. */
export function kindOf(values: readonly StubValue[]): OutputKind {
  if (values.some((value) => typeof value === 'string')) return 'text';
  return values.length > 0 && values.every((value) => typeof value === 'boolean') ? 'bool' : 'number';
}
