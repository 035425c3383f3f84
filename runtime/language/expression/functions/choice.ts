import { type Domain, type Form, VALUE_KINDS, type ValueKind } from '../domain.js';
import { helpForPair } from '../help.js';
import { coalesceCell, coalesceNumber, ifCell, ifNumber, known } from '../kernels/choice.js';
import type { Operand } from '../operand.js';
import { operation } from '../operation.js';
import { BOOL, columnKindFor, describeType, unify } from '../types.js';
import type { ExpressionType } from '../environment.js';
import { isKind, type Call, type FunctionEntry } from './function-entry.js';

/** A form for each kind of value. */
function ofEach(form: (kind: ValueKind) => Form): Domain {
  const [first, ...others] = VALUE_KINDS;
  return [form(first), ...others.map(form)];
}

export const CHOICE_FUNCTIONS: readonly FunctionEntry[] = [
  {
    name: 'if',
    group: 'choice',
    signature: 'if(condition, then, else)',
    summary: 'The second argument if the condition is true, the third if it is false.',
    arity: [3, 3],
    domain: ofEach((kind) => ['bool', kind, kind]),
    check: (call) => {
      const [condition, then, otherwise] = call.args;
      const isBool = isKind(call, 0, 'bool');
      if (condition === undefined || then === undefined || otherwise === undefined) return undefined;
      const type = commonType(call, then, otherwise);
      if (type === undefined || !isBool) return undefined;
      return operation(call.node, type, call.args, columnKindFor(type) === 'number' ? ifNumber : ifCell);
    },
  },
  {
    name: 'coalesce',
    group: 'choice',
    signature: 'coalesce(a, b, …)',
    summary: 'The first argument that has a value.',
    arity: [2, Infinity],
    domain: [...ofEach((kind) => [kind, kind]), ['number', 'number', 'number']],
    check: (call) => {
      const [first, ...others] = call.args;
      let type = first?.type;
      for (const other of others) {
        if (first === undefined || type === undefined) return undefined;
        type = commonType(call, { ...first, type }, other);
      }
      if (type === undefined) return undefined;
      const build = columnKindFor(type) === 'number' ? coalesceNumber : coalesceCell;
      return operation(call.node, type, call.args, build);
    },
  },
  {
    name: 'known',
    group: 'choice',
    signature: 'known(x)',
    summary: 'Whether x has a value, of any type. The result is always true or false.',
    arity: [1, 1],
    domain: ofEach((kind) => [kind]),
    check: ({ node, args }) => operation(node, BOOL, args, known),
  },
];

function commonType(call: Call, a: Operand, b: Operand): ExpressionType | undefined {
  const { checker, node } = call;
  const type = unify(a.type, b.type);
  if (type === undefined) {
    const found = `${checker.label(a)} is ${describeType(a.type)} and ${checker.label(b)} is ${describeType(b.type)}`;
    const help = helpForPair(a, b, (operand) => checker.shortText(operand.node));
    checker.problem('expression_arguments', b.node, `\`${node.name}\` has one result type; ${found}`, help);
  }
  return type;
}
