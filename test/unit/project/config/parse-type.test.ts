import { expect } from 'chai';
import fc from 'fast-check';
import { typeText, type ListElementType, type ValueType } from '../../../../runtime/ground/api/types.js';
import { Diagnostics } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import { readType, type TypeContext } from '../../../../runtime/project/config/project/parse-type.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import { memberOf } from '../../../../runtime/project/config/yaml/tree.js';
import { parseYaml } from '../../../../runtime/project/config/yaml/yaml-document.js';

function read(written: string): {
  type: ValueType | undefined;
  context: TypeContext;
  diagnostics: Diagnostics;
} {
  const diagnostics = new Diagnostics();
  const context = { diagnostics, references: [] };
  const file = new SourceFile('schemas/entities/e.yaml', `type: ${written}`);
  const root = parseYaml(file, {}, diagnostics);
  const at = { file, start: 0, end: 4 };
  return { type: readType(at, memberOf(root, 'type'), context), context, diagnostics };
}

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/);
const { type } = fc.letrec<{ type: ValueType; fields: ReadonlyMap<string, ValueType> }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('int', 'float', 'bool', 'string', 'timestamp').map((kind): ValueType => ({ kind })),
    fc.integer({ min: 1, max: 16_384 }).map((size): ValueType => ({ kind: 'vector', size })),
    name.map((entity): ValueType => ({ kind: 'ref', entity })),
    fc.constant<ValueType>({ kind: 'list', of: { kind: 'string' } }),
    name.map((entity): ValueType => ({ kind: 'list', of: { kind: 'ref', entity } })),
    tie('fields').map((of): ValueType => ({
      kind: 'list',
      of: { kind: 'record', fields: of } satisfies ListElementType,
    })),
  ),
  // The suffix prevents a field `x_id` from conflicting with a reference `x`.
  fields: fc
    .uniqueArray(
      fc.tuple(
        name.map((one) => `${one}_f`),
        tie('type'),
      ),
      { selector: ([key]) => key, minLength: 1, maxLength: 3 },
    )
    .map((entries) => new Map(entries)),
}));

describe('readType', () => {
  it('reads the output of typeText', () => {
    fc.assert(
      fc.property(type, (written) => {
        const { type: found, diagnostics } = read(typeText(written));
        expect(diagnostics.all).to.deep.equal([]);
        expect(found).to.deep.equal(written);
      }),
    );
  });

  it('accepts spaces inside parentheses, and quotes', () => {
    expect(read('list( ref( brand ) )').type).to.deep.equal({
      kind: 'list',
      of: { kind: 'ref', entity: 'brand' },
    });
    expect(read('list(float)').type).to.deep.equal({ kind: 'list', of: { kind: 'float' } });
    expect(read('"vector(8)"').type).to.deep.equal({ kind: 'vector', size: 8 });
  });

  it('reads an inline record', () => {
    expect(read('{ record: { width: float } }').type).to.deep.equal({
      kind: 'record',
      fields: new Map([['width', { kind: 'float' }]]),
    });
  });

  it('keeps the place of every reference', () => {
    const { context } = read('{ list: { seller: ref(seller), maker: "ref(brand)" } }');
    expect(
      context.references.map(({ entity, at }) => [entity, at.file.text.slice(at.start, at.end)]),
    ).to.deep.equal([
      ['seller', 'seller'],
      ['brand', 'brand'],
    ]);
  });

  const WRONG: readonly (readonly [string, RegExp])[] = [
    ['integer', /`int`/],
    ['Float', /`float`/],
    ['boolean', /`bool`/],
    ['tiemstamp', /`timestamp`/],
    ['string[]', /list\(string\)/],
    ['list[string]', /list\(string\)/],
    ['list', /list\(string\)/],
    ['ref', /ref\(brand\)/],
    ['string?', /`string`/],
    ['str?', /`string`/],
    ['list(str)', /`string`/],
    ['list[str]', /`list\(string\)`/],
    ['List[float]', /`list\(float\)`/],
    ['float[]', /`list\(float\)`/],
    ['Array(Text)', /`list\(string\)`/],
    ['array<ref(brand)>', /`list\(ref\(brand\)\)`/],
    ['lists', /`list\(string\)`/],
    ['vektor', /`vector\(64\)`/],
    ['vector[32]', /`vector\(32\)`/],
    ['embedding', /`vector\(64\)`/],
    ['reff(brand)', /`ref\(brand\)`/],
    ['dict', /record/],
    ['records', /record/],
    ['int64', /`int`/],
    ['varchar(255)', /`string`/],
    ['decimal(10,2)', /`float`/],
    ['optional(str)', /`string`/],
    ['Optional[int]', /`int`/],
    ['optionl', /types are/],
    ['{ list: str }', /`list\(string\)`/],
    ['{ list: float }', /`list\(float\)`/],
    ['{ str: }', /`string`/],
    ['vector(1.5)', /vector\(64\)/],
    ['vector(-1)', /vector\(64\)/],
    ['vector(20000)', /vector\(64\)/],
    ['list(list(string))', /list\(string\)/],
    ['list(int)', /`list\(float\)`/],
    ['lst(string)', /`list\(string\)`/],
    ['__proto__', /types are/],
    ['constructor', /types are/],
    ['7', /types are/],
    ['""', /types are/],
  ];
  for (const [written, help] of WRONG) {
    it(`helps with ${written}`, () => {
      const { type: found, diagnostics } = read(written);
      expect(found).to.equal(undefined);
      expect(diagnostics.all).to.have.length(1);
      expect(diagnostics.all[0]?.code).to.equal('invalid_type');
      const told = diagnostics.all[0]?.help ?? '';
      expect(told).to.match(help);
      for (const [, suggested = ''] of told.matchAll(/`([^`]+)`/g))
        expect(read(suggested).diagnostics.all, suggested).to.deep.equal([]);
    });
  }
});
