import type { CallNode } from '../ast.js';
import type { Checking } from '../checking.js';
import type { Domain } from '../domain.js';
import { helpTowards } from '../help.js';
import type { Operand } from '../operand.js';
import { describeType, elementOf } from '../types.js';

/** A function of the expression language. */
export interface FunctionEntry {
  readonly name: string;
  readonly group: 'choice' | 'math' | 'lists' | 'text' | 'time' | 'category' | 'request';
  /** The form of a call, e.g. `clamp(x, low, high)`. */
  readonly signature: string;
  /** One sentence, for the docs. */
  readonly summary: string;
  /** The minimum and maximum number of arguments. */
  readonly arity: readonly [least: number, most: number];
  /** What it takes: each way of calling it. */
  readonly domain: Domain;
  /** Gives the call its type and kernel. The number of arguments is already checked. Undefined after a problem. */
  readonly check: (call: Call) => Operand | undefined;
}

export interface Call {
  readonly checker: Checking;
  readonly node: CallNode;
  readonly args: readonly Operand[];
}

export type Kind = 'number' | 'bool' | 'text' | 'time' | 'list';

/**
 * Checks that the argument is one value of the kind or, with `orList`, a list of such values. If not, reports a
 * problem.
 */
export function isKind(call: Call, index: number, kind: Kind, orList = false): boolean {
  const type = call.args[index]?.type;
  if (type === undefined) return false;
  const element = orList ? elementOf(type) : type;
  if (element?.kind === kind || (kind === 'text' && element?.kind === 'ref')) return true;
  wrongArgument(call, index, kind === 'list' ? 'a list' : `a ${kind}`, kind);
  return false;
}

/** Reports an argument of a wrong type. */
export function wrongArgument(call: Call, index: number, wanted: string, kind?: Kind, remedy?: string): void {
  const { checker, node, args } = call;
  const arg = args[index];
  if (arg === undefined) return;
  const help = remedy ?? (kind && helpTowards(kind, arg, checker.shortText(arg.node)));
  checker.problem(
    'expression_arguments',
    arg.node,
    `\`${node.name}\` takes ${wanted}; ${checker.label(arg)} is ${describeType(arg.type)}`,
    help,
  );
}

/** Reports an argument that must be written as a number of some range. */
export function wrongNumber(call: Call, index: number, wanted: string, remedy: string): void {
  const { checker, node, args } = call;
  const arg = args[index];
  if (arg === undefined) return;
  const message = `\`${node.name}\` takes ${wanted}, not ${checker.label(arg)}`;
  checker.problem('expression_arguments', arg.node, message, remedy);
}

/** Checks that every argument is one value of the kind. */
export function areAll(call: Call, kind: Kind): boolean {
  return call.args.map((_, index) => isKind(call, index, kind)).every(Boolean);
}
