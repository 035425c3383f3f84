/**
 * The contract of a plugin. The `index.ts` of a plugin folder exports `plugin`, made with `definePlugin`. Its file
 * `options.schema.json` describes the options. The keyword `millrace` in it says what the text of an option means:
 *
 *   { "millrace": "number" | "bool" | "text" | "texts" | "vector" | "any" }   an expression of that type, per candidate
 *   { "millrace": { "expression": "bool", "scope": "request" } }       an expression on the request only
 *   { "millrace": { "expression": "vector", "scope": "any" } }         on either: `stride` of the column tells which
 *   { "millrace": "id" }                                               an id, taken from the YAML source text
 *   { "millrace": "file" }                                             a file of the project, by its relative path
 *
 * `create` gets an expression as an `Input`, an id as a string, and a file as a `ProjectFile`. With
 * `propertyNames: { "millrace": … }` the keys of a mapping are expressions, and `create` gets a `KeyedOption[]`.
 */
import { recognise } from './brand.js';
import type { ColumnKind, ColumnOf, NumberColumn, TextColumn } from './columns.js';
import type { CuratedRule, CurationInput, CurationWanted } from './curation.js';
import type { OutboundHttp } from './http-client.js';
import type { EntityIdentifier, Identifier } from './identifiers.js';
import type { Input } from './input.js';
import type { InteractionEvents, InteractionsInput, InteractionsWanted } from './interactions.js';
import type { Exploration, RankingEdit } from './ranking-edit.js';
import type { PluginServices } from './services.js';
import type { ServerProbe } from './server-probe.js';
import type { StatusName } from './status.js';
import type { TraceContext } from './trace-context.js';
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
  /** The path as written, relative to the project folder. */
  readonly path: string;
  readonly content: Buffer;
  /** The first 12 hex digits of the SHA-256 of the content. */
  readonly version: string;
}

export interface BuildContext extends PluginServices {
  /** The step's `as:` name; without one, the name of the plugin. */
  readonly name: string;
  /** The entity type that the pipeline ranks or scores. */
  readonly candidateType: string;
  /** The kinds of feedback of the project, each with its number in `InteractionEvents.types`. */
  readonly eventKinds: ReadonlyMap<string, number>;
  /**
   * Makes a feature or attribute readable by name, e.g. with `getFeature`. An unknown name is an error at load.
   * @param place the option that names it, as in OptionError; by default the step itself
   */
  need(name: string, place?: readonly (string | number)[]): Input;
  /**
   * Does the same for a column of a model file. Such files cannot spell every name: `view__feature` means
   * `view:feature` or an earlier step's `as:output`, and `product__price` means `product.price`. Other names are
   * unchanged.
   */
  needColumn(name: string, place?: readonly (string | number)[]): Input;
  /**
   * Makes the interactions of an entity of the request readable, and makes feedback store what the counts need.
   * @throws OptionError at `of` or `with`, which are also the names of the plugin's options
   */
  needInteractions(wanted: InteractionsWanted): InteractionsInput;
  /**
   * Binds the step to a list of curation/. Its rules can change while the component serves.
   * @throws OptionError at `list`, which is also the name of the plugin's option
   */
  needCuration(wanted: CurationWanted): CurationInput;
  /** Compiles tree ensembles to fast scorers. */
  readonly trees: TreeCompiler;
  /** Makes clients of other servers, if the operator allows their hosts. */
  readonly http: OutboundHttp;
  /** The most candidates that a page of an answer can have; undefined for a pipeline that scores. */
  readonly pageSize?: number;
  /**
   * Warns, at an option, of a value that can only be a mistake: one line without a full stop.
   * @param place the option, as in OptionError
   * @param help what to do about it
   */
  warn(place: readonly (string | number)[], message: string, help?: string): void;
  /**
   * Reads a file of the project that may be missing, by its path relative to the project folder. The pipeline is compiled
   * again when the file changes, appears or goes. Undefined if there is no such file.
   */
  findFile(path: string): Promise<ProjectFile | undefined>;
  /**
   * The path of the main file of an optional npm package, installed beside the project or beside Millrace. Undefined
   * if it is not installed.
   */
  findPackage(name: string): string | undefined;
}

/**
 * Throw it from `create` to report a wrong option at its place; `path` leads from `with:` to the option. An
 * AggregateError reports several at once.
 */
export class OptionError extends Error {
  constructor(
    readonly path: readonly (string | number)[],
    message: string,
    readonly help?: string,
    /** Which part is wrong if the path ends with the key of a mapping. */
    readonly part: 'key' | 'value' = 'value',
  ) {
    super(message);
    this.name = 'OptionError';
  }
}
recognise(OptionError, 'OptionError');

