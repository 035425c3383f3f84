import type { NumberColumn, TextColumn } from './columns.js';
import type { ComponentLife } from './component-life.js';
import type { Explained } from './contributions.js';
import type { Input } from './input.js';
import type { DeclaredExploration, RankingEdit } from './ranking-edit.js';
import type { RetrieverComponent } from './retriever.js';
import type { StepInput } from './step-input.js';

export type Component =
  FeatureComponent | FilterComponent | RuleComponent | EffectComponent | RetrieverComponent;

/** Produces columns: `as:<output>`. Cells of rows that it does not write stay absent. */
export interface FeatureComponent extends ComponentLife, Explained {
  readonly outputs: Readonly<Record<string, OutputKind>>;
  /** Writes values and statuses into the columns of `output`, in the rows of `input.rows`. */
  compute(input: StepInput, output: StepOutput): void | Promise<void>;
}

/** The kind of an output; `bool` is a number column of 0 and 1. */
export type OutputKind = (typeof OUTPUT_KINDS)[number];
export const OUTPUT_KINDS = ['number', 'bool', 'text'] as const;

export interface StepOutput {
  /** The column of an output. A cell counts only after its status is set to `Status.present`. */
  number(output: string): NumberColumn;
  text(output: string): TextColumn;
}

/** A feature component whose outputs are predictions. Explain and events show them as such. */
export interface ModelComponent extends FeatureComponent {
  /** For `millrace plan`: what each column of the model reads, in the model's order. */
  readonly bindings?: readonly ModelBinding[];
  /** The `ProjectFile.version` of the model file. */
  readonly version?: string;
  /**
   * For warnings: the least prediction that it can make, if it makes one for every candidate. Undefined: a prediction
   * can be absent or negative.
   */
  readonly least?: number;
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
export interface RuleComponent extends ComponentLife, Explained {
  /**
   * What the rule does to scores, for warnings and for the header `Millrace-Degraded`. `sets`: it gives each candidate
   * a new score and reports those that it left without one. `changes`: it changes existing scores. `scales`: it
   * multiplies them, so a score of 0 stays 0. `keeps`: it changes no score. Undefined: it may do anything.
   */
  readonly scoring?: 'sets' | 'changes' | 'scales' | 'keeps';
  /** Whether it may remove candidates, with `hide` or `keepOne`. Tests of rankings can then expect it. */
  readonly removes?: true;
  /** How it draws places, if it calls `explore`. A pipeline has one such step, and needs MILLRACE_EXPLORE_SALT. */
  readonly explores?: DeclaredExploration;
  /**
   * Where it decides which candidates stand near each other: on each page, or at any places. A rule that explores draws
   * places after it and can undo that, so a project with both gets a warning.
   */
  readonly arranges?: 'page' | 'places';
  /** For warnings: the places that it asks for in every request, so that two steps that ask for one are reported. */
  readonly places?: readonly FixedPlace[];
  /**
   * The ids that the rule pins, of which some may be no candidates yet: they become candidates before anything is read of
   * them. It reads values of the request alone, and must not throw.
   */
  readonly brings?: (input: BringInput) => Iterable<string>;
  /** Whether it brings anything for some request now; by default it may. */
  readonly mayBring?: () => boolean;
  /** Whether it may call `sponsor` and `show`, so that the schema of answers has what they add. */
  readonly promotes?: true;
  apply(input: StepInput, ranking: RankingEdit): RuleReport | Promise<RuleReport>;
}

/** What a rule can read before the candidates are complete. Columns of the request have one row. */
export type BringInput = Pick<StepInput, 'now' | 'column' | 'curated'>;

/** A place in the ranking that the options of a rule name. */
export interface FixedPlace {
  /** Counted from 1, over the whole ranking. */
  readonly position: number;
  /** The candidate that is pinned; undefined for a position that is reserved for candidates of a kind. */
  readonly id?: string;
  /** The option that names it, as in OptionError. */
  readonly option: readonly (string | number)[];
}

export interface RuleReport {
  /** The number of candidates whose score or place the rule set. */
  readonly applied: number;
  /** The number of candidates left unchanged because a value was absent or not finite. */
  readonly skipped: number;
  /** For a rule whose `scoring` is `sets`: the rows that it left without a score. */
  readonly left?: readonly number[];
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
