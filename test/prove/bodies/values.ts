import type { Argument, ValueKind } from '../../../runtime/language/expression/domain.js';
import { kindOf } from '../../support/expression-forms.js';

/** Which value is made: no two cells of a body, and no two bodies of a case, have the same seed. */
export interface Cell {
  readonly seed: number;
  /** The number of the argument. Shapes that make pairs of texts give each argument another part. */
  readonly role: number;
}

type Shape = (bytes: number, cell: Cell) => string;

/** The letter of a seed, so that no repeat of a body finds the texts of the one before remembered. */
const letter = ({ seed }: Cell): string => String.fromCharCode(97 + (seed % 26));
const repeat = (part: string, bytes: number): string =>
  part.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(part))));
const half = (bytes: number, one: string, other: string): string =>
  one.repeat(Math.max(1, bytes >> 2)) + other + one.repeat(Math.max(1, bytes >> 2));

/** Texts of about so many bytes of UTF-8 that are slow to read, to compare or to look for. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  words: (bytes, { seed }) => written(bytes, seed, (n) => `wort${(n * 7919) % 1_000_003} Kopfhörer, `),
  'aⁿ and aᵏbaᵏ': (bytes, { role }) => (role % 2 === 0 ? repeat('a', bytes) : half(bytes, 'a', 'b')),
  'aᵏbaᵏ and aⁿ': (bytes, { role }) => (role % 2 === 1 ? repeat('a', bytes) : half(bytes, 'a', 'b')),
  'equal texts': (bytes) => repeat('one text ', bytes),
  'equal prefixes': (bytes, { seed }) => repeat('p', bytes - 9) + String(seed).padStart(9, '0'),
  'equal suffixes': (bytes, { seed }) => String(seed).padStart(9, '0') + repeat('s', bytes - 9),
  'equal hashes': (bytes, { seed }) =>
    written(bytes, seed, (n) => `${((n * 4096) % 2 ** 24) + 4096} `).trim(),
  'combining marks': (bytes, cell) => letter(cell) + repeat('\u0301\u0323', bytes - 1),
  'letters with marks': (bytes, cell) => repeat(`${letter(cell)}\u0323\u0301`, bytes),
  surrogates: (bytes, cell) => letter(cell) + repeat('👍🏽', bytes - 1),
  'lone surrogates': (bytes, cell) => letter(cell) + '\ud83d'.repeat(Math.max(1, Math.floor(bytes / 6))),
  'no spaces': (bytes, { seed }) => written(bytes, seed, (n) => `新しい靴を買うために${n}東京へ行く`),
  signs: (bytes, cell) => letter(cell) + repeat('-,', bytes - 1),
  bars: (bytes) => repeat('|', bytes),
  spaces: (bytes, cell) => letter(cell) + repeat(' ', bytes - 2) + letter(cell),
};

function written(bytes: number, seed: number, part: (n: number) => string): string {
  const parts: string[] = [];
  for (let size = 0, n = seed; size < bytes; n++) {
    const one = part(n);
    size += Buffer.byteLength(one);
    parts.push(one);
  }
  return parts.join('');
}

/** Numbers at the ends of their range, and where their text or their arithmetic is slow. */
const NUMBERS = [0, 1, -1, 0.1, 1e308, -1e308, 5e-324, 5e-310, 2 ** 53, -(2 ** 31), 123456.789];
const TIMES = [0, 1e12, Date.UTC(1969, 5, 1), Date.UTC(2024, 1, 29), Date.UTC(9999, 11, 31)];

/** The bytes of one element of a list. */
const ELEMENTS: Readonly<Record<string, number>> = { 'short elements': 7, 'long elements': 64 };
export const ELEMENT_SIZES = Object.keys(ELEMENTS);

/** What varies between the cases of one form. */
export interface Variant {
  readonly shape: string;
  readonly elements: string;
}

/** Whether values of the argument grow with the bytes that they get. */
export function grows(argument: Argument): boolean {
  const kind = kindOf(argument);
  return kind !== undefined && !['number', 'bool', 'time', 'vector'].includes(kind);
}

/** A value of about so many bytes, in the form that a body of JSON has it. */
export function valueOf(
  argument: Argument,
  bytes: number,
  cell: Cell,
  { shape, elements }: Variant,
): unknown {
  if (typeof argument === 'object') {
    if ('like' in argument) return likeText(argument.like, bytes, cell, shape);
    if ('from' in argument) return argument.from + ((cell.seed * 7.31) % (argument.to - argument.from));
    throw new Error('a literal has no value in a body');
  }
  return ofKind(argument, bytes, cell, { shape, elements });
}

function ofKind(kind: ValueKind, bytes: number, cell: Cell, variant: Variant): unknown {
  const { seed } = cell;
  switch (kind) {
    case 'number':
      return NUMBERS[seed % NUMBERS.length];
    case 'bool':
      return seed % 2 === 0;
    case 'time':
      return TIMES[seed % TIMES.length];
    case 'text':
      return textOf(variant.shape, bytes, cell);
    case 'vector':
      return Array.from({ length: 8 }, (_, i) => Math.fround(Math.sin(seed + i)));
    case 'numbers':
      return listOf(bytes, 12, (i) => NUMBERS[(seed + i) % NUMBERS.length]);
    case 'bools':
      return listOf(bytes, 15, (i) => ({ value: (seed + i) % 2 === 0 }));
    case 'times':
      return listOf(bytes, 24, (i) => ({ value: TIMES[(seed + i) % TIMES.length] }));
    case 'texts': {
      const each = ELEMENTS[variant.elements] ?? 7;
      return listOf(bytes, each + 3, (i) => textOf(variant.shape, each, { ...cell, seed: seed * 101 + i }));
    }
  }
}

function listOf(bytes: number, each: number, element: (i: number) => unknown): unknown[] {
  return Array.from({ length: Math.max(1, Math.floor(bytes / each)) }, (_, i) => element(i));
}

export function textOf(shape: string, bytes: number, cell: Cell): string {
  const make = SHAPES[shape];
  if (make === undefined) throw new Error(`no shape ${shape}`);
  return make(Math.max(1, bytes), cell);
}

/** Half of the texts are parts that the function looks for, the others begin with one. */
function likeText(parts: readonly string[], bytes: number, cell: Cell, shape: string): string {
  if (shape === 'words') return written(bytes, cell.seed, (n) => parts[n % parts.length] ?? '');
  return (parts[cell.seed % parts.length] ?? '') + textOf(shape, bytes, cell);
}
