import { expect } from 'chai';
import fc from 'fast-check';
import { namesIn, type ExpressionNode } from '../../../../runtime/language/expression/ast.js';
import { parseExpression } from '../../../../runtime/language/expression/parser.js';

/** The tree without places, as nested lists. Printing and parsing again must give the same tree. */
type Shape = readonly (string | number | boolean | Shape)[];

function shapeOf(node: ExpressionNode): Shape {
  switch (node.kind) {
    case 'number':
    case 'text':
    case 'bool':
      return [node.kind, node.value];
    case 'name':
      return ['name', node.name];
    case 'path':
      return ['path', ...node.segments];
    case 'feature':
      return ['feature', node.view, node.feature];
    case 'index':
      return ['[]', shapeOf(node.operand), shapeOf(node.index)];
    case 'unary':
      return [node.op, shapeOf(node.operand)];
    case 'binary':
      return [node.op, shapeOf(node.left), shapeOf(node.right)];
    case 'in':
      return [
        node.negated ? 'not in' : 'in',
        node.enclosed,
        shapeOf(node.operand),
        ...node.choices.map(shapeOf),
      ];
    case 'call':
      return ['call', node.name, ...node.args.map(shapeOf)];
  }
}

function parsed(text: string): ExpressionNode {
  const result = parseExpression(text);
  if (!result.ok) throw new Error(`${text}: ${result.problem.message}`);
  return result.ast;
}

/** From the operators that bind least to those that bind most. */
const LEVELS = [
  ['or'],
  ['and'],
  ['not'],
  ['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'],
  ['+', '-'],
  ['*', '/', '%'],
  ['sign'],
  ['leaf'],
];

function levelOf(shape: Shape): number {
  const [head, , third] = shape;
  const operator = head === '-' && third === undefined ? 'sign' : head;
  const level = LEVELS.findIndex((names) => names.includes(String(operator)));
  return level < 0 ? LEVELS.length - 1 : level;
}

/** Prints an expression with only the parentheses that the precedence requires. */
function print(shape: Shape): string {
  const [head, second, third] = shape;
  const child = (part: unknown, least: number): string => {
    const text = print(part as Shape);
    return levelOf(part as Shape) < least ? `(${text})` : text;
  };
  const level = levelOf(shape);
  switch (head) {
    case 'number':
    case 'bool':
    case 'name':
      return String(second);
    case 'text':
      return JSON.stringify(second);
    case 'path':
      return shape.slice(1).join('.');
    case 'feature':
      return `${String(second)}:${String(third)}`;
    case 'not':
      return `not ${child(second, level)}`;
    case 'in':
    case 'not in': {
      const choices = shape.slice(3) as Shape[];
      const list =
        second === true ? `(${choices.map(print).join(', ')})` : choices.map((one) => child(one, 4)).join('');
      return `${child(third, 4)} ${head} ${list}`;
    }
    case 'call':
      return `${String(second)}(${(shape.slice(2) as Shape[]).map(print).join(', ')})`;
    default:
      if (third === undefined) return `-${child(second, level)}`;
      // Comparisons do not chain; the other operators are left-associative.
      return `${child(second, level === 3 ? level + 1 : level)} ${String(head)} ${child(third, level + 1)}`;
  }
}

const name = fc.constantFrom('a', 'b1', 'score', 'in_stock', 'order', '__proto__');
const shapes = fc.letrec<{ any: Shape; leaf: Shape }>((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom(0, 1, 2.5, 1e21, 1e-7).map((value): Shape => ['number', value]),
    fc.string().map((value): Shape => ['text', value]),
    fc.boolean().map((value): Shape => ['bool', value]),
    name.map((one): Shape => ['name', one]),
    fc.array(name, { minLength: 2, maxLength: 4 }).map((segments): Shape => ['path', ...segments]),
    fc.tuple(name, name).map(([view, feature]): Shape => ['feature', view, feature]),
  ),
  any: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'e' },
    tie('leaf'),
    fc
      .tuple(
        fc.constantFrom(...LEVELS.flat().filter((op) => !/in|not|sign|leaf/.test(op))),
        tie('any'),
        tie('any'),
      )
      .map((shape): Shape => shape),
    fc.tuple(fc.constantFrom('not', '-'), tie('any')).map((shape): Shape => shape),
    fc
      .tuple(
        fc.constantFrom('in', 'not in'),
        tie('any'),
        fc.array(tie('any'), { minLength: 1, maxLength: 3 }),
      )
      .map(([op, operand, choices]): Shape => [op, true, operand, ...choices]),
    fc
      .tuple(fc.constantFrom('in', 'not in'), tie('any'), name)
      .map(([op, operand, list]): Shape => [op, false, operand, ['name', list]]),
    fc
      .tuple(name, fc.array(tie('any'), { maxLength: 3 }))
      .map(([called, args]): Shape => ['call', called, ...args]),
  ),
}));

