import fc from 'fast-check';
import { editsOf, type Edit } from './edits.js';

/** A place in a text of any length, as a fraction of its length. */
const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

/** Scalars that no project file should contain, and scalars that YAML misreads. */
const SCALARS = [
  '',
  'null',
  '~',
  'true',
  '[]',
  '{}',
  '[a, [b, {c: d}]]',
  '{ a: { b: c } }',
  '{ __proto__: { polluted: 1 } }',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '"__proto__"',
  '.nan',
  'NaN',
  '.inf',
  '-.inf',
  '1e400',
  '-1',
  '0',
  '-0',
  '0x1F',
  '0o17',
  '1_000',
  '99999999999999999999999',
  '5e-324',
  '2026-01-01',
  '&anchor x',
  '*anchor',
  '*missing',
  '!!str 1',
  '!!binary aGk=',
  '!!set { a }',
  '!custom x',
  '!',
  '<<: *a',
  '? a\n  : b',
  '|\n      block\n       text',
  '>-\n  folded',
  "'",
  '"',
  '"\\ud800"',
  '"\\u0000"',
  '"\\x"',
  '${HOME}',
  '${',
  '${__proto__}',
  '%YAML 1.1',
  '---',
  '...',
  '@',
  '`',
  '#',
  ' #x',
  ': : :',
  '- - -',
  '((((((((',
  'list(',
  'list(list(list(string)))',
  'vector(99999999999)',
  'vector(0)',
  'ref(__proto__)',
  'optional(optional(user))',
  'a.b.c.d.e',
  'a:b:c',
  '1 / 0',
  '0d',
  '1e99d',
  '7x',
  '../../etc/passwd',
  '/dev/zero',
  '/dev/stdin',
  '.',
  '\\',
  '\t',
  '\u0000',
  '\ufeff',
  '\u2028',
  '\r',
  '\u202e',
  '😀',
  'e\u0301',
  '\ud800',
  'x'.repeat(5000),
  '['.repeat(300),
  '{a: '.repeat(300),
  '- '.repeat(300),
  '('.repeat(300),
  '9'.repeat(400),
];

const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  '',
  '~',
  '1',
  'a b',
  '"\\ud800"',
  '<<',
  '?',
  'use',
  'with',
  'x'.repeat(300),
];

const edit: fc.Arbitrary<Edit<string>> = fc
  .record({
    kind: fc.constantFrom(
      'delete',
      'double',
      'swap',
      'indent',
      'dedent',
      'value',
      'value',
      'value',
      'word',
      'word',
      'key',
      'append',
      'cut',
      'insert',
      'characters',
      'bracket',
    ),
    at: share,
    other: share,
    scalar: fc.constantFrom(...SCALARS),
    key: fc.constantFrom(...KEYS),
    count: fc.integer({ min: 1, max: 5 }),
    text: fc.string({ unit: 'binary', maxLength: 4 }),
  })
  .map(({ kind, at, other, scalar, key, count, text: extra }) => ({
    what: `${kind} at ${at.toFixed(3)}, ${other.toFixed(3)}: ${JSON.stringify(scalar.slice(0, 20))}, ${key.slice(0, 20)}, ${count}, ${JSON.stringify(extra)}`,
    apply(text) {
      const lines = text.split('\n');
      const line = Math.floor(at * lines.length);
      const second = Math.floor(other * lines.length);
      const place = Math.floor(at * (text.length + 1));
      const current = lines[line] ?? '';
      switch (kind) {
        case 'delete':
          lines.splice(line, count);
          break;
        case 'double':
          lines.splice(line, 0, ...lines.slice(line, line + count));
          break;
        case 'swap':
          [lines[line], lines[second]] = [lines[second] ?? '', current];
          break;
        case 'indent':
          lines[line] = ' '.repeat(count) + current;
          break;
        case 'dedent':
          lines[line] = current.slice(Math.min(count, current.length - current.trimStart().length));
          break;
        case 'value':
          lines[line] = current.replace(/^(\s*(?:- )?[^:]*: ).*$/, (_, head: string) => head + scalar);
          break;
        case 'word': {
          const words = [...text.matchAll(/[\w.]+/g)];
          const word = words[Math.floor(at * words.length)];
          if (word === undefined) return text;
          return text.slice(0, word.index) + scalar + text.slice(word.index + word[0].length);
        }
        case 'key':
          lines[line] = current.replace(/^(\s*(?:- )?)[^:]*:/, (_, head: string) => `${head}${key}:`);
          break;
        case 'append':
          lines.splice(line + 1, 0, `${/^\s*/.exec(current)?.[0] ?? ''}${key}: ${scalar}`);
          break;
        case 'cut':
          return text.slice(0, place);
        case 'insert':
          return text.slice(0, place) + scalar + text.slice(place);
        case 'characters':
          return text.slice(0, place) + extra + text.slice(place + count);
        case 'bracket': {
          const marks = [...text.matchAll(/[[\](){}:,"'#-]/g)];
          const mark = marks[Math.floor(at * marks.length)];
          if (mark === undefined) return text;
          return text.slice(0, mark.index) + text.slice(mark.index + 1);
        }
      }
      return lines.join('\n');
    },
  }));

/** Changes a text of lines, such as a YAML file. */
export const textEdits: fc.Arbitrary<Edit<string>> = editsOf(edit);
