import { expect } from 'chai';
import type { JsonObject } from '../../../../runtime/ground/api/types.js';
import {
  checkOptions,
  type CheckedOptions,
} from '../../../../runtime/project/config/project/check-options.js';
import { compileSchema } from '../../../../runtime/project/config/project/check-shape.js';
import { Diagnostics, type Diagnostic } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import { SourceFile, spanWithin, type Span } from '../../../../runtime/project/config/yaml/source.js';
import { memberOf } from '../../../../runtime/project/config/yaml/tree.js';
import { parseYaml } from '../../../../runtime/project/config/yaml/yaml-document.js';

interface Checked {
  readonly options: CheckedOptions | undefined;
  readonly told: readonly Diagnostic[];
}

function check(properties: JsonObject, yaml: string, more: JsonObject = {}): Checked {
  const diagnostics = new Diagnostics();
  const file = new SourceFile('pipelines/p.yaml', yaml);
  const root = parseYaml(file, { TOKEN: 'secret' }, diagnostics);
  expect(diagnostics.all).to.deep.equal([]);
  const schema = { type: 'object', properties, additionalProperties: false, ...more };
  const at = { file, start: 0, end: 4 };
  const options = checkOptions(memberOf(root, 'with'), schema, diagnostics, at);
  return { options, told: diagnostics.all };
}

function sound(properties: JsonObject, yaml: string, more: JsonObject = {}): CheckedOptions {
  const { options, told } = check(properties, yaml, more);
  expect(told).to.deep.equal([]);
  if (options === undefined) throw new Error('no options');
  return options;
}

