import { expect } from 'chai';
import fc from 'fast-check';
import { IdList, parseIds } from '../../../../runtime/ground/core/parse-ids.js';
import { parseJson } from '../../../../runtime/ground/core/parse-json.js';
import { draws } from '../../../support/draws.js';

/** As `parseIds`, with the list as it was sent; undefined if the body is left to the parser. */
function parsed(bytes: Buffer): unknown {
  const body = parseIds(bytes, 'candidates', 'id') as Record<string, unknown> | undefined;
  if (body === undefined) return undefined;
  const list = body['candidates'];
  if (!(list instanceof IdList)) throw new Error('the list has become something else');
  const objects = list.objects();
  const isDistinct = new Set(list.ids).size === objects.length;
  if (list.isDistinct) expect(isDistinct, 'no id occurs twice').to.equal(true);
  return { ...body, candidates: objects };
}

/** A body is left to the parser, or has the parser's value. */
function expectSame(bytes: Buffer): boolean {
  const found = parsed(bytes);
  if (found === undefined) return false;
  const expected = parseJson(bytes);
  expect(found, bytes.toString()).to.deep.equal(expected);
  expect(Object.keys(found as object)).to.deep.equal(Object.keys(expected as object));
  return true;
}

const list = '[{"id":"a"},{"id":"b"}]';
const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r\n ');
const id = fc.oneof(
  { weight: 12, arbitrary: fc.stringMatching(/^[ -!#-[\]-~]{1,12}$/) },
  fc.constantFrom('', 'é', '\\"', '\\u0061', '\\\\', 'x'.repeat(1024), 'x'.repeat(1025), '\u0001', '\u007f'),
);
const element = fc.oneof(
  { weight: 30, arbitrary: id.map((text) => `{"id":"${text}"}`) },
  fc.tuple(space, space, space, space, id).map(([a, b, c, d, text]) => `${a}{${b}"id"${c}:${d}"${text}"}`),
  fc.constantFrom('{}', '{"id":1}', '{"id":"a","id":"b"}', '{"id":"a","x":1}', '{"__proto__":"a"}', '"a"'),
  fc.constantFrom('{"id":null}', '[]', '{"id":["a"]}', '{"\\u0069d":"a"}', '{"id":"a"', '{"id" "a"}', ''),
);
const candidates = fc.oneof(
  fc
    .tuple(fc.array(element, { minLength: 1, maxLength: 6 }), fc.constantFrom(',', ',', ', ', ' ,', ';'))
    .map(([elements, comma]) => `[${elements.join(comma)}]`),
  fc.constantFrom(list, '[]', '{}', '1', '[{"id":"a"},]', '[{"id":"a"}', list + list),
);
const member = fc.oneof(
  candidates.map((value) => `"candidates":${value}`),
  fc.tuple(space, space, candidates).map(([a, b, value]) => `${a}"candidates"${b}:${value}`),
  fc.json({ depthSize: 'small' }).map((value) => `"more":${value}`),
  fc.constantFrom(`"in":{"candidates":${list}}`, '"__proto__":{"a":1}', '"a\\"b":"]}"', '"n":-1.5e+3'),
  fc.constantFrom('"cand\\u0069dates":1', '"n":01', '"q":"\\ud800"', '"q":"é😀"', '"x":[[[{"y":"}"}]]]'),
  fc.constantFrom('"candidates"', '"a":', ':1', '"a" 1', '"a":tru', '"a":1 2', ''),
);
const body = fc
  .tuple(
    space,
    fc.array(member, { minLength: 1, maxLength: 4 }),
    space,
    fc.constantFrom('', '', '', '}', 'x', '{}'),
  )
  .map(([before, members, inside, after]) => `${before}{${members.join(`,${inside}`)}${inside}}${after}`);

describe('parseIds', () => {
  it('takes the ids of usual bodies from their bytes', () => {
    const value = {
      request_id: 'é"',
      candidates: [{ id: 'a' }, { id: 'b' }],
      user: { user_id: 'u1' },
      page: 0,
    };
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)])
      expect(expectSame(Buffer.from(text)), text).to.equal(true);
    const found = parseIds(Buffer.from(`{"candidates":${list}}`), 'candidates', 'id');
    const { candidates } = found as { candidates: IdList };
    expect(candidates).to.include({ key: 'id', isDistinct: true });
    expect(candidates.ids).to.deep.equal(['a', 'b']);
    const again = parseIds(Buffer.from(`{"candidates":[{"id":"b"},{"id":"a"}]}`), 'candidates', 'id');
    const [a, b] = candidates.places ?? [];
    expect(Array.from((again as { candidates: IdList }).candidates.places ?? [])).to.deep.equal([b, a]);
  });

  it('has the value of the parser, or leaves the body to it', () => {
    let taken = 0;
    fc.assert(
      fc.property(body, (text) => {
        if (expectSame(Buffer.from(text))) taken++;
      }),
      { numRuns: draws(5000) },
    );
    expect(taken, 'bodies that were taken').to.be.above(draws(5000) / 50);
  });

  it('does so for every byte of a body that is replaced, left out or doubled', () => {
    const whole = Buffer.from(
      `{"a":{"b":["é"]},"candidates":[{"id":"p1"},{"id":"p2"},{"id":"p1"}],"c":"\\n"} `,
    );
    const bytes = [
      0, 0x0a, 0x1f, 0x20, 0x22, 0x2c, 0x30, 0x3a, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x80, 0xc3, 0xff,
    ];
    expect(expectSame(whole)).to.equal(true);
    for (let at = 0; at < whole.length; at++) {
      const [before, after] = [whole.subarray(0, at), whole.subarray(at + 1)];
      for (const byte of bytes) expectSame(Buffer.concat([before, Buffer.of(byte), after]));
      expectSame(before);
      expectSame(Buffer.concat([before, after]));
      expectSame(Buffer.concat([before, whole.subarray(at, at + 1), whole.subarray(at)]));
    }
  });

  it('reads the same ids again, and says if one may occur twice', () => {
    const listOf = (ids: readonly string[]): IdList => {
      const text = JSON.stringify({ candidates: ids.map((text) => ({ id: text })) });
      const found = parseIds(Buffer.from(text), 'candidates', 'id') as { candidates: IdList } | undefined;
      if (found === undefined) throw new Error('the body was left to the parser');
      expect(found.candidates.ids).to.deep.equal(ids);
      return found.candidates;
    };
    const many = Array.from({ length: 2500 }, (_, i) => `p${i}`);
    expect(listOf(many).isDistinct).to.equal(true);
    expect(listOf(many.map((text) => text.repeat(20))).isDistinct).to.equal(true);
    expect(listOf(many).isDistinct).to.equal(true);
    expect(listOf([...many, 'p7']).isDistinct).to.equal(false);
  });

  it('leaves a body to the parser that has more beside the list than is parsed in one step', () => {
    for (const [length, isTaken] of [
      [60_000, true],
      [70_000, false],
    ] as const) {
      const more = `"more":"${'y'.repeat(length)}"`;
      for (const text of [`{${more},"candidates":${list}}`, `{"candidates":${list},${more}}`])
        expect(expectSame(Buffer.from(text)), `${length} bytes`).to.equal(isTaken);
    }
  });
});
