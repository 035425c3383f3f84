import type { DiagnosticCode } from '../../../project/config/diagnostics/diagnostic-codes.js';
import { namesIn } from '../../../language/expression/ast.js';
import type { Operand, OperationOperand } from '../../../language/expression/operand.js';
import { valuesOf, type KnownValues } from '../../../language/expression/values/values-of.js';
import type { Values } from '../../../language/expression/values/values.js';
import { describeReason } from './describe.js';
import { factsOf, together, type Facts } from './facts.js';
import { keyOf } from './key-of.js';

/** A part of an expression that can only be a mistake. Offsets are into the text. */
export interface Finding {
  readonly code: DiagnosticCode;
  readonly start: number;
  readonly end: number;
  readonly message: string;
  /** Whether the part is the whole expression, so that the condition itself never changes. */
  readonly isWhole: boolean;
  /** The remedy; undefined: the place of the expression says what to do. */
  readonly help?: string;
}

/** What is known at one place of a pipeline. */
export interface Place {
  readonly text: string;
  readonly scoreSlot: number;
  /** Which sources can have no value, or one. */
  readonly ofSource: KnownValues;
  readonly facts: Facts;
}

/** Finds the smallest parts that are always true, never true or never known, and defaults that are never used. */
export function inspect(root: Operand, place: Place): Finding[] {
  const found = inspectUnder(root, root, place);
  if (found.length > 0 || root.tag !== 'constant' || root.type.kind !== 'bool') return found;
  // Literals only: `false` switches something off, and `true` is a way to write that there is no condition.
  if (namesIn(root.node).length > 0 || root.value !== 0) return [];
  return [finding('never_true', root, { root, place }, `the condition ${quoted(root, place)} is never true`)];
}

function inspectUnder(operand: Operand, root: Operand, place: Place): Finding[] {
  if (operand.tag === 'constant' && operand.computed !== undefined)
    return inspectUnder(operand.computed, root, place);
  if (operand.tag !== 'operation') return [];
  const { node, args } = operand;
  const isAnd = node.kind === 'binary' && node.op === 'and';
  const [left, right] = args;
  const inner =
    isAnd && left !== undefined && right !== undefined
      ? [
          ...inspectUnder(left, root, place),
          ...inspectUnder(right, root, { ...place, facts: together(place.facts, ofCondition(left, place)) }),
        ]
      : args.flatMap((arg) => inspectUnder(arg, root, place));
  if (inner.length > 0) return inner;
  if (node.kind === 'call' && node.name === 'coalesce') return inspectDefault(operand, root, place);
  return inspectValues(operand, root, place);
}

function ofCondition(condition: Operand, { scoreSlot }: Place): Facts {
  return factsOf(condition, scoreSlot, true, undefined);
}

function inspectValues(operand: OperationOperand, root: Operand, place: Place): Finding[] {
  if (operand.type.kind === 'list' || operand.node.kind === 'bool') return [];
  const values = valuesAt(operand, place);
  const label = quoted(operand, place);
  if (values.known === 'never') {
    if (hasNeverKnownSource(operand, place)) return [];
    return [
      finding(
        'always_absent',
        operand,
        { root, place },
        `${label} never has a value${withReason(operand, place)}`,
      ),
    ];
  }
  if (operand.type.kind !== 'bool') return [];
  const reason = withReason(operand, place);
  if (values.high === 0)
    return [finding('never_true', operand, { root, place }, `${label} is never true${reason}`)];
  if (values.low === 1 && values.known === 'always')
    return [finding('always_true', operand, { root, place }, `${label} is always true${reason}`)];
  return [];
}

/** The report belongs to what has no value, and not to what uses it. */
function hasNeverKnownSource(operand: Operand, place: Place): boolean {
  if (operand.tag === 'source')
    return operand.meaning !== undefined && valuesAt(operand, place).known === 'never';
  return operand.tag === 'operation' && operand.args.some((arg) => hasNeverKnownSource(arg, place));
}

function inspectDefault(operand: OperationOperand, root: Operand, place: Place): Finding[] {
  const { args } = operand;
  const found: Finding[] = [];
  for (const [index, arg] of args.entries()) {
    const { known } = valuesAt(arg, place);
    const next = args[index + 1];
    if (known === 'never')
      found.push(
        finding(
          'always_absent',
          arg,
          { root, place },
          `${quoted(arg, place)} never has a value, so the default hides that it is missing`,
          'correct the name or the step that gives the value, or write the default alone',
        ),
      );
    else if (known === 'always' && next !== undefined) {
      const message = `the default ${quoted(next, place)} is never used: ${quoted(arg, place)} always has a value`;
      found.push(finding('unused_default', next, { root, place }, message, 'remove the default'));
      break;
    }
  }
  return found;
}

export function valuesAt(operand: Operand, { ofSource, facts, scoreSlot }: Place): Values {
  return valuesOf(operand, (part) => {
    const known = ofSource(part);
    if (known !== undefined || facts.size === 0) return known;
    const key = keyOf(part, scoreSlot);
    return key === undefined ? undefined : facts.get(key)?.values;
  });
}

function withReason(operand: OperationOperand, place: Place): string {
  const reason = describeReason(
    operand,
    (part) => valuesAt(part, place),
    (part) => quoted(part, place),
  );
  const since = whySince(operand, place);
  if (reason === '') return since === '' ? '' : `: ${since}`;
  return since === '' ? `: ${reason}` : `: ${since}, ${reason}`;
}

/** The filter, or the other part of the condition, that makes the difference. */
function whySince(operand: OperationOperand, { facts, scoreSlot }: Place): string {
  const parts: Operand[] = [operand];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const key = keyOf(part, scoreSlot);
    const fact = key === undefined ? undefined : facts.get(key);
    if (fact !== undefined) {
      if (fact.since === undefined) return 'where the part before `and` is true';
      const { line } = fact.since.file.position(fact.since.start);
      return `after the filter in line ${line}`;
    }
    if (part.tag === 'operation') parts.push(...part.args);
    else if (part.tag === 'source' && part.meaning !== undefined) parts.push(part.meaning);
  }
  return '';
}

function finding(
  code: DiagnosticCode,
  part: Operand,
  { root, place: { text } }: { readonly root: Operand; readonly place: Place },
  message: string,
  help?: string,
): Finding {
  const { start, end } = part.node;
  const isWhole = part === root || text.slice(start, end) === text.trim();
  return { code, start, end, message, isWhole, ...(help === undefined ? {} : { help }) };
}

/** Longer parts are cut in messages; the place shows them. */
const LONGEST = 50;

function quoted({ node }: Operand, { text }: Place): string {
  const part = text.slice(node.start, node.end);
  return part.length > LONGEST ? `\`${part.slice(0, LONGEST)}…\`` : `\`${part}\``;
}
