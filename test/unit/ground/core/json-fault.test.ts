import { expect } from 'chai';
import fc from 'fast-check';
import { findJsonFault, lineAndColumn } from '../../../../runtime/ground/core/json-fault.js';

describe('findJsonFault', () => {
  const faults: readonly [string, number, string][] = [
    ['', 0, 'a value'],
    ['{', 1, 'a name in double quotes or }'],
    ['{"a":1,}', 7, 'a name in double quotes'],
    ["{'a':1}", 1, 'a name in double quotes or }'],
    ['{"a" 1}', 5, 'a colon after the name'],
    ['[1 2]', 3, 'a comma or ]'],
    ['[1,]', 3, 'a value'],
    ['[01]', 2, 'a comma or ]'],
    ['{"a":tru}', 5, 'a value'],
    ['{"a":1]', 6, 'a comma or }'],
    ['1 2', 2, 'nothing after the document'],
    ['"\\x"', 1, 'a valid JSON escape sequence'],
    ['"\t"', 1, 'an escape sequence instead of a raw control character'],
    ['"abc', 4, 'the closing quote of a string'],
    ['[-]', 1, 'a value'],
  ];
  for (const [text, offset, expected] of faults) {
    it(`finds the error in ${JSON.stringify(text)}`, () => {
      expect(findJsonFault(text)).to.deep.equal({ offset, expected });
    });
  }

  it('finds no error in valid JSON, with any white space', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\t', '\n'), (text, space) => {
        expect(findJsonFault(space + JSON.stringify(JSON.parse(text), null, space) + space)).to.equal(
          undefined,
        );
        expect(findJsonFault(text)).to.equal(undefined);
      }),
    );
  });

  it('finds an error exactly if JSON.parse does', () => {
    const nearJson = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', '"', '\\', ',', ':', '[', ']', '{', '}', '0', '-', 'e', '.', '\u00a0'),
      )
      .map(([text, at, extra]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + extra + text.slice(place + 1);
      });
    fc.assert(
      fc.property(fc.oneof(nearJson, fc.string()), (text) => {
        expect(findJsonFault(text) === undefined, JSON.stringify(text)).to.equal(parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('handles any depth', () => {
    expect(findJsonFault('['.repeat(1_000_000))?.offset).to.equal(1_000_000);
  });
});

describe('lineAndColumn', () => {
  it('counts both from 1', () => {
    expect(lineAndColumn('', 0)).to.deep.equal({ line: 1, column: 1 });
    expect(lineAndColumn('ab\ncd\n', 4)).to.deep.equal({ line: 2, column: 2 });
    expect(lineAndColumn('ab\ncd\n', 6)).to.deep.equal({ line: 3, column: 1 });
    expect(lineAndColumn('ab\ncd\n', 2)).to.deep.equal({ line: 1, column: 3 });
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
