import type { Pieces } from '../../ground/core/pieces.js';
import type { Frame } from '../frame/frame.js';

/** The type of one value, or of one element of a list. */
export type ElementType =
  | { readonly kind: 'number'; readonly whole?: true }
  | { readonly kind: 'bool' | 'text' | 'time' }
  | { readonly kind: 'ref'; readonly entity: string };

/**
 * The type of an expression. `time` is in epoch milliseconds. `ref` is the id of an entity: it can be compared with a
 * text, and with a ref of the same entity type. `whole`: the numbers are whole; it does not change what they can do. Lists come from paths through lists and from names of list type.
 *
 * Columns: number, bool, time → number; text, ref → text; list of number, bool, time → numbers; list of text, ref →
 * texts; vector → vector.
 */
export type ExpressionType =
  | ElementType
  | { readonly kind: 'list'; readonly of: ElementType }
  | { readonly kind: 'vector'; readonly size: number };

/**
 * A computation on whole columns. Its slots are fixed when the plan is made. It may return the rest of its work, if that
 * takes so long that other requests should run in between.
 */
export type Kernel = (frame: Frame) => Pieces<void> | undefined;