describe('parseExpression', () => {
  it('reads back an expression printed with the fewest parentheses', () => {
    fc.assert(
      fc.property(shapes.any, (shape) => {
        expect(shapeOf(parsed(print(shape)))).to.deep.equal(shape);
      }),
      { numRuns: 500 },
    );
  });

  it('places an error inside the text at every depth', () => {
    for (const part of ['(', '-', 'not ', 'abs(', 'if(', '1+', 'c.number in ('])
      for (let times = 1; times < 260; times++) {
        const text = part.repeat(times);
        const result = parseExpression(text);
        if (result.ok) throw new Error(`${text} is no expression`);
        const { start, end } = result.problem;
        expect([start, end], text).to.satisfy(() => start < end && end <= text.length);
      }
  });

  it('finds each part at its place', () => {
    const text = '(a + b) * pow(c, -d) in ("x", e:f)';
    const found: string[] = [];
    const walk = (node: ExpressionNode): void => {
      found.push(text.slice(node.start, node.end));
      if (node.kind === 'binary') [node.left, node.right].forEach(walk);
      else if (node.kind === 'unary') walk(node.operand);
      else if (node.kind === 'in') [node.operand, ...node.choices].forEach(walk);
      else if (node.kind === 'call') node.args.forEach(walk);
    };
    walk(parsed(text));
    expect(found).to.deep.equal([
      text,
      '(a + b) * pow(c, -d)',
      'a + b',
      'a',
      'b',
      'pow(c, -d)',
      'c',
      '-d',
      'd',
      '"x"',
      'e:f',
    ]);
  });

  it('lists the names that an expression uses', () => {
    const names = namesIn(parsed('if(a > 1, product.price, v:f) + a + length("b") in (c, -d.e)'));
    const text = names.map((node) =>
      node.kind === 'name'
        ? node.name
        : node.kind === 'path'
          ? node.segments.join('.')
          : `${node.view}:${node.feature}`,
    );
    expect(text).to.deep.equal(['a', 'product.price', 'v:f', 'a', 'c', 'd.e']);
  });

  it('returns a tree or a problem inside the text for any text, never an exception', () => {
    const token = fc.constantFrom(
      ...'( ) , + - * / % == < = ! & "a" \' " \\ 1 .5 1. a a.b a: a:b : . and or not in if( true ≤ 😀 \n'.split(
        ' ',
      ),
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(token).map((tokens) => tokens.join(' ')),
      fc.array(token).map((tokens) => tokens.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const result = parseExpression(text);
        if (result.ok) return;
        const { start, end } = result.problem;
        expect(start).to.be.within(0, Math.max(0, text.length - 1));
        expect(end).to.be.within(start, Math.max(1, text.length));
      }),
      { numRuns: 1000 },
    );
  });

  for (const [what, text] of [
    ['parentheses', `${'('.repeat(4000)}1${')'.repeat(4000)}`],
    ['unclosed parentheses', '('.repeat(10_000)],
    ['signs', `${'-'.repeat(5000)}1`],
    ['negations', `${'not '.repeat(2000)}a`],
    ['calls', `${'abs('.repeat(2000)}1${')'.repeat(2000)}`],
    ['a chain of sums', Array(4000).fill('1').join('+')],
    ['an overlong text', 'a'.repeat(1_000_000)],
  ] as const) {
    it(`refuses very many ${what} without a stack overflow`, () => {
      const result = parseExpression(text);
      expect(result.ok).to.equal(false);
      if (!result.ok) expect(result.problem.message).to.match(/levels|characters/);
    });
  }

  it('accepts a sum of 200 terms', () => {
    expect(parseExpression(Array(200).fill('1').join(' + ')).ok).to.equal(true);
  });
});
