import type { Operand } from '../../../language/expression/operand.js';

/**
 * A text that is equal for two parts of expressions if they compute the same value for a candidate. Undefined if the
 * value can change between two steps.
 * @param scoreSlot the column of the score, which rules change
 */
export function keyOf(operand: Operand, scoreSlot: number): string | undefined {
  switch (operand.tag) {
    case 'constant':
      return JSON.stringify(operand.value);
    case 'source':
      if (operand.slot === scoreSlot) return undefined;
      return operand.meaning === undefined ? `#${operand.slot}` : keyOf(operand.meaning, scoreSlot);
    case 'operation': {
      const { node } = operand;
      const args = operand.args.map((arg) => keyOf(arg, scoreSlot));
      if (args.includes(undefined)) return undefined;
      // The choices of `in` are not among the operands; the operands distinguish two operations of one node.
      if (node.kind === 'in' || (node.kind !== 'call' && node.kind !== 'binary' && node.kind !== 'unary'))
        return undefined;
      return `${node.kind === 'call' ? node.name : node.op}(${args.join()})`;
    }
  }
}
