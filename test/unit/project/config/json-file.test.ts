import { expect } from 'chai';
import fc from 'fast-check';
import { isMap, isScalar, isSeq, parseDocument, type Node } from 'yaml';
import type { JsonValue } from '../../../../runtime/ground/api/types.js';
import { jsonFile } from '../../../../runtime/project/config/yaml/json-file.js';

/** What the readers of a file see of a node: its kind, its place, its source and its parts. */
function seenOf(node: Node | null): unknown {
  if (node === null) return null;
  const range = node.range?.slice(0, 2);
  if (isScalar(node)) return { range, value: node.value, source: node.source, type: node.type };
  if (isSeq<Node>(node)) return { range, flow: node.flow, items: node.items.map(seenOf) };
  if (isMap<Node, Node | null>(node))
    return {
      range,
      flow: node.flow,
      items: node.items.map(({ key, value }) => [seenOf(key), seenOf(value)]),
    };
  throw new Error('no such node');
}

describe('a file of JSON', () => {
  it('has the nodes that the parser of YAML makes of its text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const { file, root, tooDeep } = jsonFile('f.yaml', value as JsonValue);
        expect(file.text).to.equal(JSON.stringify(value, null, 1));
        expect(tooDeep).to.equal(undefined);
        const parsed = parseDocument(file.text, { version: '1.2', merge: false, uniqueKeys: false });
        expect(seenOf(root)).to.deep.equal(seenOf(parsed.contents));
      }),
    );
  });

  it('says where it is nested too deeply', () => {
    const nested = (levels: number): JsonValue =>
      JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as JsonValue;
    expect(jsonFile('f.yaml', nested(64)).tooDeep).to.equal(undefined);
    const { file, tooDeep = -1 } = jsonFile('f.yaml', nested(5000));
    expect(file.text.slice(0, tooDeep).split('[')).to.have.length(65);
  });
});
