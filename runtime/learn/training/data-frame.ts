import type { Input } from '../../ground/api/input.js';
import type { JsonValue } from '../../ground/api/types.js';
import { Status } from '../../ground/api/status.js';
import { inputOf } from '../../request/compile/compile-input.js';
import { Definitions } from '../../request/compile/definitions.js';
import { NameUse } from '../../request/compile/name-use.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import { compileExpression } from '../../language/expression/compile.js';
import type {
  Environment,
  ExpressionType,
  Kernel,
  NamedNumber,
  NameProblem,
  Source,
} from '../../language/expression/environment.js';
import { Frame } from '../../language/frame/frame.js';
import { FrameLayout } from '../../language/frame/frame-layout.js';
import { runKernelsAtOnce } from '../../language/expression/run-kernels.js';

/** A feature of a data set, as its manifest describes it. */
export interface DataFeature {
  readonly name: string;
  readonly type: 'number' | 'text';
  /** The column of its values. */
  readonly column: string;
  /** Whether all rows of the train part have the same value, or none. */
  readonly isConstant?: boolean;
}

/** The column of the places, which every data set has. */
const PLACE: DataFeature = { name: 'place', type: 'number', column: 'place' };

/** A row of a data set: values by column. An absent value is missing in it. */
export type DataRow = Readonly<Record<string, JsonValue>>;

/** An expression over the features of a data set. */
export interface DataInput {
  readonly input: Input;
  /** The feature that it is; undefined if it is computed. */
  readonly feature: DataFeature | undefined;
}

/** An expression that a data set cannot give. */
export class NotInData extends Error {
  constructor(
    message: string,
    readonly help?: string,
  ) {
    super(message);
    this.name = 'NotInData';
  }
}

/**
 * The rows of a data set as frames, with the types and definitions of a pipeline, so that the pipeline's expressions and
 * components can run on them.
 */
export class DataFrame {
  readonly layout = new FrameLayout();
  readonly #features: ReadonlyMap<string, DataFeature>;
  readonly #names: Environment;
  readonly #definitions: Definitions;
  readonly #definitionProblems = new Diagnostics();
  readonly #use = new NameUse();
  readonly #slots = new Map<DataFeature, number>();
  readonly #kernels: Kernel[] = [];
  /** Values that an expression names and that the data set lacks. */
  readonly #lacking = new Set<string>();
  #frame: Frame | undefined;

  /** @param names what names mean in the pipeline; it gives the types of the features */
  constructor(
    features: Iterable<DataFeature>,
    names: Environment,
    { define }: Pick<PipelineDefinition, 'define'>,
  ) {
    this.#features = new Map(Array.from(features, (one) => [one.name, one]));
    this.#names = names;
    this.#definitions = new Definitions(define, this.#definitionProblems);
  }

  /** The columns of the data set that are read. */
  get read(): readonly DataFeature[] {
    return [...this.#slots.keys()];
  }

  /** A feature as an input. */
  feature(name: string): DataInput | undefined {
    const feature = this.#features.get(name);
    if (feature === undefined) return undefined;
    const kind = feature.type;
    return {
      feature,
      input: { kind, slot: this.#slot(feature), text: name, scope: 'candidate' },
    };
  }

  /**
   * Compiles an expression over the features. A definition that the data set does not have is computed.
   * @throws NotInData if the data set lacks a value that it names
   */
  expression(text: string): DataInput {
    const own = this.feature(text);
    if (own !== undefined) return own;
    this.#lacking.clear();
    const result = compileExpression(text, this.#environment, { type: 'any', scope: 'candidate' });
    if (!result.ok) {
      const [lacking] = this.#lacking;
      if (lacking !== undefined) throw new NotInData(`the data set has no value \`${lacking}\``);
      const [first] = result.problems;
      throw new NotInData(first?.message ?? 'it cannot be read', first?.help);
    }
    this.#kernels.push(...this.#definitions.takeKernels(), ...result.expression.kernels);
    return { feature: undefined, input: inputOf(result.expression, text, this.layout) };
  }

  /**
   * Puts rows of one request into a frame and computes the expressions. The frame is valid until the next call. Call it
   * after all expressions are compiled.
   * @param time of the request
   */
  fill(rows: readonly DataRow[], time: number): Frame {
    const frame = (this.#frame ??= new Frame(this.layout));
    frame.reset(rows.length, time);
    for (const [{ column, type }, slot] of this.#slots) {
      if (type === 'number') {
        const { values, status } = frame.number(slot);
        for (const [row, cells] of rows.entries()) {
          const value = cells[column];
          if (typeof value !== 'number') continue;
          values[row] = value;
          status[row] = Status.present;
        }
      } else {
        const { values, status } = frame.text(slot);
        for (const [row, cells] of rows.entries()) {
          const value = cells[column];
          if (typeof value !== 'string') continue;
          values[row] = value;
          status[row] = Status.present;
        }
      }
    }
    runKernelsAtOnce(this.#kernels, frame);
    return frame;
  }

  #slot(feature: DataFeature): number {
    let slot = this.#slots.get(feature);
    if (slot === undefined) {
      slot = this.layout.add({ kind: feature.type, scope: 'candidate' }, feature.name);
      this.#slots.set(feature, slot);
    }
    return slot;
  }

  readonly #environment: Environment = {
    layout: this.layout,
    position: () => ({ type: { kind: 'number', whole: true }, scope: 'candidate', slot: this.#slot(PLACE) }),
    name: (name) => {
      const known = this.#features.has(name);
      if (!known && this.#definitions.has(name))
        return this.#definitions.source(name, () => this.#environment, this.#use);
      return this.#source(name, () => this.#names.name(name));
    },
    path: (segments) => this.#source(segments.join('.'), () => this.#names.path(segments)),
    feature: (view, feature) => this.#source(`${view}:${feature}`, () => this.#names.feature(view, feature)),
  };

  #source<Meant extends Source | NamedNumber | NameProblem>(
    name: string,
    meaning: () => Meant,
  ): Source | NameProblem | Meant {
    const meant = meaning();
    const feature = this.#features.get(name);
    if (feature !== undefined)
      return { type: typeOf(feature, meant), scope: 'candidate', slot: this.#slot(feature) };
    if ('slot' in meant) {
      this.#lacking.add(name);
      return { problem: 'unknown_name', message: `the data set has no value \`${name}\`` };
    }
    return meant;
  }
}

/** The type of a feature: that of the pipeline if the column can hold it. */
function typeOf({ type }: DataFeature, meant: Source | NamedNumber | NameProblem): ExpressionType {
  if (!('slot' in meant)) return { kind: type };
  const { kind } = meant.type;
  const isText = kind === 'text' || kind === 'ref';
  const isNumber = kind === 'number' || kind === 'bool' || kind === 'time';
  return (type === 'text' ? isText : isNumber) ? meant.type : { kind: type };
}