/**
 * Runs every function and returns their results, so that one load reports all faults.
 * @throws the error if one function failed, or an AggregateError if several failed
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

/** The value of a feature for one identifier. `value` is undefined if the value is not known. */
export interface FeatureValue {
  readonly value: number | string | readonly string[] | readonly number[] | undefined;
  readonly status: StatusName;
  /** Why a defaulted value has no value of its own. */
  readonly cause?: StatusName;
}

/** Something that a component did or found out, for the ledger and `include_events`: a CUSTOM event. */
export interface ComponentEvent {
  /** The candidate that it is about. Undefined: it is about the request. */
  readonly row?: number;
  /** Further members of the event. They must not contain personal data. */
  readonly data: JsonObject;
}

/** What every component can read of a request. Rows are candidates in input order. */
export interface StepInput {
  /** The number of candidates of the request, including filtered ones. Every column has this many rows. */
  readonly count: number;
  /** The rows that this step works on, ascending: those that are not filtered and are within `top:`. */
  readonly rows: Int32Array;
  /** Epoch milliseconds, the same for the whole request. */
  readonly now: number;
  /** Aborts at the deadline of the request. */
  readonly signal: AbortSignal;
  /** The position of the step in the trace of the request; undefined if the request is not traced. */
  readonly trace?: TraceContext | undefined;
  column<K extends ColumnKind>(input: Input<K>): ColumnOf<K>;
  /** The events of the entity that `needInteractions` named. They include all acknowledged feedback. */
  interactions(input: InteractionsInput): InteractionEvents;
  /** The rules of the list of `needCuration` that apply to the request now, in the order of the list. */
  curated(input: CurationInput): readonly CuratedRule[];
  /** The candidate of a row. */
  candidate(row: number): EntityIdentifier;
  /**
   * The value of a feature for an identifier of this request, by its full name. It costs O(1).
   * @throws Error if the component does not need that name.
   */
  getFeature(identifier: Identifier, name: string): FeatureValue;
  /**
   * Adds an event to the request. An effect must call it before it waits for anything.
   * @throws RangeError if there is no such row, or if the request has a thousand events already
   */
  emit(event: ComponentEvent): void;
}

/** Takes what a component reports to the operator while it warms up. */
export interface WarmNotices {
  /**
   * Reports, at the step, a problem that does not stop the service: one line without a full stop.
   * @param help what to do about it
   */
  readonly warn: (message: string, help?: string) => void;
}

/** Optional methods of every component. */
export interface ComponentLife {
  /** For `millrace plan`: what the component decided when it was created, a short line each, such as its data files. */
  readonly notes?: readonly string[];
  /** For `millrace validate --connect`: how to ask the server that the component uses. */
  readonly probe?: ServerProbe;
  /** Called once, before the component serves: run a model once, open a connection. A failure is an error at load. */
  warm?(notices: WarmNotices): void | Promise<void>;
  /** Called once, when no request uses the component any more. */
  close?(): void | Promise<void>;
}

/** Produces columns: `as:<output>`. Cells of rows that it does not write stay absent. */
export interface FeatureComponent extends ComponentLife {
  readonly outputs: Readonly<Record<string, OutputKind>>;
  /** Writes values and statuses into the columns of `output`, in the rows of `input.rows`. */
  compute(input: StepInput, output: StepOutput): void | Promise<void>;
}

/** The kind of an output; `bool` is a number column of 0 and 1. */
export type OutputKind = 'number' | 'bool' | 'text';

export interface StepOutput {
  /** The column of an output. A cell counts only after its status is set to `Status.present`. */
  number(output: string): NumberColumn;
  text(output: string): TextColumn;
}

/** What one column or input of a model reads. */
export interface ModelBinding {
  /** The model's name of the column; `features[2]` for a part of an input that takes several values. */
  readonly column: string;
  readonly input: Input;
  /** The type that the model takes, e.g. `float32`; undefined for a number of a tree ensemble. */
  readonly type?: string;
  /** The number of categories that the model knows; undefined if the column has none. */
  readonly categories?: number;
  /** Replaces a value that is not known, in this model. */
  readonly missing?: number | string;
}

/** A feature component whose outputs are predictions. Explain and events show them as such. */
export interface ModelComponent extends FeatureComponent {
  /** For `millrace plan`: what each column of the model reads, in the model's order. */
  readonly bindings?: readonly ModelBinding[];
  /** The `ProjectFile.version` of the model file. */
  readonly version?: string;
}

