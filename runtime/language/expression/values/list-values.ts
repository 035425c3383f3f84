import type { ElementType } from '../environment.js';
import { ANY, EITHER, type Values } from './values.js';

/** What a function of a list can give. A list can be empty, and its elements can be unknown. */
export function listValues(name: string, of: Values, element: ElementType | undefined): Values | undefined {
  const known = 'sometimes';
  const isEmpty = of.low > of.high;
  const low = isEmpty ? 0 : of.low;
  const high = isEmpty ? 0 : of.high;
  const isBool = element?.kind === 'bool';
  switch (name) {
    case 'any':
      return { known, low: 0, high: isEmpty ? 1 : high, whole: true };
    case 'all':
      return { known, low: isEmpty ? 0 : low, high: 1, whole: true };
    case 'count':
      return { known, low: 0, high: isBool && !isEmpty && high === 0 ? 0 : Infinity, whole: true };
    case 'sum':
      return {
        known,
        low: low >= 0 ? 0 : -Infinity,
        high: high <= 0 ? 0 : Infinity,
        whole: of.whole,
      };
    case 'mean':
      // A mean is rounded, so it keeps the sign of the elements, and not exactly their bounds.
      if (isBool) return { ...EITHER, whole: false };
      return { ...ANY, low: low >= 0 ? 0 : -Infinity, high: high <= 0 ? 0 : Infinity };
    case 'min':
    case 'max':
      return isEmpty ? undefined : { known, low, high, whole: of.whole };
    default:
      return undefined;
  }
}
