import fc from 'fast-check';
import { editsOf, type Edit } from './edits.js';

/**
 * A JSON value that can be written in ways that JSON.stringify never uses: repeated keys, and any text as a value.
 */
type Node = { readonly text: string } | { readonly items: Node[] } | { readonly entries: [string, Node][] };

/** Texts that replace a value. */
const ODD = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '0.5',
  '1.5',
  '2147483648',
  '4294967296',
  '4294967297',
  '9007199254740993',
  '1000000000',
  '-1000000000',
  '1e308',
  '-1e308',
  '1e400',
  '-1e400',
  '5e-324',
  '9'.repeat(400),
  'NaN',
  'Infinity',
  '""',
  '"0"',
  '"1"',
  '"NaN"',
  '"inf"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u202e"',
  '"\\u2028"',
  '" "',
  '"."',
  '".."',
  '"a:b"',
  '"a,b"',
  '"*"',
  '"{}"',
  '"$"',
  '"\\r\\n"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"😀"',
  '"2026-01-01T00:00:00Z"',
  '"2026-13-45"',
  `"${'x'.repeat(3000)}"`,
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '[1, "a", null, {}]',
  '{"__proto__": {"polluted": 1}}',
  '{"constructor": {"prototype": {"polluted": 1}}}',
  '{"toString": 1, "valueOf": 2, "hasOwnProperty": 3}',
  '{"toJSON": 1, "then": 2, "length": 1e9}',
  '{"a": {"b": {"c": 1}}}',
  `${'['.repeat(60)}${']'.repeat(60)}`,
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`,
  `[${'0,'.repeat(2000)}0]`,
];
const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'length',
  '',
  ' ',
  '\u0000',
  '\ud800',
  'a.b',
  'a:b',
  'x'.repeat(3000),
];

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

const edit: fc.Arbitrary<Edit<Node>> = fc
  .record({
    kind: fc.constantFrom(
      'exchange',
      'exchange',
      'exchange',
      'remove',
      'repeat',
      'rename',
      'again',
      'add',
      'move',
    ),
    at: share,
    other: share,
    odd: fc.constantFrom(...ODD),
    key: fc.constantFrom(...KEYS),
    times: fc.constantFrom(1, 2, 50),
  })
  .map(({ kind, at, other, odd, key, times }) => ({
    what: `${kind} at ${at.toFixed(4)}, ${other.toFixed(4)}: ${odd.slice(0, 30)}, ${JSON.stringify(key.slice(0, 20))}, ${times}`,
    apply(root) {
      const places = placesIn(root);
      const place = places[Math.floor(at * places.length)];
      const second = places[Math.floor(other * places.length)];
      if (place === undefined || second === undefined) return { text: odd };
      const { list, index } = place;
      const current = list[index];
      const entry = Array.isArray(current) ? current : undefined;
      const put = (node: Node): void => {
        if (entry === undefined) list[index] = node;
        else entry[1] = node;
      };
      const element = (node: Node): Node | [string, Node] => (entry === undefined ? node : [entry[0], node]);
      switch (kind) {
        case 'exchange':
          put({ text: odd });
          break;
        case 'remove':
          list.splice(index, 1);
          break;
        case 'repeat':
          if (current !== undefined) list.splice(index, 0, ...Array.from({ length: times }, () => current));
          break;
        case 'rename':
          if (entry !== undefined) entry[0] = key;
          break;
        case 'again':
          list.splice(index, 0, element({ text: odd }));
          break;
        case 'add':
          list.splice(index, 0, entry === undefined ? { text: odd } : [key, { text: odd }]);
          break;
        case 'move':
          put({ text: written(nodeAt(second)) });
          break;
      }
      return root;
    },
  }));

/** Changes a JSON value and returns its text. */
export const jsonEdits: fc.Arbitrary<Edit<unknown, string>> = editsOf(edit).map(({ what, apply }) => ({
  what,
  apply: (value) => written(apply(nodeOf(value))),
}));

interface Place {
  readonly list: (Node | [string, Node])[];
  readonly index: number;
}

function nodeAt({ list, index }: Place): Node {
  const at = list[index];
  if (at === undefined) throw new Error('expected the place in its list');
  return Array.isArray(at) ? at[1] : at;
}

function placesIn(root: Node): Place[] {
  const found: Place[] = [];
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('text' in node) continue;
    const list: Place['list'] = 'items' in node ? node.items : node.entries;
    for (const index of list.keys()) {
      found.push({ list, index });
      open.push(nodeAt({ list, index }));
    }
  }
  return found;
}

function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return { items: value.map(nodeOf) };
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value) };
  return { entries: Object.entries(value).map(([key, one]) => [key, nodeOf(one)]) };
}

function written(node: Node): string {
  if ('text' in node) return node.text;
  if ('items' in node) return `[${node.items.map(written).join(',')}]`;
  return `{${node.entries.map(([key, one]) => `${JSON.stringify(key)}:${written(one)}`).join(',')}}`;
}
