import type { DiagnosticCode } from '../config/diagnostics/diagnostic-codes.js';
import type { Frame } from '../frame/frame.js';
import type { FrameLayout, Scope } from '../frame/frame-layout.js';

/** The type of one value, or of one element of a list. */
export type ElementType =
  { readonly kind: 'number' | 'bool' | 'text' | 'time' } | { readonly kind: 'ref'; readonly entity: string };

/**
 * The type of an expression. `time` is in epoch milliseconds. `ref` is the id of an entity: it can be compared with a
 * text, and with a ref of the same entity type. Lists come from paths through lists and from names of list type.
 *
 * Columns: number, bool, time → number; text, ref → text; list of number, bool, time → numbers; list of text, ref →
 * texts; vector → vector.
 */
export type ExpressionType =
  | ElementType
  | { readonly kind: 'list'; readonly of: ElementType }
  | { readonly kind: 'vector'; readonly size: number };

/** A resolved name: a column of the frame. */
export interface Source {
  readonly type: ExpressionType;
  readonly scope: Scope;
  readonly slot: number;
}

/** A resolved name: a number that is fixed when the pipeline is compiled. It counts as a literal. */
export interface NamedNumber {
  readonly constant: number;
}

/** A name that was not resolved: the message, for the place of the name or of one segment of a path. */
export interface NameProblem {
  readonly problem: DiagnosticCode;
  readonly message: string;
  readonly help?: string;
  /** The index of the wrong segment of a path; undefined: the whole path. */
  readonly segment?: number;
}

/** Resolves names at one place of a pipeline. The plan then reads what the name means. */
export interface Environment {
  readonly layout: FrameLayout;
  /** A bare name: a param, a definition, `score`, or an entity or field of the request. */
  name(name: string): Source | NamedNumber | NameProblem;
  /** `product.brand.name`: at least two segments. */
  path(segments: readonly string[]): Source | NameProblem;
  /** `view:feature` or `as:output`. */
  feature(view: string, feature: string): Source | NameProblem;
}

/** A computation on whole columns. Its slots are fixed when the plan is made. */
export type Kernel = (frame: Frame) => void;

/** A compiled expression: run the kernels in order, then read `slot`. */
export interface CompiledExpression extends Source {
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
