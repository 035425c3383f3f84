import type { ExpressionMarkScope, ExpressionMarkType } from '../../project/config/project/marks.js';
import { Checker } from './checker.js';
import { emit } from './emit.js';
import type { CompiledExpression, Environment, ExpressionProblem } from './environment.js';
import { helpTowards } from './help.js';
import type { Operand } from './operand.js';
import { parseExpression } from './parser.js';
import { describeType, isTextual } from './types.js';

/** What the place of an expression accepts. */
export interface Expected {
  /** `text` also accepts references, and gets their ids. `texts` is a list of texts or of references. */
  readonly type: ExpressionMarkType;
  /** `request`: only values of the request may be named. `candidate`: the column must have a row for each candidate. */
  readonly scope: ExpressionMarkScope;
}

export type CompileResult =
  | { readonly ok: true; readonly expression: CompiledExpression }
  | { readonly ok: false; readonly problems: readonly ExpressionProblem[] };

/** Parses, type-checks and compiles an expression. It reports all problems of names and types at once. */
export function compileExpression(text: string, names: Environment, expected: Expected): CompileResult {
  const parsed = parseExpression(text);
  if (!parsed.ok) return { ok: false, problems: [parsed.problem] };
  const checker = new Checker(
    text,
    names,
    expected.scope === 'request' ? candidateHelp(expected) : undefined,
  );
  const root = checker.check(parsed.ast);
  if (root !== undefined) checkResult(checker, root, expected.type);
  if (root === undefined || checker.problems.length > 0) return { ok: false, problems: checker.problems };
  return { ok: true, expression: emit(root, names.layout, expected.scope === 'candidate') };
}

function candidateHelp({ type }: Expected): string {
  return type === 'bool'
    ? '`when:` is evaluated once for the whole request; write a condition on each candidate under `where:`'
    : 'name what the request says once, for example of the query or the user';
}

function checkResult(checker: Checker, root: Operand, wanted: Expected['type']): void {
  const { type } = root;
  if (wanted === 'any' || fits(root, wanted)) return;
  const name = wanted === 'texts' ? 'list of texts' : wanted;
  checker.problem(
    'expression_type',
    root.node,
    `expected a ${name}, but ${checker.label(root)} is ${describeType(type)}`,
    helpTowards(wanted === 'texts' ? 'list' : wanted, root, checker.shortText(root.node)),
  );
}

function fits({ type }: Operand, wanted: Exclude<Expected['type'], 'any'>): boolean {
  switch (wanted) {
    case 'number':
    case 'bool':
    case 'vector':
      return type.kind === wanted;
    case 'text':
      return type.kind === 'text' || type.kind === 'ref';
    case 'texts':
      return type.kind === 'list' && isTextual(type.of);
  }
}
