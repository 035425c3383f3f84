import type { ValueType } from '../../ground/api/types.js';
import { columnKindOf } from '../../language/frame/cells.js';
import type { ColumnShape, Scope } from '../../language/frame/frame-layout.js';
import type { ElementType, ExpressionType } from '../../language/expression/environment.js';

/** The type of an attribute or feature in an expression; undefined for inline records, which are not values. */
export function expressionType(type: ValueType, throughList: boolean): ExpressionType | undefined {
  if (type.kind === 'vector') return throughList ? undefined : { kind: 'vector', size: type.size };
  if (type.kind === 'list') {
    const of = elementType(type.of);
    return of === undefined ? undefined : { kind: 'list', of };
  }
  const element = elementType(type);
  if (element === undefined) return undefined;
  return throughList ? { kind: 'list', of: element } : element;
}

function elementType(type: ValueType): ElementType | undefined {
  switch (type.kind) {
    case 'int':
      return { kind: 'number', whole: true };
    case 'float':
      return { kind: 'number' };
    case 'bool':
      return { kind: 'bool' };
    case 'string':
      return { kind: 'text' };
    case 'timestamp':
      return { kind: 'time' };
    case 'ref':
      return { kind: 'ref', entity: type.entity };
    default:
      return undefined;
  }
}

/** The column that holds values of a type. */
export function columnShape(type: ValueType, throughList: boolean, scope: Scope): ColumnShape | undefined {
  const kind = columnKindOf(type, throughList);
  if (kind === undefined) return undefined;
  if (kind !== 'vector') return { kind, scope };
  return type.kind === 'vector' ? { kind, scope, size: type.size } : undefined;
}
