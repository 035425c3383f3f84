import type { DiagnosticCode } from '../config/diagnostics/diagnostic-codes.js';
import type { Frame } from '../frame/frame.js';
import type { FrameLayout, Scope } from '../frame/frame-layout.js';

/** The type of one value, or of one element of a list. */
export type ElementType =
  { readonly kind: 'number' | 'bool' | 'text' | 'time' } | { readonly kind: 'ref'; readonly entity: string };

/**
 * The type of an expression. `time` is epoch milliseconds; `ref` is the id of an entity, comparable with text and
 * with a ref of the same entity type. Lists come from paths through lists and from list-typed names.
 *
 * Columns: number, bool, time → number; text, ref → text; list of number, bool, time → numbers; list of text, ref →
 * texts; vector → vector.
 */
export type ExpressionType =
  | ElementType
  | { readonly kind: 'list'; readonly of: ElementType }
  | { readonly kind: 'vector'; readonly size: number };

/** A name that resolved: a column of the frame. */
export interface Source {
  readonly type: ExpressionType;
  readonly scope: Scope;
  readonly slot: number;
}

/** A name that did not: what to tell, at the place of the name (or of one segment of a path). */
export interface NameProblem {
  readonly problem: DiagnosticCode;
  readonly message: string;
  readonly help?: string;
  /** Index of the wrong segment of a path; undefined: all of it. */
  readonly segment?: number;
}

/** What names mean at one place of a pipeline. Resolving a name makes the plan read it. */
export interface Environment {
  readonly layout: FrameLayout;
  /** A bare name: a definition, `score`, or an entity or field of the request. */
  name(name: string): Source | NameProblem;
  /** `product.brand.name`: two segments or more. */
  path(segments: readonly string[]): Source | NameProblem;
  /** `view:feature` or `as:output`. */
  feature(view: string, feature: string): Source | NameProblem;
}

/** One whole-column computation; reads and writes slots that were fixed when the plan was made. */
export type Kernel = (frame: Frame) => void;

/** An expression, type-checked and compiled: run the kernels in order, then read `slot`. */
export interface CompiledExpression extends Source {
  /** Whether it computes a value of its own: it is neither a literal nor only another name of a value. */
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

/** The message of a problem whose cause is told where it stands, and so not again at each use. */
export const FAILED_ELSEWHERE = '(reported elsewhere)';
