import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { JsonList } from '../../../../runtime/ground/core/json-list.js';
import {
  MOST_UNIT_BYTES,
  MOST_UNIT_PARTS,
  MOST_UNIT_VALUES,
  parseLarge,
} from '../../../../runtime/ground/core/large-json.js';
import { parseJson } from '../../../../runtime/ground/core/parse-json.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { draws } from '../../../support/draws.js';

/** What came of a body: its value, or the error that it is answered with. */
type Outcome = { readonly value: unknown } | { readonly code: string; readonly message: string };

function outcomeOf(parse: () => unknown): Outcome {
  try {
    return { value: parse() };
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    return { code: error.code, message: error.message };
  }
}

/** As `parseLarge`, with its list parsed too. */
function parsed(bytes: Buffer, isWhole: boolean): unknown {
  const listName = 'list';
  const body = atOnce(parseLarge(bytes, listName));
  if (typeof body !== 'object' || body === null) return body;
  const fields = body as Record<string, unknown>;
  const list = Object.hasOwn(fields, listName) ? fields[listName] : undefined;
  if (list instanceof JsonList) {
    const elements = isWhole ? atOnce(list.whole()) : [...list];
    expect(elements).to.have.lengthOf(list.length);
    fields[listName] = elements;
  }
  return fields;
}

function expectSame(bytes: Buffer): void {
  const shown = bytes.length > 1000 ? '' : bytes.toString('utf8');
  const expected = outcomeOf(() => parseJson(bytes));
  for (const isWhole of [false, true])
    expect(
      outcomeOf(() => parsed(bytes, isWhole)),
      shown,
    ).to.deep.equal(expected);
}

function refusal(body: string): Outcome {
  return outcomeOf(() => parsed(Buffer.from(body), false));
}

/** JSON texts with the spellings that a parser may get wrong. */
const scalar = fc.oneof(
  fc.constantFrom('0', '-0', '1e400', '-1E+2', '0.5e-3', '9007199254740993', 'true', 'false', 'null'),
  fc.constantFrom('"\\ud800"', '"\\u0000"', '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"é😀"', '""', '"]}"'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
);
const name = fc.constantFrom(
  '"list"',
  '"\\u006cist"',
  '"lis"',
  '"list2"',
  '"__proto__"',
  '"1"',
  '"toString"',
  '""',
);
const space = fc.constantFrom('', '', ' ', '\n', '\r\n\t');
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc
      .tuple(fc.array(tie('value'), { maxLength: 5 }), space)
      .map(([all, gap]) => `[${gap}${all.join(`${gap},`)}${gap}]`),
    fc
      .tuple(fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }), space)
      .map(
        ([all, gap]) =>
          `{${gap}${all.map(([key, one]) => `${key}${gap}:${gap}${one}`).join(`,${gap}`)}${gap}}`,
      ),
  ),
}));
const document = fc.oneof(
  value,
  fc
    .array(fc.tuple(name, value), { maxLength: 6 })
    .map((all) => `{${all.map(([key, one]) => `${key}:${one}`).join(',')}}`),
  fc
    .array(value, { maxLength: 8 })
    .map((all) => `{"before":[{}],"list":[${all.join(' , ')}],"after":{"list":[1]}}`),
);
const broken = fc
  .tuple(
    document,
    fc.nat(),
    fc.constantFrom(
      '',
      '"',
      '\\',
      ',',
      ':',
      '[',
      ']',
      '{',
      '}',
      '0',
      '-',
      'e',
      '.',
      '\u00a0',
      '\u0001',
      '\ufeff',
      '\n',
    ),
    fc.constantFrom(0, 1, 3),
  )
  .map(([text, at, extra, cut]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + extra + text.slice(place + cut);
  });

