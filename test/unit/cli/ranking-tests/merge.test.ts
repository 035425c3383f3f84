import { expect } from 'chai';
import * as fc from 'fast-check';
import { parseDocument, type Node } from 'yaml';
import type { JsonValue } from '../../../../runtime/ground/api/types.js';
import { isJsonObject } from '../../../../runtime/ground/core/value-fit.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import { mergeExpect, mergeGiven, mergeOver } from '../../../../runtime/cli/ranking-tests/files/merge.js';
import { placeAt, placed, plain, type Placed } from '../../../../runtime/cli/ranking-tests/files/placed.js';

function read(text: string): Placed {
  const file = new SourceFile('tests/t.yaml', text);
  return placed(file, parseDocument(text).contents as Node, { file, start: 0, end: 0 });
}

/** JSON Merge Patch, as RFC 7386 has it in section 2. */
function patch(target: JsonValue | undefined, over: JsonValue): JsonValue {
  if (!isJsonObject(over)) return over;
  const result = new Map(Object.entries(target !== undefined && isJsonObject(target) ? target : {}));
  for (const [key, value] of Object.entries(over)) {
    if (value === null) result.delete(key);
    else result.set(key, patch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/** Without nulls, which a patch cannot add. */
const VALUES: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(1, 'a', true),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { noNullPrototype: true }),
  ),
})).value;

const MAPS = fc.dictionary(fc.constantFrom('a', 'b', 'c'), VALUES, { noNullPrototype: true });

describe('a case, merged over its file', () => {
  it('follows RFC 7386', () => {
    fc.assert(
      fc.property(MAPS, MAPS, fc.subarray(['a', 'b', 'c']), (above, over, removed) => {
        const nulls = Object.fromEntries(removed.filter((key) => key in above).map((key) => [key, null]));
        const merged = mergeOver(read(JSON.stringify(above)), read(JSON.stringify({ ...over, ...nulls })));
        expect(JSON.parse(JSON.stringify(merged && plain(merged)))).to.deep.equal(
          patch(above, { ...over, ...nulls }),
        );
      }),
    );
  });

  it('keeps the place of every value', () => {
    const merged = mergeOver(read('{ a: { b: 1 } }'), read('{ a: { c: [2, 3] } }'));
    if (merged === undefined) throw new Error('nothing was merged');
    const textAt = (pointer: string): string => {
      const { file, start, end } = placeAt(merged, pointer).at;
      return file.text.slice(start, end);
    };
    expect([textAt('/a/b'), textAt('/a/c/1'), textAt('/a/c/7')]).to.deep.equal(['1', '3', '[2, 3]']);
  });

  it('merges entities and rows by their keys', () => {
    const merged = mergeGiven(
      read(
        '{ entities: { product: [{ id: 1, price: 2, stock: 3 }, { id: 2 }] }, features: { v: [{ u: 1, b: 1, n: 1 }] } }',
      ),
      read(
        '{ entities: { product: [{ id: 3 }, { id: 1, price: 9, stock: null }] }, features: { v: [{ u: 1, b: 2, n: 2 }] } }',
      ),
      (part) => (part === 'entities' ? ['id'] : ['u', 'b']),
    );
    expect(JSON.parse(JSON.stringify(merged && plain(merged)))).to.deep.equal({
      entities: { product: [{ id: 1, price: 9 }, { id: 2 }, { id: 3 }] },
      features: {
        v: [
          { u: 1, b: 1, n: 1 },
          { u: 1, b: 2, n: 2 },
        ],
      },
    });
  });

  it('replaces and removes whole expectations', () => {
    const merged = mergeExpect(
      read('{ scores: { a: 1 }, order: [a], moved: { a: [] } }'),
      read('{ scores: { b: 2 }, order: null, score: null }'),
    );
    expect(JSON.parse(JSON.stringify(merged && plain(merged)))).to.deep.equal({
      scores: { b: 2 },
      moved: { a: [] },
      score: null,
    });
  });
});
