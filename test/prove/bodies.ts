import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Proof, ProofResult } from './proof.js';
import { ROUTES, type ProvedRoute } from './bodies/routes.js';
import { TORTURE } from './bodies/torture-json.js';
import { textCases, TEXT_FILES } from './bodies/texts.js';
import { startMeasured, type MeasuredService, type Sent } from './bodies/turns.js';

/** Maximum CPU time of the main thread in one turn of the event loop, milliseconds. */
const MOST_MS = 20;
/** A case is repeated if a turn takes longer than this, milliseconds: other work on the machine may be the cause. */
const SUSPICIOUS_MS = 15;
const REPEATS = 3;
/** The share of a route's size limit that values fill. The rest is for the JSON around them. */
const FILLED = 0.9;

interface Case {
  readonly what: string;
  /** The group of the case. Each group is a row of the table. */
  readonly group: string;
  readonly sent: () => Sent;
}

/** Measures the CPU time of the main thread per turn of the event loop, for JSON that is expensive to parse. */
export const bodies: Proof = {
  name: 'bodies',
  summary: 'no body holds the main thread for more than 20 ms of CPU in one turn',
  async run({ short }) {
    const service = await startMeasured({}, TEXT_FILES);
    const rows: Row[] = [];
    try {
      const cases = [...torture(), ...compressed(), ...texts()];
      // The step is prime, so the short run covers every route, shape and place.
      const chosen = short ? cases.filter((_, i) => i % 13 === 0) : cases;
      for (const one of chosen) note(rows, one, await measure(service, one));
      note(
        rows,
        { what: 'generated', group: GENERATED },
        await generated(service, short ? 4_000 : 1_000_000),
      );
    } finally {
      await service.close();
    }
    return report(rows);
  },
};

const GENERATED = 'generated bodies of up to 4 kB, 8 at a time';

interface Measured {
  /** The longest turn. For a repeated case, the best repeat counts. */
  readonly longest: number;
  readonly bodies: number;
  /** Connections that broke without an answer. */
  readonly lost: number;
}

interface Row {
  readonly group: string;
  bodies: number;
  lost: number;
  longest: number;
  worst: string;
}

function note(rows: Row[], { group, what }: Pick<Case, 'group' | 'what'>, found: Measured): void {
  let row = rows.find((one) => one.group === group);
  if (row === undefined) rows.push((row = { group, bodies: 0, lost: 0, longest: 0, worst: '' }));
  row.bodies += found.bodies;
  row.lost += found.lost;
  if (found.longest < row.longest) return;
  row.longest = found.longest;
  row.worst = what;
}

async function measure(service: MeasuredService, { sent: make, what }: Case): Promise<Measured> {
  const sent = make();
  let longest = Infinity;
  let lost = 0;
  let repeats = 0;
  while (repeats < REPEATS && (repeats === 0 || longest > SUSPICIOUS_MS)) {
    repeats++;
    const turn = await service.during(async () => {
      if ((await service.send(sent)) === 0) lost++;
    });
    longest = Math.min(longest, turn.longest);
  }
  if (longest > SUSPICIOUS_MS) console.log(`${longest.toFixed(1)} ms  ${what}`);
  return { longest, lost, bodies: 1 };
}

/** Yields each expensive value at each place of a body, for each route, at the size limit of the route. */
function* torture(): Generator<Case> {
  for (const route of ROUTES)
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
const PLACES: Readonly<Record<string, (route: ProvedRoute, textOf: TextOf) => string>> = {
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

function spread(route: ProvedRoute, textOf: TextOf, names: readonly string[]): string {
  const size = (FILLED * route.limit) / 1000 - 40;
  return route.body(
    Array.from({ length: 1000 }, (_, i) =>
      route.element(i, textOf(Math.max(1, size)), names[i % Math.max(1, names.length)]),
    ),
  );
}

/** Yields compressed bodies: valid, with an extreme compression ratio, compressed twice, truncated, with trailing data. */
function* compressed(): Generator<Case> {
  const upload = ROUTES[2] as ProvedRoute;
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
function* texts(): Generator<Case> {
  for (const { reader, what, sent } of textCases())
    yield { what: `${reader}: ${what}`, group: `texts, ${reader}`, sent };
}

/** Measures small valid and invalid bodies that fast-check generates. */
async function generated(service: MeasuredService, count: number): Promise<Measured> {
  const value = fc.jsonValue({ depthSize: 'small' }).map((json) => JSON.stringify(json));
  const body = fc
    .tuple(fc.nat(ROUTES.length - 1), fc.array(value, { maxLength: 12 }), value, fc.nat(12), fc.nat())
    .map(([number, values, extra, kind, at]): Sent => {
      const route = ROUTES[number] as ProvedRoute;
      const names = ['extra', ...route.declared];
      const elements = values.map((one, i) =>
        (at + i) % 7 === 0 ? one : route.element(i, one, names[(at + i) % names.length]),
      );
      const text = kind === 0 ? extra : route.body(elements, kind < 4 ? extra : undefined);
      const place = at % (text.length + 1);
      const edited = kind === 1 ? text.slice(0, place) + text.slice(place + 1) : text;
      return { path: route.path, bytes: Buffer.from(edited) };
    });
  const total = { longest: 0, lost: 0, bodies: 0 };
  const BATCH = 1000;
  for (let batch = 0; batch * BATCH < count; batch++) {
    const all = fc.sample(body, { numRuns: Math.min(BATCH, count), seed: 1000 + batch });
    const trial = async (): Promise<number> => {
      const left = [...all];
      const lane = async (): Promise<void> => {
        for (let sent = left.pop(); sent !== undefined; sent = left.pop())
          if ((await service.send(sent)) === 0) total.lost++;
      };
      const { longest } = await service.during(() => Promise.all(Array.from({ length: 8 }, lane)));
      return longest;
    };
    let longest = await trial();
    for (let repeat = 1; repeat < REPEATS && longest > SUSPICIOUS_MS; repeat++)
      longest = Math.min(longest, await trial());
    total.bodies += all.length;
    total.longest = Math.max(total.longest, longest);
  }
  return total;
}

function report(rows: readonly Row[]): ProofResult {
  const lines = rows.map(
    ({ group, bodies: count, longest, worst }) =>
      `| ${group} | ${count.toLocaleString('en')} | ${longest.toFixed(1)} ms | ${worst.replace(/^.*?: /, '')} |`,
  );
  return {
    markdown: ['| bodies to | number | longest turn | of |', '| --- | --- | --- | --- |', ...lines].join(
      '\n',
    ),
    missed: rows.flatMap(({ group, longest, worst, lost }) => [
      ...(longest > MOST_MS
        ? [`${group}: longest turn at most ${MOST_MS} ms, was ${longest.toFixed(1)} (${worst})`]
        : []),
      ...(lost > 0 ? [`${group}: ${lost} bodies had no answer`] : []),
    ]),
  };
}
