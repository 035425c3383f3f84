import { isKnown } from '../../ground/api/status.js';
import { Frame } from '../frame/frame.js';
import { FrameLayout, type ColumnMarks } from '../frame/frame-layout.js';
import type { CompiledExpression, Kernel } from './environment.js';
import { broadcast } from './kernels/broadcast.js';
import type { Operand } from './operand.js';
import { Scratch } from './scratch.js';
import { columnKindFor, shapeFor } from './types.js';
import { runKernelsAtOnce } from './run-kernels.js';

/** Allocates the columns and kernels of an expression. With `perCandidate`, the result has a row for each candidate. */
export function emit(root: Operand, layout: FrameLayout, perCandidate: boolean): CompiledExpression {
  const kernels: Kernel[] = [];
  const scratch = Scratch.of(layout);
  const computed = root.tag === 'operation';

  const place = (operand: Operand, isResult: boolean): number => {
    if (operand.tag === 'source') return operand.slot;
    if (operand.tag === 'constant') return constantSlot(operand.value, layout);
    const args = operand.args.map((arg) => place(arg, false));
    const shape = shapeFor(operand.type, operand.scope);
    const out = isResult ? layout.add(shape, undefined, marksOf(operand, layout)) : scratch.take(shape);
    kernels.push(operand.build(out, args));
    // Columns of arguments are released after `out` is taken, so that no kernel writes to a column that it reads.
    operand.args.forEach((arg, i) => {
      if (arg.tag === 'operation') scratch.release(args[i] ?? -1);
    });
    return out;
  };

  if (!perCandidate || root.scope === 'candidate') {
    const slot = place(root, true);
    return Object.freeze({
      type: root.type,
      scope: root.scope,
      slot,
      root,
      computed,
      kernels: Object.freeze(kernels),
    });
  }
  const one = place(root, false);
  const slot = layout.add(shapeFor(root.type, 'candidate'), undefined, marksOf(root, layout));
  kernels.push(broadcast(slot, one));
  if (root.tag === 'operation') scratch.release(one);
  return Object.freeze({
    type: root.type,
    scope: 'candidate',
    slot,
    root,
    computed,
    kernels: Object.freeze(kernels),
  });
}

/** Functions that can return an argument as it is. */
const COPYING: ReadonlySet<string> = new Set(['if', 'coalesce', 'clamp', 'min', 'max']);

/** Functions whose result is one of a few common words, which say little about the text that they come from. */
const COARSE: ReadonlySet<string> = new Set(['platform', 'os', 'browser', 'language', 'referrer_medium']);

/**
 * The marks of a value. A text, a list or a vector that an expression makes of a private value is private, and so is a
 * number that it only copies. A number that it computes is not.
 */
function marksOf(operand: Operand, layout: FrameLayout): ColumnMarks {
  if (operand.tag === 'constant') return {};
  if (operand.tag === 'source') {
    const { isPrivate = false, idsOf } = layout.columns[operand.slot] ?? {};
    return { isPrivate, idsOf };
  }
  const { node, type } = operand;
  const name = node.kind === 'call' ? node.name : '';
  const isNumber = columnKindFor(type) === 'number';
  if ((isNumber && !COPYING.has(name)) || COARSE.has(name)) return {};
  const args = isNumber && name === 'if' ? operand.args.slice(1) : operand.args; // a condition is not copied
  const marks = args.map((arg) => marksOf(arg, layout));
  return {
    isPrivate: marks.some(({ isPrivate }) => isPrivate === true),
    idsOf: marks.find(({ idsOf }) => idsOf !== undefined)?.idsOf,
  };
}

function constantSlot(value: number | string, layout: FrameLayout): number {
  return typeof value === 'number'
    ? layout.constant({ kind: 'number', value })
    : layout.constant({ kind: 'text', value });
}

/**
 * The value of a constant expression, computed by its own kernels. Undefined if it has no value or is not one value.
 */
export function evaluate(operand: Operand): number | string | undefined {
  const kind = columnKindFor(operand.type);
  if (kind !== 'number' && kind !== 'text') return undefined;
  const layout = new FrameLayout();
  const { slot, kernels } = emit(operand, layout, false);
  const frame = new Frame(layout);
  frame.reset(0, 0);
  runKernelsAtOnce(kernels, frame);
  const column = kind === 'number' ? frame.number(slot) : frame.text(slot);
  return isKnown(column.status[0]) ? column.values[0] : undefined;
}
