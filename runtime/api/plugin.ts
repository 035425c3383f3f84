/**
 * What a plugin is. A plugin folder's `index.ts` exports `plugin`, made with `definePlugin`; its options are
 * described by `options.schema.json`, in which an option says by the keyword `millrace` what its text means:
 *
 *   { "millrace": "number" | "bool" | "text" | "texts" | "vector" | "any" }   an expression of that type, per candidate
 *   { "millrace": { "expression": "bool", "scope": "request" } }       an expression of the request alone
 *   { "millrace": { "expression": "vector", "scope": "any" } }         of either: the column's `stride` tells which
 *   { "millrace": "id" }                                               an id, taken from the YAML source text
 *   { "millrace": "file" }                                             a file of the project, by relative path
 *
 * `propertyNames: { "millrace": … }` makes the keys of a mapping expressions: the option arrives as `KeyedOption[]`.
 * What was an expression arrives at `create` as an `Input`, an id as a string, a file as a `ProjectFile`.
 */
import { recognise } from './brand.js';
import type { ColumnKind, ColumnOf, NumberColumn, TextColumn } from './columns.js';
import type { OutboundHttp } from './http-client.js';
import type { EntityIdentifier, Identifier } from './identifiers.js';
import type { Input } from './input.js';
import type { InteractionEvents, InteractionsInput, InteractionsWanted } from './interactions.js';
import type { StatusName } from './status.js';
import type { TreeCompiler } from './tree-ensemble.js';
import type { JsonObject } from './types.js';

export type ComponentKind = 'feature' | 'filter' | 'model' | 'rule' | 'effect';

/** An entry of a mapping whose keys are expressions. */
export interface KeyedOption<K extends ColumnKind, V> {
  readonly input: Input<K>;
  readonly value: V;
}

/** A file that an option names, read when the pipeline is compiled. */
export interface ProjectFile {
  /** As written, relative to the project's folder. */
  readonly path: string;
  readonly content: Buffer;
  /** First 12 hex digits of the content's SHA-256. */
  readonly version: string;
}

export interface BuildContext {
  /** The step's `as:` name, or the plugin's. */
  readonly name: string;
  /** The entity type that the pipeline ranks or scores. */
  readonly candidateType: string;
  /**
   * Makes a feature or attribute readable by name, e.g. with `getFeature`; an unknown one is an error at load.
   * @param place the option that names it, as in OptionError; the step itself if there is none
   */
  need(name: string, place?: readonly (string | number)[]): Input;
  /**
   * The same for a column of a model file, which may not be able to spell every name: `view__feature` stands for
   * `view:feature` or an earlier step's `as:output`, `product__price` for `product.price`; other names are as they are.
   */
  needColumn(name: string, place?: readonly (string | number)[]): Input;
  /**
   * Makes the interactions of an entity of the request readable, and feedback keep what they are counted by.
   * @throws OptionError at `of` or `with`, which are also the names of the plugin's options
   */
  needInteractions(wanted: InteractionsWanted): InteractionsInput;
  /** Makes fast scorers of tree ensembles. */
  readonly trees: TreeCompiler;
  /** Makes clients of other servers, of hosts that the operator allows. */
  readonly http: OutboundHttp;
  /**
   * Where an npm package that a plugin can do without is installed, beside the project or beside Millrace: the path of
   * its main file; undefined if it is not.
   */
  findPackage(name: string): string | undefined;
}

/**
 * Throw from `create` to report a wrong option at its place; `path` leads from `with:` to it. An AggregateError reports
 * several at once.
 */
export class OptionError extends Error {
  constructor(
    readonly path: readonly (string | number)[],
    message: string,
    readonly help?: string,
    /** Which part is wrong where the path ends with the key of a mapping. */
    readonly part: 'key' | 'value' = 'value',
  ) {
    super(message);
    this.name = 'OptionError';
  }
}
recognise(OptionError, 'OptionError');

/**
 * Runs every function and returns their results, so that one load reports every fault.
 * @throws what the only one that failed threw, or an AggregateError of all that was thrown
 */
