/** Bodies of JSON that is hard to parse, check or store, for each route that accepts a body. */
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Frame } from './routes.js';
import { TORTURE } from './torture-json.js';
import { textCases } from './texts.js';
import type { Sent } from './turns.js';

/** The share of a route's size limit that values fill. The rest is for the JSON around them. */
const FILLED = 0.9;

/** A body of one size. */
export interface FixedCase {
  readonly what: string;
  /** The group of the case. Each group is a row of the table. */
  readonly group: string;
  readonly sent: () => Sent;
}

/** Yields each expensive value at each place of a body, for each route, at the size limit of the route. */
export function* torture(routes: readonly Frame[]): Generator<FixedCase> {
  for (const route of routes)
    for (const [shape, textOf] of Object.entries(TORTURE))
      for (const [place, bytesOf] of Object.entries(PLACES))
        yield {
          what: `${route.path}: ${shape}, ${place}`,
          group: route.path,
          sent: () => ({ path: route.path, bytes: Buffer.from(bytesOf(route, textOf)) }),
        };
}

type TextOf = (bytes: number) => string;

/** The places of a value in a body. */
const PLACES: Readonly<Record<string, (route: Frame, textOf: TextOf) => string>> = {
  'in each of 1,000 elements': (route, textOf) => spread(route, textOf, ['extra']),
  'in declared fields of 1,000 elements': (route, textOf) => spread(route, textOf, route.declared),
  'in one declared field of 1,000 elements': (route, textOf) =>
    spread(route, textOf, route.declared.slice(0, 1)),
  'in another declared field of 1,000 elements': (route, textOf) =>
    spread(route, textOf, route.declared.slice(1, 2)),
  'in one element': (route, textOf) =>
    route.body([route.element(0, textOf(FILLED * Math.min(1024 * 1024, route.limit)))]),
  'in a declared field of one element': (route, textOf) =>
    route.body([route.element(0, textOf(FILLED * Math.min(1024 * 1024, route.limit)), route.declared[0])]),
  'as 50 elements': (route, textOf) =>
    route.body(Array.from({ length: 50 }, () => textOf((FILLED * route.limit) / 50))),
  'beside the list': (route, textOf) =>
    route.body([route.element(0, '1')], textOf(FILLED * Math.min(1024 * 1024, route.limit))),
  'as the whole body': (route, textOf) => textOf(FILLED * route.limit),
  'in a body of 60 kB': (route, textOf) => route.body([route.element(0, textOf(60_000))]),
  'as elements of a body of 60 kB': (route, textOf) =>
    route.body(Array.from({ length: 1000 }, (_, i) => route.element(i, textOf(20)))),
  'cut short': (route, textOf) => route.body([textOf(FILLED * route.limit)]).slice(0, -2),
};

function spread(route: Frame, textOf: TextOf, names: readonly string[]): string {
  const size = (FILLED * route.limit) / 1000 - 40;
  return route.body(
    Array.from({ length: 1000 }, (_, i) =>
      route.element(i, textOf(Math.max(1, size)), names[i % Math.max(1, names.length)]),
    ),
  );
}

/** Yields compressed bodies: valid, with an extreme compression ratio, compressed twice, truncated, with trailing data. */
export function* compressed(upload: Frame): Generator<FixedCase> {
  const wide = (): string => spread(upload, TORTURE.names as TextOf, ['extra']);
  const forms: readonly (readonly [string, (text: string) => { bytes: Buffer; encoding: string }])[] = [
    ['gzip', (text) => ({ bytes: gzipSync(text), encoding: 'gzip' })],
    ['deflate', (text) => ({ bytes: deflateSync(text), encoding: 'deflate' })],
    [
      'br',
      (text) => ({
        bytes: brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
        encoding: 'br',
      }),
    ],
    ['gzip twice', (text) => ({ bytes: gzipSync(gzipSync(text)), encoding: 'gzip' })],
    ['gzip cut short', (text) => ({ bytes: gzipSync(text).subarray(0, -20), encoding: 'gzip' })],
    [
      'gzip and more',
      (text) => ({ bytes: Buffer.concat([gzipSync(text), gzipSync(text)]), encoding: 'gzip' }),
    ],
    ['gzip of nothing', () => ({ bytes: gzipSync(''), encoding: 'gzip' })],
  ];
  const texts: readonly (readonly [string, () => string])[] = [
    ['1,000 wide entities', wide],
    ['zeros', () => upload.body([upload.element(0, '0,'.repeat(6_000_000))])],
    ['50 MB of spaces', () => ' '.repeat(50_000_000)],
    ['500 MB of spaces', () => ' '.repeat(500_000_000)],
    ['lists', () => upload.body([(TORTURE['empty lists'] as TextOf)(11_000_000)])],
    ['names', () => upload.body([(TORTURE.names as TextOf)(11_000_000)])],
  ];
  for (const [form, compress] of forms)
    for (const [what, text] of texts)
      yield {
        what: `${form}: ${what}`,
        group: 'compressed uploads',
        sent: () => ({ path: upload.path, ...compress(text()) }),
      };
}

/** Yields bodies whose texts a pipeline splits into words or compares. */
export function* texts(): Generator<FixedCase> {
  for (const { reader, what, sent } of textCases())
    yield { what: `${reader}: ${what}`, group: `texts, ${reader}`, sent };
}

/** Small valid and invalid bodies that fast-check generates. */
export function smallBodies(routes: readonly Frame[]): fc.Arbitrary<Sent> {
  const value = fc.jsonValue({ depthSize: 'small' }).map((json) => JSON.stringify(json));
  return fc
    .tuple(fc.nat(routes.length - 1), fc.array(value, { maxLength: 12 }), value, fc.nat(12), fc.nat())
    .map(([number, values, extra, kind, at]): Sent => {
      const route = routes[number] as Frame;
      const names = ['extra', ...route.declared];
      const elements = values.map((one, i) =>
        (at + i) % 7 === 0 ? one : route.element(i, one, names[(at + i) % names.length]),
      );
      const text = kind === 0 ? extra : route.body(elements, kind < 4 ? extra : undefined);
      const place = at % (text.length + 1);
      const edited = kind === 1 ? text.slice(0, place) + text.slice(place + 1) : text;
      return { path: route.path, bytes: Buffer.from(edited) };
    });
}