/** Removes candidates from the ranking. */
export interface FilterComponent extends ComponentLife {
  /**
   * For warnings: the input by which it decides. It removes every row for which the input is false, and with `drop`
   * also every row for which the input is absent. Undefined: it decides in another way.
   */
  readonly condition?: { readonly input: Input; readonly absent: 'keep' | 'drop' };
  /** Decides for each of `input.rows` whether it is kept. */
  select(input: StepInput): Selection | Promise<Selection>;
}

export interface Selection {
  /** The rows to remove. */
  readonly removed: readonly number[];
  /** The reason, for explain and the metrics. */
  readonly reason: string;
  /** The number of candidates that were kept only because the condition was absent. */
  readonly undecided: number;
}

/** Changes scores, or the order of the ranking. */
export interface RuleComponent extends ComponentLife {
  /**
   * What the rule does to scores, for warnings and for the header `Millrace-Degraded`. `sets`: it gives each candidate
   * a new score and reports those that it left without one. `changes`: it changes existing scores. `scales`: it
   * multiplies them, so a score of 0 stays 0. `keeps`: it changes no score. Undefined: it may do anything.
   */
  readonly scoring?: 'sets' | 'changes' | 'scales' | 'keeps';
  /** Whether it may remove candidates, with `hide` or `keepOne`. Tests of rankings can then expect it. */
  readonly removes?: true;
  /** How it draws places, if it calls `explore`. A pipeline has one such step, and needs MILLRACE_EXPLORE_SALT. */
  readonly explores?: Exploration;
  apply(input: StepInput, ranking: RankingEdit): RuleReport | Promise<RuleReport>;
}

export interface RuleReport {
  /** The number of candidates whose score or place the rule set. */
  readonly applied: number;
  /** The number of candidates left unchanged because a value was absent or not finite. */
  readonly skipped: number;
  /** For a rule whose `scoring` is `sets`: the rows that it left without a score. */
  readonly left?: readonly number[];
}

/** What was answered, for effects. Rows are candidates in input order, as in all columns. */
export interface ServedPage {
  readonly requestId: string;
  /** The rank of the first candidate of the page, from 0. */
  readonly start: number;
  /** The rows of the page, best first. */
  readonly rows: Int32Array;
  /** The answered scores, in the order of `rows`. */
  readonly scores: Float64Array;
  /** The number of candidates that no filter removed. */
  readonly total: number;
  /** The rows of all these candidates in their final order, with pins. It sorts at the first call. */
  order(): Int32Array;
}

/**
 * Has effects outside the request. The response does not wait for it. It has one of the two methods, or both: `run` works
 * at the place of the step, `served` after the page is made.
 */
export interface EffectComponent extends ComponentLife {
  run?(input: StepInput): void | Promise<void>;
  /**
   * Sees what is answered. `input.rows` are then the candidates that no filter removed. Events that it emits before it
   * waits are in the ledger, but not in the answer.
   */
  served?(input: StepInput, page: ServedPage): void | Promise<void>;
}

export type Component = FeatureComponent | FilterComponent | RuleComponent | EffectComponent;

interface PluginBase<Options, K extends ComponentKind, C> {
  readonly name: string;
  readonly kind: K;
  /** One line, for the docs and `millrace plan`. */
  readonly summary: string;
  /** The content of options.schema.json. */
  readonly options: JsonObject;
  /**
   * Whether it compares candidates with each other. A pipeline that scores one entity refuses such plugins, and
   * filters.
   */
  readonly amongCandidates?: true;
  /**
   * Builds the component for one step. At this point options are checked, defaults filled in, and expressions
   * compiled.
   */
  create(options: Options, build: BuildContext): C | Promise<C>;
}

export type FeaturePlugin<O> = PluginBase<O, 'feature', FeatureComponent>;
export type ModelPlugin<O> = PluginBase<O, 'model', ModelComponent>;
export type FilterPlugin<O> = PluginBase<O, 'filter', FilterComponent>;
export type RulePlugin<O> = PluginBase<O, 'rule', RuleComponent>;
export type EffectPlugin<O> = PluginBase<O, 'effect', EffectComponent>;

export type PluginOf<O> =
  FeaturePlugin<O> | ModelPlugin<O> | FilterPlugin<O> | RulePlugin<O> | EffectPlugin<O>;

/** A plugin whose options type only its own code knows. */
export type Plugin = PluginOf<never>;

/** Gives a plugin its type; the runtime checks options against the schema before `create` sees them. */
export function definePlugin<O>(plugin: PluginOf<O>): Plugin {
  return plugin;
}