export function tryEach<T>(tries: readonly (() => T)[]): T[] {
  const results: T[] = [];
  const faults: unknown[] = [];
  for (const attempt of tries) {
    try {
      results.push(attempt());
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length === 1) throw faults[0];
  if (faults.length > 1) throw new AggregateError(faults);
  return results;
}

/** A feature's value for one identifier. `value` is undefined where the status is not a known one. */
export interface FeatureValue {
  readonly value: number | string | readonly string[] | readonly number[] | undefined;
  readonly status: StatusName;
  /** Of a defaulted value: why there was none of its own. */
  readonly cause?: StatusName;
}

/** What every component may read of a request. Rows are candidates in input order. */
export interface StepInput {
  /** Candidates of the request, filtered ones included: every column has this many rows. */
  readonly count: number;
  /** The rows that this step works on, ascending: not filtered, and within `top:`. */
  readonly rows: Int32Array;
  /** Epoch milliseconds, the same for the whole request. */
  readonly now: number;
  /** Aborted at the request's deadline. */
  readonly signal: AbortSignal;
  column<K extends ColumnKind>(input: Input<K>): ColumnOf<K>;
  /** What the entity did that `needInteractions` named: an acknowledged feedback is in it. */
  interactions(input: InteractionsInput): InteractionEvents;
  /** The candidate of a row. */
  candidate(row: number): EntityIdentifier;
  /**
   * The value of a feature, by the full name that the component `need`s, for an identifier of this request: O(1).
   * @throws Error if the component does not need that name.
   */
  getFeature(identifier: Identifier, name: string): FeatureValue;
}

/** What a component says while it warms up, for those who run the service. */
export interface WarmNotices {
  /**
   * Warns of what does not keep the service from starting, at the step: one line without a full stop.
   * @param help what to do about it
   */
  readonly warn: (message: string, help?: string) => void;
}

/** What any component may have beside its work. */
export interface ComponentLife {
  /** Called once, before the component serves: run a model once, open a connection. A failure is an error at load. */
  warm?(notices: WarmNotices): void | Promise<void>;
  /** Called once, when no request uses the component any more. */
  close?(): void | Promise<void>;
}

/** Produces columns: `as:<output>`. Cells of rows that it does not write stay absent. */
export interface FeatureComponent extends ComponentLife {
  readonly outputs: Readonly<Record<string, OutputKind>>;
  /** Writes values and statuses into the columns that `output` gives, in the rows of `input.rows`. */
  compute(input: StepInput, output: StepOutput): void | Promise<void>;
}

/** What an output holds; `bool` is a number column of 0 and 1. */
export type OutputKind = 'number' | 'bool' | 'text';

export interface StepOutput {
  /** The column of an output; a cell counts only once its status is set to `Status.present`. */
  number(output: string): NumberColumn;
  text(output: string): TextColumn;
}

/** A model is a feature component whose outputs are predictions; the kind tells explain and events. */
export interface ModelComponent extends FeatureComponent {
  /** Of the file that it scores by: `ProjectFile.version`. */
  readonly version?: string;
}

/** Takes candidates out of the ranking. */
export interface FilterComponent extends ComponentLife {
  /** Says for each of `input.rows`, in that order, whether it is kept. */
  select(input: StepInput): Selection | Promise<Selection>;
}

export interface Selection {
  /** The rows that are taken out. */
  readonly removed: readonly number[];
  /** Why, for explain and the metrics. */
  readonly reason: string;
  /** Candidates kept only because the condition was absent. */
  readonly undecided: number;
}

/** Changes scores, or the order that they imply. */
export interface RuleComponent extends ComponentLife {
  /**
   * What it does to scores, for warnings and for the header `Millrace-Degraded`: `sets` gives each candidate a score of
   * its own and reports those that it left without one; `changes` changes the scores that there are; `keeps` gives no candidate
   * another score than 0 where all have 0. Undefined where it may do anything.
   */
  readonly scoring?: 'sets' | 'changes' | 'keeps';
  apply(input: StepInput, ranking: RankingEdit): RuleReport | Promise<RuleReport>;
}

export interface RuleReport {
  /** Candidates whose score or place the rule set. */
  readonly applied: number;
  /** Candidates left as they were because a value was absent or not finite. */
  readonly skipped: number;
  /** Of a rule whose `scoring` is `sets`: the rows that it left without a score. */
  readonly left?: readonly number[];
}

/** What a rule may do to the ranking. */
export interface RankingEdit {
  /** By row; write a finite number. */
  readonly scores: Float64Array;
  /** Puts the row below every candidate that is not buried. */
  bury(row: number): void;
  /** Constrains the row to a 1-based position of the whole ranking; applied last, exactly. */
  pin(row: number, position: number): void;
  /** The row of a candidate id, or undefined. */
  rowOf(id: string): number | undefined;
  /** Rows, best first, as the ranking stands. */
  order(): Int32Array;
}

/** Has effects outside the request; never in the response's way. */
export interface EffectComponent extends ComponentLife {
  run(input: StepInput): void | Promise<void>;
}

export type Component = FeatureComponent | FilterComponent | RuleComponent | EffectComponent;

interface PluginBase<Options, K extends ComponentKind, C> {
  readonly name: string;
  readonly kind: K;
  /** One line, for the docs and `millrace plan`. */
  readonly summary: string;
  /** The content of options.schema.json. */
  readonly options: JsonObject;
  /** Whether it sets candidates against each other: a pipeline that scores one entity refuses it, as it does filters. */
  readonly amongCandidates?: true;
  /** Builds the component for one step. Options are checked, defaults filled in, expressions compiled. */
  create(options: Options, build: BuildContext): C | Promise<C>;
}

export type FeaturePlugin<O> = PluginBase<O, 'feature', FeatureComponent>;
export type ModelPlugin<O> = PluginBase<O, 'model', ModelComponent>;
export type FilterPlugin<O> = PluginBase<O, 'filter', FilterComponent>;
export type RulePlugin<O> = PluginBase<O, 'rule', RuleComponent>;
export type EffectPlugin<O> = PluginBase<O, 'effect', EffectComponent>;

export type PluginOf<O> =
  FeaturePlugin<O> | ModelPlugin<O> | FilterPlugin<O> | RulePlugin<O> | EffectPlugin<O>;

/** A plugin whose option type only its own code knows. */
export type Plugin = PluginOf<never>;

/** Gives a plugin its type; the runtime checks options against the schema before `create` sees them. */
export function definePlugin<O>(plugin: PluginOf<O>): Plugin {
  return plugin;
}