const written = ({ file, start, end }: Span): string => file.text.slice(start, end);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('checkOptions', () => {
  it('reads marked strings from the source, whatever type YAML gives them', () => {
    const id = { millrace: 'id' };
    const ids = { type: 'array', items: id };
    const yaml =
      'with:\n  ids: [0042, 1e3, true, no, null, 2024-01-01, ~, "a b", 0x1F]\n  value: 1\n  keep: true';
    const { value } = sound({ ids, value: { millrace: 'number' }, keep: { millrace: 'bool' } }, yaml);
    expect(plain(value)).to.deep.equal({
      ids: ['0042', '1e3', 'true', 'no', 'null', '2024-01-01', '~', 'a b', '0x1F'],
      value: '1',
      keep: 'true',
    });
  });

  it('reads unmarked values as YAML defines them', () => {
    const any = {};
    const yaml = 'with: { i: 12, f: 1.5e2, t: yes, b: false, s: "1", n: null, l: [1, a] }';
    const { value } = sound({ i: any, f: any, t: any, b: any, s: any, n: any, l: any }, yaml);
    expect(plain(value)).to.deep.equal({ i: 12, f: 150, t: 'yes', b: false, s: '1', n: null, l: [1, 'a'] });
  });

  it('handles every key safely', () => {
    const open = { type: 'object', additionalProperties: { type: 'integer' } };
    const { value } = sound({ open }, 'with: { open: { __proto__: 1, constructor: 2, toString: 3 } }');
    const inner = value['open'] as JsonObject;
    expect(Object.keys(inner)).to.deep.equal(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(inner)).to.equal(null);
    expect(Object.getPrototypeOf({})).to.equal(Object.prototype);
    const { told } = check({ a: {} }, 'with: { __proto__: 1, constructor: 2 }');
    expect(told.map(({ code }) => code)).to.deep.equal(['unknown_key', 'unknown_key']);
  });

  it('does not treat an inherited name as an existing key', () => {
    const { told } = check({ toString: {} }, 'with: {}', { required: ['toString'] });
    expect(told.map(({ code }) => code)).to.deep.equal(['missing_key']);
  });

  it('fills in defaults, and marks them too', () => {
    const properties = {
      value: { millrace: 'number', default: 'product.price' },
      k1: { type: 'number', default: 1.2 },
    };
    for (const yaml of ['use: x', 'with: {}']) {
      const { value, marks, locate } = sound(properties, yaml);
      expect(plain(value)).to.deep.equal({ value: 'product.price', k1: 1.2 });
      expect(marks.map(({ path, text }) => [path, text.value])).to.deep.equal([[['value'], 'product.price']]);
      expect(written(locate(['value']))).to.equal(yaml === 'use: x' ? 'use:' : '{}');
      const [mark] = marks;
      if (mark !== undefined) expect(spanWithin(mark.text, 0, 3)).to.deep.equal(mark.text.at);
    }
  });

  it('returns each mark with its kind, type and scope', () => {
    const properties = {
      a: { millrace: 'text' },
      b: { millrace: { expression: 'bool', scope: 'request' } },
      c: { millrace: { expression: 'texts' } },
      d: { millrace: 'id' },
      e: { millrace: 'file' },
      f: { millrace: { expression: 'vector', scope: 'any' } },
    };
    const { marks } = sound(properties, 'with: { a: x, b: y, c: z, d: 1, e: models/a.txt, f: v }');
    expect(marks.map(({ mark }) => mark)).to.deep.equal([
      { kind: 'expression', type: 'text', scope: 'candidate' },
      { kind: 'expression', type: 'bool', scope: 'request' },
      { kind: 'expression', type: 'texts', scope: 'candidate' },
      { kind: 'id' },
      { kind: 'file' },
      { kind: 'expression', type: 'vector', scope: 'any' },
    ]);
  });

  it('marks keys, with their places', () => {
    const weights = {
      type: 'object',
      propertyNames: { millrace: 'number' },
      additionalProperties: { type: 'number' },
    };
    const { marks } = sound(
      { weights },
      'with:\n  weights:\n    "log1p(x:y)": 2\n    product.price: -1\n    3: 0.5',
    );
    expect(marks.map(({ inKey, text }) => [inKey, text.value, written(text.at)])).to.have.deep.members([
      [true, 'log1p(x:y)', 'log1p(x:y)'],
      [true, 'product.price', 'product.price'],
      [true, '3', '3'],
    ]);
  });

  it('finds marks in lists, nested mappings, references and alternatives', () => {
    const properties = {
      rules: { type: 'array', items: { $ref: '#/$defs/rule' } },
      value: { anyOf: [{ millrace: 'number' }, { type: 'array', items: { millrace: 'number' } }] },
    };
    const $defs = {
      rule: { type: 'object', properties: { where: { millrace: 'bool' } }, additionalProperties: false },
    };
    const yaml = 'with: { rules: [{ where: a }, { where: 1 }], value: [b, 2] }';
    const { marks } = sound(properties, yaml, { $defs });
    expect(marks.map(({ path, text }) => [path.join('.'), text.value])).to.deep.equal([
      ['rules.0.where', 'a'],
      ['rules.1.where', '1'],
      ['value.0', 'b'],
      ['value.1', '2'],
    ]);
  });

  it('maps a place in an expression to the file, if the file contains the text unchanged', () => {
    const properties = { a: { millrace: 'any' } };
    const place = (yaml: string): string => {
      const [mark] = sound(properties, yaml).marks;
      if (mark === undefined) throw new Error('no mark');
      const start = mark.text.value.indexOf('pricee');
      return written(spanWithin(mark.text, start, start + 6));
    };
    expect(place('with: { a: product.pricee > 0 }')).to.equal('pricee');
    expect(place("with: { a: 'product.pricee > 0' }")).to.equal('pricee');
    expect(place('with: { a: "product.pricee" }')).to.equal('pricee');
    expect(place("with: { a: 'it''s pricee' }")).to.equal("'it''s pricee'");
    expect(place('with:\n  a: >\n    product.pricee\n    > 0\n')).to.match(/^>\n {4}product/);
    expect(place('with:\n  a: product.pricee\n    > 0\n')).to.equal('product.pricee\n    > 0');
    expect(place('with: { a: "pricee ${TOKEN}" }')).to.equal('"pricee ${TOKEN}"');
  });

  it('locates values, or the nearest ancestor that the file contains', () => {
    const properties = { a: { type: 'object', properties: { b: { type: 'array', items: {} } } }, c: {} };
    const { locate } = sound(properties, 'with:\n  a: { b: [x, y] }');
    expect(written(locate(['a', 'b', 1]))).to.equal('y');
    expect(written(locate(['a', 'b', '1']))).to.equal('y');
    expect(written(locate(['a', 'b', 7]))).to.equal('[x, y]');
    expect(written(locate(['c', 'd']))).to.equal('a');
    expect(written(locate(['__proto__']))).to.equal('a');
  });

  it('returns frozen values', () => {
    const { value, marks } = sound({ l: { type: 'array', items: {} } }, 'with: { l: [1] }');
    expect(Object.isFrozen(value)).to.equal(true);
    expect(Object.isFrozen(value['l'])).to.equal(true);
    expect(Object.isFrozen(marks)).to.equal(true);
  });

  it('applies the defaults of a step only to that step', () => {
    const properties = { list: { type: 'array', items: {}, default: [] } };
    const schema = { type: 'object', properties };
    const file = new SourceFile('p.yaml', 'use: x');
    const at = { file, start: 0, end: 3 };
    const once = checkOptions(undefined, schema, new Diagnostics(), at);
    const again = checkOptions(undefined, schema, new Diagnostics(), at);
    expect(once?.value['list']).to.not.equal(again?.value['list']);
  });

  describe('reports each mistake once', () => {
    const rule = {
      type: 'object',
      properties: { where: { millrace: 'bool' }, by: { enum: ['add', 'multiply'] } },
      required: ['where'],
      additionalProperties: false,
    };
    const properties = {
      value: { millrace: 'number' },
      either: { anyOf: [{ millrace: 'number' }, rule] },
      rules: { type: 'array', items: rule, minItems: 1, maxItems: 2 },
      positions: {
        type: 'object',
        propertyNames: { pattern: '^[1-9][0-9]*$', title: 'a position' },
        additionalProperties: { millrace: 'id' },
        minProperties: 1,
      },
      k1: { type: 'number', exclusiveMinimum: 0, maximum: 10 },
      mode: { enum: ['keep', 'drop'] },
      flag: { type: 'boolean' },
      text: { type: 'string', minLength: 1 },
      unique: { type: 'array', items: {}, uniqueItems: true },
    };
    const MISTAKES: readonly (readonly [string, string, string, RegExp, RegExp?])[] = [
      ['valeu: 1', 'unknown_key', 'valeu', /`valeu` is not allowed/, /`value`/],
      ['value:', 'wrong_type', 'value', /expected an expression, found nothing/],
      ['value: [1]', 'wrong_type', '[1]', /expected an expression, found a list/],
      ['value: { score: }', 'wrong_type', '{ score: }', /found a mapping/, /`score`/],
      ['value: ""', 'wrong_type', '""', /expected an expression/],
      ['either: [1]', 'wrong_type', '[1]', /an expression or a mapping, found a list/],
      ['either: { wher: x, where: y }', 'unknown_key', 'wher', /`wher`/, /`where`/],
      ['either: { by: add }', 'missing_key', 'either', /`where` is missing/],
      [
        'rules: [{ where: x, by: mutiply }]',
        'wrong_type',
        'mutiply',
        /`add` or `multiply`/,
        /did you mean `multiply`/,
      ],
      ['rules: []', 'wrong_type', '[]', /must not be empty/],
      [
        'rules: [{ where: a }, { where: a }, { where: a }]',
        'wrong_type',
        '[{ where: a }, { where: a }, { where: a }]',
        /at most 2 items/,
      ],
      ['rules: [x]', 'wrong_type', 'x', /item 1 of `rules`: expected a mapping, found the text x/],
      ['positions: { 0: p1 }', 'wrong_type', '0', /a position/],
      ['positions: {}', 'wrong_type', '{}', /must not be empty/],
      ['k1: 0', 'wrong_type', '0', /more than 0, found 0/],
      ['k1: 11', 'wrong_type', '11', /at most 10, found 11/],
      ['k1: "1"', 'wrong_type', '"1"', /expected a number, found the text "1"/],
      ['k1: .inf', 'wrong_type', '.inf', /expected a number/],
      ['k1: .nan', 'wrong_type', '.nan', /expected a number/],
      ['mode: dorp', 'wrong_type', 'dorp', /`keep` or `drop`/, /`drop`/],
      ['flag: yes', 'wrong_type', 'yes', /true or false, found the text yes/],
      ['text: 12', 'wrong_type', '12', /expected a text, found the number 12/, /"12"/],
      ['text: ""', 'wrong_type', '""', /must not be empty/],
      ['unique: [a, b, a]', 'wrong_type', '[a, b, a]', /items 1 and 3 are the same/],
    ];
    for (const [yaml, code, place, message, help] of MISTAKES) {
      it(yaml, () => {
        const { options, told } = check(properties, `with:\n  ${yaml}`);
        expect(options).to.equal(undefined);
        expect(told.map((one) => one.message)).to.have.length(1);
        const [one] = told;
        if (one === undefined) throw new Error('nothing told');
        expect(one.code).to.equal(code);
        expect(one.message).to.match(message);
        expect(written(one.at)).to.equal(place);
        if (help !== undefined) expect(one.help ?? '').to.match(help);
      });
    }

    it('reports the step if there is no `with`', () => {
      const { told } = check(properties, 'use: boost', { required: ['value'] });
      expect(told.map(({ message, at }) => [message, written(at)])).to.deep.equal([
        ['the key `value` is missing', 'use:'],
      ]);
    });
  });

  it('never shows the value of a variable', () => {
    const { told } = check(
      { port: { type: 'integer' }, mode: { enum: ['a'] } },
      'with: { port: "${TOKEN}", mode: "${TOKEN}" }',
    );
    expect(told).to.have.length(2);
    for (const { message, help = '' } of told) expect(message + help).to.not.include('secret');
  });
});

describe('compileSchema', () => {
  it('rejects unknown marks', () => {
    for (const mark of ['nubmer', 7, { expression: 'bool', scope: 'row' }, { scope: 'request' }])
      expect(
        () => compileSchema({ type: 'object', properties: { a: { millrace: mark } } }),
        JSON.stringify(mark),
      ).to.throw();
  });

  it('rejects keywords that JSON Schema does not define', () => {
    expect(() => compileSchema({ type: 'object', propertys: {} })).to.throw(/propertys/);
  });
});
