import type { ComparedName } from '../../runtime/state/curation/late-expression.js';

/** One comparison of a condition, as a person builds it. */
export interface Comparison {
  readonly name: string;
  readonly by: Operator;
  readonly value: string;
}

/** The comparisons by the type of what is compared. */
export const OPERATORS = {
  text: ['is', 'is_not', 'contains'],
  number: ['is', 'is_not', 'at_least', 'at_most', 'above', 'below'],
  bool: ['is_true', 'is_false'],
  texts: ['has', 'has_not'],
} as const satisfies Record<ComparedName['type'], readonly string[]>;

export type Operator = (typeof OPERATORS)[ComparedName['type']][number];

const SIGNS = { is: '==', is_not: '!=', at_least: '>=', at_most: '<=', above: '>', below: '<' } as const;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const NAME = String.raw`[a-z][\w.:]*`;
const NUMBER = String.raw`-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?`;
const FORMS = [
  new RegExp(`^(?<name>${NAME}) (?<sign>[=!<>]=|<|>) (?<value>${TEXT}|${NUMBER}|true|false)`),
  new RegExp(`^contains\\(lower\\((?<name>${NAME})\\), (?<value>${TEXT})\\)`),
  new RegExp(`^(?<value>${TEXT}) (?<word>not in|in) (?<name>${NAME})`),
];

/** A text of the expression language. */
export function quoted(text: string): string {
  // eslint-disable-next-line no-control-regex
  return JSON.stringify(text.replaceAll(/[\u0000-\u001f]/g, ' '));
}

/**
 * Writes comparisons as an expression that is true if all of them are.
 * @returns undefined if a value is not a number where one is needed
 */
export function expressionOf(
  comparisons: readonly Comparison[],
  types: readonly ComparedName[],
): string | undefined {
  const parts = comparisons.map((one) =>
    partOf(one, types.find(({ name }) => name === one.name)?.type ?? 'text'),
  );
  return parts.includes(undefined) ? undefined : parts.join(' and ');
}

function partOf({ name, by, value }: Comparison, type: ComparedName['type']): string | undefined {
  if (by === 'is_true' || by === 'is_false') return `${name} == ${String(by === 'is_true')}`;
  if (by === 'has' || by === 'has_not')
    return `${quoted(value.trim())} ${by === 'has' ? 'in' : 'not in'} ${name}`;
  if (by === 'contains') return `contains(lower(${name}), ${quoted(value.trim().toLowerCase())})`;
  if (type === 'text') return `${name} ${SIGNS[by]} ${quoted(value.trim())}`;
  const number = numberOf(value);
  return number === undefined ? undefined : `${name} ${SIGNS[by]} ${number}`;
}

/** Reads what `expressionOf` writes. @returns undefined for any other expression */
export function comparisonsOf(expression: string): readonly Comparison[] | undefined {
  const found: Comparison[] = [];
  let rest = expression.trim();
  for (;;) {
    const match = FORMS.map((form) => form.exec(rest)).find((one) => one !== null);
    const { name = '', sign, word, value = '' } = match?.groups ?? {};
    if (match === undefined) return undefined;
    found.push({ name, ...comparedBy(sign, word, value) });
    rest = rest.slice(match[0].length);
    if (rest === '') return found;
    if (!rest.startsWith(' and ')) return undefined;
    rest = rest.slice(' and '.length);
  }
}

function comparedBy(
  sign: string | undefined,
  word: string | undefined,
  written: string,
): Pick<Comparison, 'by' | 'value'> {
  if (written === 'true' || written === 'false')
    return { by: (written === 'true') === (sign === '==') ? 'is_true' : 'is_false', value: '' };
  const value = written.startsWith('"') ? (JSON.parse(written) as string) : written;
  if (word !== undefined) return { by: word === 'in' ? 'has' : 'has_not', value };
  const by = (Object.keys(SIGNS) as (keyof typeof SIGNS)[]).find((one) => SIGNS[one] === sign);
  return { by: by ?? 'contains', value };
}

/** A number as people type it, with a point or one comma. Undefined if it is none. */
export function numberOf(typed: string): number | undefined {
  const text = typed.trim().replace(/^([^,.]*),([^,.]*)$/, '$1.$2');
  const number = Number(text);
  return text === '' || !Number.isFinite(number) ? undefined : number;
}

/** The condition of a search in the index: the words of the title, or another text as a whole. */
export function searchCondition([title = '', ...others]: readonly string[], typed: string): string {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
  const inTitle = words.map((word) => `contains(lower(${title}), ${quoted(word)})`).join(' and ');
  return [`(${inTitle})`, ...others.map((name) => `${name} == ${quoted(typed.trim())}`)].join(' or ');
}
