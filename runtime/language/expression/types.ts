import type { ColumnKind } from '../../ground/api/columns.js';
import type { ColumnShape, Scope } from '../frame/frame-layout.js';
import type { ElementType, ExpressionType } from './environment.js';

export const NUMBER = { kind: 'number' } as const;
export const BOOL = { kind: 'bool' } as const;
export const TEXT = { kind: 'text' } as const;
export const TIME = { kind: 'time' } as const;

/** `a number`, `a list of texts`, `a ref(brand)`: for messages. */
export function describeType(type: ExpressionType): string {
  switch (type.kind) {
    case 'vector':
      return `a vector(${type.size})`;
    case 'ref':
      return `a ref(${type.entity})`;
    case 'list':
      return type.of.kind === 'ref' ? `a list of ref(${type.of.entity})` : `a list of ${type.of.kind}s`;
    default:
      return `a ${type.kind}`;
  }
}

/** The type of a list's elements, or the type itself; undefined for a vector. */
export function elementOf(type: ExpressionType): ElementType | undefined {
  if (type.kind === 'vector') return undefined;
  return type.kind === 'list' ? type.of : type;
}

/** Whether values of the type are stored as texts. Values of all other types are stored as numbers. */
export function isTextual(type: ElementType): boolean {
  return type.kind === 'text' || type.kind === 'ref';
}

/** Whether arithmetic, `sum` and `mean` accept values of the type. In arithmetic, true is 1 and false is 0. */
export function countsAsNumber(type: ElementType | undefined): boolean {
  return type?.kind === 'number' || type?.kind === 'bool';
}

export function isSame(a: ElementType, b: ElementType): boolean {
  if (a.kind === 'ref' && b.kind === 'ref') return a.entity === b.entity;
  return a.kind === b.kind;
}

/**
 * Whether two values can be equal. They must have the same type, or one is a text and the other a reference: the text
 * is compared with the id.
 */
export function isComparable(a: ElementType, b: ElementType): boolean {
  return isSame(a, b) || (isTextual(a) && isTextual(b) && (a.kind === 'text' || b.kind === 'text'));
}

/** The common type of two values; undefined if there is none. */
export function unify(a: ExpressionType, b: ExpressionType): ExpressionType | undefined {
  if (a.kind === 'vector' || b.kind === 'vector') {
    return a.kind === 'vector' && b.kind === 'vector' && a.size === b.size ? a : undefined;
  }
  if (a.kind === 'list' || b.kind === 'list') {
    if (a.kind !== 'list' || b.kind !== 'list') return undefined;
    const of = unifyElements(a.of, b.of);
    return of && { kind: 'list', of };
  }
  return unifyElements(a, b);
}

function unifyElements(a: ElementType, b: ElementType): ElementType | undefined {
  if (isSame(a, b)) return a;
  return isComparable(a, b) ? TEXT : undefined;
}

export function columnKindFor(type: ExpressionType): ColumnKind {
  if (type.kind === 'vector') return 'vector';
  if (type.kind === 'list') return isTextual(type.of) ? 'texts' : 'numbers';
  return isTextual(type) ? 'text' : 'number';
}

export function shapeFor(type: ExpressionType, scope: Scope): ColumnShape {
  const kind = columnKindFor(type);
  if (kind !== 'vector') return { kind, scope };
  if (type.kind !== 'vector') throw new Error('a vector column holds vectors');
  return { kind, scope, size: type.size };
}
