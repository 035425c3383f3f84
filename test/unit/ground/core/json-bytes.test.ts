import { expect } from 'chai';
import fc from 'fast-check';
import { JsonBytes } from '../../../../runtime/ground/core/json-bytes.js';
import { valueAt } from '../../../../runtime/ground/core/value-at.js';

/** All paths to values in a value. */
function* pathsIn(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* pathsIn(inner, [...path, key]);
}

describe('JsonBytes', () => {
  it('finds what JSON.parse finds, at every path', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const json = new JsonBytes(Buffer.from(` ${text} `));
        for (const path of pathsIn(value)) {
          // A key with an escape is not found.
          if (path.some((key) => JSON.stringify(key) !== `"${key}"` || key === '__proto__')) continue;
          const span = json.find(path);
          expect(span && json.value(span)).to.deep.equal(JSON.parse(JSON.stringify(valueAt(value, path))));
        }
      }),
    );
  });

  it('finds the items of a list, as they are written', () => {
    const text = '{"a":[ 1.0 ,{"b":"]}\\\\\\"["},12345678901234567890,[],"x" ]}';
    const json = new JsonBytes(Buffer.from(text));
    const list = json.find(['a']);
    const ends = list === undefined ? [] : json.items(list);
    const items = Array.from({ length: ends.length / 2 }, (_, at) =>
      text.slice(ends[2 * at], ends[2 * at + 1]),
    );
    expect(items).to.deep.equal(['1.0', '{"b":"]}\\\\\\"["}', '12345678901234567890', '[]', '"x"']);
  });

  it('finds nothing where there is nothing', () => {
    const json = new JsonBytes(Buffer.from('{"a":[],"b":{},"c":1,"ü":2}'));
    for (const path of [['x'], ['a', '0'], ['b', 'x'], ['c', 'x'], ['c', '0'], ['a', 'x'], ['toString']])
      expect(json.find(path), path.join('.')).to.equal(undefined);
    expect(json.find(['ü'])).to.not.equal(undefined);
  });

  it('throws, and never loops, if a text ends early', () => {
    const text = '{"a": [1, {"b": "c\\"d"}, true], "e": -1.5e3}';
    for (let length = 0; length < text.length; length++) {
      const json = new JsonBytes(Buffer.from(text.slice(0, length)));
      for (const path of [['e'], ['a', '1', 'b'], ['a']])
        try {
          const span = json.find(path);
          if (span !== undefined) json.items(span);
        } catch (error) {
          expect(error).to.be.instanceOf(SyntaxError);
        }
    }
  });
});
