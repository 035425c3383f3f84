import type { Column, ColumnKind, ColumnOf, NumberColumn } from '../../ground/api/columns.js';
import type { Input } from '../../ground/api/input.js';
import { OptionError } from '../../ground/api/option-error.js';
import type { ModelComponent, StepOutput } from '../../ground/api/component.js';
import type { Plugin } from '../../ground/api/plugin.js';
import type { ProjectFile } from '../../ground/api/build-context.js';
import type { StepInput } from '../../ground/api/step-input.js';
import { Status } from '../../ground/api/status.js';
import { contentVersion } from '../../request/compile/option-files.js';
import type { StepTools } from '../../request/compile/step-tools.js';
import type { Frame } from '../../language/frame/frame.js';
import { treeEngine } from '../../language/trees/tree-engine.js';
import type { DataInput } from './data-frame.js';
import type { LearnedStep } from './learned-step.js';
import type { ModelColumn } from './model-columns.js';

/** Scores rows of a data set with the component that serves the model. */
export interface DataScorer {
  /** The version of the model. */
  readonly version: string;
  /** The scores of the rows of a frame, valid until the next call. */
  score(frame: Frame): Float64Array;
  close(): Promise<void>;
}

/**
 * Creates the component of a step from the content of a model file, over the columns of a data set.
 * @param inputs by column, in the order of `columns`
 * @throws what the plugin throws, for example OptionError
 */
export async function openDataScorer(
  { plugin, options, name, definition, modelPath }: LearnedStep,
  columns: readonly ModelColumn[],
  inputs: readonly DataInput[],
  content: Buffer,
  services: StepTools['services'],
): Promise<DataScorer> {
  const byName = new Map(columns.map((column, at) => [column.name, inputs[at]?.input]));
  const find = (column: string): Input => {
    const input = byName.get(column);
    if (input === undefined)
      throw new OptionError(['inputs'], `the trained model has the column ${column}, which was not given`);
    return input;
  };
  const refuse = (): never => {
    throw new Error(`${plugin.name} reads more than the columns of its model`);
  };
  const file: ProjectFile = { path: modelPath, content, version: await contentVersion(content) };
  const component = (await (
    plugin as Plugin & { create: (options: unknown, build: unknown) => unknown }
  ).create(
    { ...options, model: file, inputs: Object.fromEntries(byName) },
    {
      ...services.ofPlugin(plugin.name, { pipeline: definition.name, step: name }),
      name,
      candidateType: definition.candidateType.value,
      need: refuse,
      needColumn: find,
      needInteractions: refuse,
      trees: treeEngine,
      http: services.http({ pipeline: definition.name, step: name }),
      findPackage: (wanted: string) => services.findPackage(wanted),
    },
  )) as ModelComponent;
  const output: NumberColumn = {
    kind: 'number',
    stride: 1,
    status: new Uint8Array(0),
    values: new Float64Array(0),
  };
  const outputs: StepOutput = { number: () => output, text: refuse };
  return {
    version: file.version,
    score(frame) {
      if (output.values.length < frame.count) {
        output.values = new Float64Array(2 * frame.count);
        output.status = new Uint8Array(2 * frame.count);
      }
      output.status.fill(Status.absent, 0, frame.count);
      void component.compute(new DataStep(frame), outputs);
      return output.values;
    },
    close: async () => component.close?.(),
  };
}

/** All rows of a frame, as a step sees them. */
class DataStep implements StepInput {
  readonly count: number;
  readonly rows: Int32Array;
  readonly now: number;
  readonly requestId = '';
  readonly signal = new AbortController().signal;
  readonly #columns: readonly Column[];

  constructor(frame: Frame) {
    this.count = frame.count;
    this.rows = Int32Array.from({ length: frame.count }, (_, row) => row);
    this.now = frame.now;
    this.#columns = frame.columns;
  }

  column<K extends ColumnKind>(input: Input<K>): ColumnOf<K> {
    return this.#columns[input.slot] as unknown as ColumnOf<K>;
  }

  random(): never {
    throw new Error('a model draws no random numbers');
  }

  emit(): void {
    // Nothing records what is scored here.
  }

  curated(): never {
    throw new Error('a data set has no rules of a list');
  }

  interactions(): never {
    throw new Error('a data set has no interactions');
  }

  candidate(): never {
    throw new Error('a model does not read which candidate a row is');
  }

  getFeature(): never {
    throw new Error('a model reads columns');
  }
}
