import type { DiagnosticCode } from '../../project/config/diagnostics/diagnostic-codes.js';
import type { FrameLayout, Scope } from '../frame/frame-layout.js';
import type { ElementType, ExpressionType, Kernel } from './expression-type.js';
import type { Operand } from './operand.js';

export type { ElementType, ExpressionType, Kernel };

/** A resolved name: a column of the frame. */
export interface Source {
  readonly type: ExpressionType;
  readonly scope: Scope;
  readonly slot: number;
  /** The expression that computes it, for what can be said of its values; undefined if no expression does. */
  readonly root?: Operand;
}

/** A resolved name: a number that is fixed when the pipeline is compiled. It counts as a literal. */
export interface NamedNumber {
  readonly constant: number;
  /** The values that tuning may give it. */
  readonly range?: { readonly low: number; readonly high: number };
}

/** A name that was not resolved: the message, for the place of the name or of one segment of a path. */
export interface NameProblem {
  readonly problem: DiagnosticCode;
  readonly message: string;
  readonly help?: string;
  /** The index of the wrong segment of a path; undefined: the whole path. */
  readonly segment?: number;
  /** No known name is near, so a text without its quotes is likely. */
  readonly isPerhapsText?: boolean;
}

/** Resolves names at one place of a pipeline. The plan then reads what the name means. */
export interface Environment {
  readonly layout: FrameLayout;
  /** A bare name: a param, a definition, `score`, or an entity or field of the request. */
  name(name: string): Source | NamedNumber | NameProblem;
  /** `product.brand.name`: at least two segments. */
  path(segments: readonly string[]): Source | NameProblem;
  /**
   * What `position(n)` means: n while the pipeline serves, or the column of the places at which the rows of a data set were
   * shown. Undefined: it is not allowed here.
   */
  position?(): 'served' | Source;
  /** `view:feature` or `as:output`. */
  feature(view: string, feature: string): Source | NameProblem;
}

/** A compiled expression: run the kernels in order, then read `slot`. */
export interface CompiledExpression extends Source {
  readonly root: Operand;
  /** Whether it computes a value. False for a literal, and for a second name of an existing value. */
  readonly computed: boolean;
  readonly kernels: readonly Kernel[];
}

/** Offsets are into the expression's text. */
export interface ExpressionProblem {
  readonly code: DiagnosticCode;
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly help?: string;
}

/** The message of a problem whose cause is reported elsewhere, and so must not be reported at each use. */
export const FAILED_ELSEWHERE = '(reported elsewhere)';
