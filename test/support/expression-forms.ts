import {
  type Argument,
  type Domain,
  type Form,
  VALUE_KINDS,
  type ValueKind,
} from '../../runtime/language/expression/domain.js';
import { compileExpression } from '../../runtime/language/expression/compile.js';
import type { ExpressionType } from '../../runtime/language/expression/environment.js';
import { FUNCTIONS } from '../../runtime/language/expression/functions/registry.js';
import { OPERATORS } from '../../runtime/language/expression/operator-domains.js';
import { isTextual } from '../../runtime/language/expression/types.js';
import { OptionTable } from '../unit/language/expression/table.js';

/** One way of calling a function or of using an operator, from the tables of the language. */
export interface LanguageForm {
  /** The name of the function, or the operator. */
  readonly of: string;
  readonly isOperator: boolean;
  readonly takes: Form;
  /** Writes the expression, in parentheses if it is an operator. */
  readonly write: (args: readonly string[]) => string;
}

/** The type of a value of a kind. */
export const TYPES: Readonly<Record<ValueKind, ExpressionType>> = {
  number: { kind: 'number' },
  bool: { kind: 'bool' },
  text: { kind: 'text' },
  time: { kind: 'time' },
  numbers: { kind: 'list', of: { kind: 'number' } },
  bools: { kind: 'list', of: { kind: 'bool' } },
  texts: { kind: 'list', of: { kind: 'text' } },
  times: { kind: 'list', of: { kind: 'time' } },
  vector: { kind: 'vector', size: 8 },
};

/** All forms of all functions and operators, in the order of the tables. */
export function languageForms(): readonly LanguageForm[] {
  const functions = Array.from(FUNCTIONS.values(), ({ name, domain }) =>
    formsOf(name, false, domain, (args) => `${name}(${args.join(', ')})`),
  );
  const operators = Object.entries(OPERATORS).map(([op, domain]) =>
    formsOf(op, true, domain, (args, form) => `(${writeOperator(op, args, form)})`),
  );
  return [...functions, ...operators].flat();
}

function formsOf(
  of: string,
  isOperator: boolean,
  // The defects of `prove -- bodies` and functions of JavaScript plugins have no compiler to ask for it.
  domain: Domain | undefined,
  write: (args: readonly string[], form: Form) => string,
): LanguageForm[] {
  return (domain ?? []).map((takes) => ({
    of,
    isOperator,
    takes,
    write: (args) => write(args, takes),
  }));
}

function writeOperator(op: string, args: readonly string[], form: Form): string {
  const [first = '', second = '', ...more] = args;
  switch (op) {
    case '[]':
      return `${first}[${second}]`;
    case 'in':
    case 'not in':
      return isListed(form) ? `${first} ${op} ${second}` : `${first} ${op} (${[second, ...more].join(', ')})`;
    default:
      return form.length === 1 ? `${op} ${first}` : `${first} ${op} ${second}`;
  }
}

function isListed([, choices, ...more]: Form): boolean {
  return more.length === 0 && typeof choices === 'string' && choices.endsWith('s');
}

/** The kind of value that an argument takes; undefined if it is a literal. */
export function kindOf(argument: Argument): ValueKind | undefined {
  if (typeof argument === 'string') return argument;
  if ('like' in argument) return 'text';
  return 'from' in argument ? 'number' : undefined;
}

const ANY_KIND = new OptionTable(
  Object.fromEntries(VALUE_KINDS.map((kind) => [kind, { type: TYPES[kind], scope: 'candidate' }])),
);

/** The kind of the value that an expression gives. Its names are kinds. Undefined if it does not compile. */
export function kindGiven(text: string): ValueKind | undefined {
  const result = compileExpression(text, ANY_KIND, { type: 'any', scope: 'any' });
  if (!result.ok) return undefined;
  const { type } = result.expression;
  if (type.kind === 'vector') return 'vector';
  const single = (
    of: Exclude<ExpressionType, { kind: 'list' | 'vector' }>,
  ): 'number' | 'bool' | 'text' | 'time' =>
    isTextual(of) ? 'text' : (of.kind as 'number' | 'bool' | 'time');
  return type.kind === 'list' ? `${single(type.of)}s` : single(type);
}

/** The names, or the first literals, that an expression has as the arguments of a form. */
export function exampleArguments(form: Form): readonly string[] {
  return form.map((argument) => kindOf(argument) ?? (argument as { written: readonly [string] }).written[0]);
}
