import { namesIn } from '../../../language/expression/ast.js';
import type { Operand, OperationOperand } from '../../../language/expression/operand.js';
import { isText } from '../../../language/expression/values/values-of.js';
import type { Values } from '../../../language/expression/values/values.js';

/** Longer lists of texts are not shown. */
const MOST_TEXTS = 6;

/** Says why a part can have only one result, e.g. `hour(t)` lies between 0 and 23. '' if there is nothing to add. */
export function describeReason(
  { args }: OperationOperand,
  valuesOf: (operand: Operand) => Values,
  label: (operand: Operand) => string,
): string {
  const [reason] = args
    .filter(({ tag, node }) => tag !== 'constant' || namesIn(node).length > 0)
    .flatMap((arg) => {
      const description = describe(valuesOf(arg), isText(arg), arg.type.kind === 'bool');
      return description === undefined ? [] : [`${label(arg)} ${description}`];
    });
  return reason ?? '';
}

function describe(
  { known, low, high, whole, texts, letters }: Values,
  isText: boolean,
  isBool: boolean,
): string | undefined {
  if (known === 'never') return 'never has a value';
  if (isText) {
    if (texts !== undefined && texts.size <= MOST_TEXTS)
      return `is ${[...texts].map((text) => JSON.stringify(text)).join(' or ')}`;
    if (letters !== undefined) return `has no ${letters === 'lower' ? 'capital' : 'small'} letters`;
    return undefined;
  }
  if (isBool) return low === high ? `is always ${low === 1 ? 'true' : 'false'}` : undefined;
  if (low === high) return `is always ${String(low)}`;
  if (Number.isFinite(low) && Number.isFinite(high) && isRound(low) && isRound(high))
    return `is between ${String(low)} and ${String(high)}`;
  if (Number.isFinite(high))
    return isRound(high) ? `is at most ${String(high)}` : `is below ${rounded(high)}`;
  if (Number.isFinite(low)) return isRound(low) ? `is at least ${String(low)}` : `is above ${rounded(low)}`;
  return whole ? 'is a whole number' : undefined;
}

/** A bound that `<` or `>` excluded is the number next to it. */
function isRound(bound: number): boolean {
  return rounded(bound) === String(bound);
}

function rounded(bound: number): string {
  return Math.abs(bound) < 1e-300 ? '0' : String(Number(bound.toPrecision(15)));
}
