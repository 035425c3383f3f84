import type { DiagnosticCode } from '../../project/config/diagnostics/diagnostic-codes.js';
import { nearestOf } from '../../ground/core/nearest.js';
import type { CallNode, ExpressionNode, ReferenceNode } from './ast.js';
import type { Environment, ExpressionProblem, NamedNumber, NameProblem, Source } from './environment.js';
import type { Checking } from './checking.js';
import { FUNCTIONS } from './functions/registry.js';
import { checkIndex } from './element.js';
import { checkIn } from './membership.js';
import { constant, type Operand } from './operand.js';
import { checkBinary, checkUnary } from './operators.js';
import { helpForStep, helpForValue, ownFunctionName } from './spellings.js';
import { BOOL, NUMBER, TEXT } from './types.js';

/** Messages do not repeat parts that are longer than this. */
const LONGEST_LABEL = 50;

const nearestFunction = nearestOf(FUNCTIONS.keys());

/** Gives every part of an expression its type. A wrong part is reported as a problem and gets no operand. */
export class Checker implements Checking {
  readonly problems: ExpressionProblem[] = [];
  readonly #text: string;
  readonly #names: Environment;
  readonly #candidateHelp: string | undefined;

  /** @param candidateHelp what to do about other values, if only values of the request may be named */
  constructor(text: string, names: Environment, candidateHelp?: string) {
    this.#text = text;
    this.#names = names;
    this.#candidateHelp = candidateHelp;
  }

  position(): 'served' | Source | undefined {
    return this.#names.position?.();
  }

  check(node: ExpressionNode): Operand | undefined {
    switch (node.kind) {
      case 'number':
        return constant(node, NUMBER, node.value);
      case 'text':
        return constant(node, TEXT, node.value);
      case 'bool':
        return constant(node, BOOL, node.value ? 1 : 0);
      case 'name':
      case 'path':
      case 'feature':
        return this.#reference(node);
      case 'unary':
        return checkUnary(this, node);
      case 'binary':
        return checkBinary(this, node);
      case 'in':
        return checkIn(this, node);
      case 'call':
        return this.#call(node);
      case 'index':
        return checkIndex(this, node);
    }
  }

  problem(
    code: DiagnosticCode,
    at: { readonly start: number; readonly end: number },
    message: string,
    help?: string,
  ): void {
    const { start, end } = at;
    this.problems.push({ code, start, end, message, ...(help === undefined ? {} : { help }) });
  }

  shortText(node: ExpressionNode): string {
    const text = this.#textOf(node);
    return text.length > LONGEST_LABEL ? 'x' : text;
  }

  label(operand: Operand): string {
    const text = this.#textOf(operand.node);
    return text.length > LONGEST_LABEL ? `\`${text.slice(0, LONGEST_LABEL)}…\`` : `\`${text}\``;
  }

  #textOf(node: ExpressionNode): string {
    return this.#text.slice(node.start, node.end);
  }

  #reference(node: ReferenceNode): Operand | undefined {
    const found = this.#resolve(node);
    if ('problem' in found) {
      const help = (node.kind === 'name' ? helpForName(node.name) : undefined) ?? this.#helpOf(found, node);
      this.problem(found.problem, spanOf(node, found.segment), found.message, help);
      return undefined;
    }
    if ('constant' in found) return { ...constant(node, NUMBER, found.constant), range: found.range };
    if (this.#candidateHelp !== undefined && found.scope === 'candidate') {
      this.problem(
        'expression_scope',
        node,
        `\`${this.#textOf(node)}\` is a value of each candidate; here only the request's values are known`,
        this.#candidateHelp,
      );
      return undefined;
    }
    const { type, scope, slot, root } = found;
    return { tag: 'source', node, type, scope, slot, meaning: root };
  }

  /** A name that is the whole expression is no text: nothing compares it. */
  #helpOf({ help, isPerhapsText }: NameProblem, node: ReferenceNode): string | undefined {
    const text = this.#textOf(node);
    if (isPerhapsText !== true || text === this.#text.trim()) return help;
    return `${help === undefined ? '' : `${help}; `}a text has quotes: "${text}"`;
  }

  #resolve(node: ReferenceNode): Source | NamedNumber | NameProblem {
    switch (node.kind) {
      case 'name':
        return this.#names.name(node.name);
      case 'path':
        return this.#names.path(node.segments);
      case 'feature':
        return this.#names.feature(node.view, node.feature);
    }
  }

  #call(node: CallNode): Operand | undefined {
    const args = node.args.map((arg) => this.check(arg));
    const entry = FUNCTIONS.get(node.name);
    const name = { start: node.start, end: node.start + node.name.length };
    if (entry === undefined) {
      const near = ownFunctionName(node.name) ?? nearestFunction(node.name);
      const signature = near && FUNCTIONS.get(near)?.signature;
      this.problem(
        'unknown_function',
        name,
        `there is no function \`${node.name}\``,
        helpForStep(node.name) ??
          (signature === undefined
            ? 'docs/expressions.md lists the functions'
            : `did you mean \`${signature}\`?`),
      );
      return undefined;
    }
    const [least, most] = entry.arity;
    if (args.length < least || args.length > most) {
      const wanted =
        least === most ? String(least) : most === Infinity ? `at least ${least}` : `${least} to ${most}`;
      const noun = wanted === '1' || wanted === 'at least 1' ? 'argument' : 'arguments';
      this.problem(
        'expression_arguments',
        node,
        `\`${node.name}\` takes ${wanted} ${noun}, not ${args.length}`,
        `write \`${entry.signature}\``,
      );
      return undefined;
    }
    if (!args.every((arg) => arg !== undefined)) return undefined;
    return entry.check({ checker: this, node, args });
  }
}

/** Help for a name that is a value in other languages, or a function here. */
function helpForName(name: string): string | undefined {
  const entry = FUNCTIONS.get(name);
  return entry === undefined ? helpForValue(name) : `\`${name}\` is a function: write \`${entry.signature}\``;
}

/** The place of one segment of a path. Only dots are between the tokens of a path. */
function spanOf(
  node: ReferenceNode,
  segment: number | undefined,
): { readonly start: number; readonly end: number } {
  if (node.kind !== 'path' || segment === undefined) return node;
  const before = node.segments.slice(0, segment).reduce((length, one) => length + one.length + 1, 0);
  const start = node.start + before;
  return { start, end: start + (node.segments[segment]?.length ?? 0) };
}
