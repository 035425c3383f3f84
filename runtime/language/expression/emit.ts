import { isKnown } from '../../ground/api/status.js';
import { Frame } from '../frame/frame.js';
import { FrameLayout, type ColumnMarks } from '../frame/frame-layout.js';
import type { CompiledExpression, Kernel } from './environment.js';
import { broadcast } from './kernels/choice.js';
import type { Operand, SourceOperand } from './operand.js';
import { Scratch } from './scratch.js';
import { columnKindFor, shapeFor } from './types.js';
import { runKernelsAtOnce } from './run-kernels.js';

const expressions = new WeakMap<Kernel, CompiledExpression>();

/** The expression that a kernel computes, or a part of which; undefined for kernels of another origin. */
export function expressionOf(kernel: Kernel): CompiledExpression | undefined {
  return expressions.get(kernel);
}

function compiled(expression: CompiledExpression): CompiledExpression {
  const frozen = Object.freeze({ ...expression, kernels: Object.freeze(expression.kernels) });
  for (const kernel of frozen.kernels) expressions.set(kernel, frozen);
  return frozen;
}

/** What an expression reads: its own sources, and not its definitions' sources. */
export function sourcesIn(operand: Operand): readonly SourceOperand[] {
  if (operand.tag === 'source') return [operand];
  return operand.tag === 'constant' ? [] : operand.args.flatMap(sourcesIn);
}

/** The columns that an expression reads, as `sourcesIn`. */
export function sourcesOf(operand: Operand): readonly number[] {
  return sourcesIn(operand).map(({ slot }) => slot);
}

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
    return compiled({ type: root.type, scope: root.scope, slot, root, computed, kernels });
  }
  const one = place(root, false);
  const slot = layout.add(shapeFor(root.type, 'candidate'), undefined, marksOf(root, layout));
  kernels.push(broadcast(slot, one));
  if (root.tag === 'operation') scratch.release(one);
  return compiled({ type: root.type, scope: 'candidate', slot, root, computed, kernels });
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

/**
 * Gives each part of an expression a column of its own, so that all its values can be read.
 * @param slots gets the columns of the parts
 * @returns the kernels that compute them
 */
export function emitParts(root: Operand, layout: FrameLayout, slots: Map<Operand, number>): Kernel[] {
  const kernels: Kernel[] = [];
  const place = (part: Operand): number => {
    if (part.tag === 'source') return part.slot;
    const slot =
      part.tag === 'constant'
        ? constantSlot(part.value, layout)
        : layout.add(shapeFor(part.type, part.scope), undefined, marksOf(part, layout));
    if (part.tag === 'operation') {
      const args = part.args.map(place);
      kernels.push(part.build(slot, args));
    }
    slots.set(part, slot);
    return slot;
  };
  place(root);
  return kernels;
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