describe('parseLarge', () => {
  it('gives the value or the problem that parsing in one piece gives', () => {
    fc.assert(
      fc.property(
        fc.oneof(document, broken, fc.string({ unit: 'binary' })),
        fc.boolean(),
        (text, hasMark) => {
          if (text !== '') expectSame(Buffer.from(hasMark ? `\ufeff${text}` : text));
        },
      ),
      { numRuns: draws(1200) },
    );
  });

  it('does so for bytes that are no UTF-8', () => {
    fc.assert(
      fc.property(broken, fc.nat(), fc.constantFrom(0x80, 0xc3, 0xff), (text, at, byte) => {
        const bytes = Buffer.from(`${text} `);
        bytes[at % bytes.length] = byte;
        expectSame(bytes);
      }),
      { numRuns: 500 },
    );
  });

  it('does so for lists of many groups, and for elements larger than a group', () => {
    const long = JSON.stringify('x\n'.repeat(30_000));
    for (const elements of [
      Array.from({ length: 20_000 }, (_, i) => `{"id":${i},"name":"é${i}"}`),
      [long, '1', long, long, '{}', '[]'],
      Array.from({ length: 100_000 }, () => '1'),
    ]) {
      expectSame(Buffer.from(`{"a":1,"list":[${elements.join(',')}],"b":[2]}`));
      expectSame(Buffer.from(`{"a":1,"list":[${elements.join(',')},],"b":[2]}`));
      expectSame(Buffer.from(`{"a":1,"list":[${elements.join(', ')}`));
    }
  });

  it('keeps the last field of a name, list or not', () => {
    for (const body of [
      '{"list":[1],"list":[2]}',
      '{"list":[1],"list":null}',
      '{"list":null,"list":[3,4]}',
      '{"list":[1],"\\u006cist":{"list":[5]}}',
      '{"x":{"list":[1]},"list":"no"}',
      '[{"list":[1]}]',
    ])
      expectSame(Buffer.from(body));
  });

  it('bounds the bytes of each element, and of what is beside the list', () => {
    const text = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
    expectSame(Buffer.from(`{"list":[1,${text(MOST_UNIT_BYTES)},${text(MOST_UNIT_BYTES)}]}`));
    expect(refusal(`{"list":[1,${text(MOST_UNIT_BYTES + 1)}]}`)).to.deep.equal({
      code: 'invalid_body',
      message: 'The body at /list/1: an element has at most 1048576 bytes, found 1048577',
    });
    const beside = `{"a":${text(MOST_UNIT_BYTES)},"list":[]}`;
    expect(refusal(beside)).to.deep.equal({
      code: 'invalid_body',
      message: `The body: what a body has beside list has at most 1048576 bytes, found ${beside.length - 2}`,
    });
  });

  it('bounds names, lists and objects', () => {
    const names = (count: number): string =>
      `{${Array.from({ length: count - 1 }, (_, i) => `"n${i}":1`).join(',')}}`;
    expectSame(Buffer.from(`{"list":[${names(MOST_UNIT_PARTS)},${names(MOST_UNIT_PARTS)}]}`));
    expect(refusal(`{"list":[{},${names(MOST_UNIT_PARTS + 1)}]}`)).to.deep.equal({
      code: 'invalid_body',
      message: 'The body at /list/1: an element has at most 10000 names, lists and objects, found 10001',
    });
    expect(refusal(`{"a":[${'[],'.repeat(20_000)}1]}`)).to.deep.equal({
      code: 'invalid_body',
      message:
        'The body: what a body has beside list has at most 10000 names, lists and objects, found 20003',
    });
  });

  it('bounds the length of a number', () => {
    for (const number of ['9'.repeat(3_000_000), `0.${'9'.repeat(3_000_000)}`, `1e${'9'.repeat(3_000_000)}`])
      for (const body of [number, `{"list":[1,${number}]}`, `{"list":[1,${number}`]) {
        const found = refusal(body);
        expect(found).to.have.property('code', 'invalid_body');
        expect(JSON.stringify(found)).to.match(/characters|2 violations/);
      }
  });

  it('bounds values', () => {
    const values = (count: number): string => `[${'1,'.repeat(count - 2)}1]`;
    expectSame(Buffer.from(`{"list":[${values(MOST_UNIT_VALUES)},${values(MOST_UNIT_VALUES)}]}`));
    expect(refusal(`{"list":[1,${values(MOST_UNIT_VALUES + 1)}]}`)).to.deep.equal({
      code: 'invalid_body',
      message: 'The body at /list/1: an element has at most 100000 values, found 100001',
    });
  });

  it('bounds depth, and says first that a body is no JSON', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expectSame(Buffer.from(`{"list":[${nested(98)}]}`));
    expect(refusal(`{"list":[${nested(99)}]}`)).to.deep.equal({
      code: 'invalid_body',
      message: 'The body: lists and objects nest deeper than 100 levels',
    });
    expectSame(Buffer.from(`{"list":[${nested(500_000)}}`));
    expectSame(Buffer.from('['.repeat(1_000_000)));
  });

  it('does little between two breaks', () => {
    const bytes = Buffer.from(`{"list":[${'{"a":{},"b":[[]]},'.repeat(100_000)}1]}`);
    let pieces = 0;
    const work = parseLarge(bytes, 'list');
    while (work.next().done !== true) pieces++;
    expect(pieces).to.be.above(bytes.length / 65_536);
  });
});
