import fc from 'fast-check';
import { putBackDefects } from './bodies/defects.js';
import { BOUNDS, grow } from './bodies/growth.js';
import { compressed, type FixedCase, smallBodies, texts, torture } from './bodies/hostile.js';
import type { GrowingCase } from './bodies/load.js';
import { generator, type Generator, routesOfService, startProject } from './bodies/project.js';
import { type Frame, frameOf } from './bodies/routes.js';
import { reportOf, type GrowthRow, type TurnRow } from './bodies/report.js';
import type { MeasuredService } from './bodies/turns.js';
import type { Proof, ProofOptions } from './proof.js';

/** A case is repeated if a turn takes longer than this, milliseconds: other work on the machine may be the cause. */
const SUSPICIOUS_MS = 15;
const REPEATS = 6;
/** Cases of one function, operator or option, and of one route. The full form has nearly all of them. */
const EACH = { short: { named: 1, route: 2 }, full: { named: 24, route: 40 } };
/** The step is prime, so the short run covers every route, shape and place. */
const SHORT_STEP = 101;
const SMALL_BODIES = { short: 2_000, full: 300_000 };

/**
 * Measures the CPU time of the main thread, for bodies that follow from what functions, operators, options of plugins and
 * routes declare that they take.
 */
export const bodies: Proof = {
  name: 'bodies',
  summary: 'no body holds the main thread for more than 20 ms of CPU, and CPU grows with bytes alone',
  async run(options) {
    if (options.defects === true) return putBackDefects(options.only);
    const made = await generator();
    const { only } = options;
    const wanted = only === undefined ? made.wanted : made.wanted.filter((name) => only.test(name));
    const chosen = choose([...made.language.cases, ...made.options.cases], options);
    const service = await startProject(filesOf(made, chosen));
    try {
      const { routes, cases } = await routesOfService(service.url);
      const growing = [...chosen, ...choose(cases, options)];
      const rows = await measureGrowth(service, growing, options);
      const frames = routes.map(frameOf);
      const turns = await measureTurns(service, frames, options);
      const covered = new Set(growing.map(({ covers }) => covers));
      const uncovered = wanted.filter((name) => !covered.has(name) && !made.leftOut.has(name));
      return reportOf(rows, turns, wanted, uncovered, made.leftOut);
    } finally {
      await service.close();
    }
  },
};

/** The cases to run: some of each function, operator, option and route, in a fixed order that has no period. */
function choose(cases: readonly GrowingCase[], { short, only }: ProofOptions): readonly GrowingCase[] {
  const { named, route } = short ? EACH.short : EACH.full;
  const left = new Map<string, number>();
  const order = cases.map((one, i) => ({ one, at: ((i + 1) * 2_654_435_761) % 2 ** 32 }));
  return order
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
    .filter((one) => {
      if (only !== undefined) return only.test(`${one.covers}: ${one.what}`);
      if (one.isBaseline === true) return true;
      const most = one.covers.startsWith('route ') ? route : named;
      const count = left.get(one.covers) ?? 0;
      left.set(one.covers, count + 1);
      return count < most;
    });
}

/** The files of the pipelines that the cases need, and files that are no pipelines. */
function filesOf(
  { language, options }: Generator,
  chosen: readonly GrowingCase[],
): Generator['language']['files'] {
  const needed = new Set(chosen.map(({ file }) => file));
  return Object.fromEntries(
    Object.entries({ ...language.files, ...options.files }).filter(
      ([path]) => needed.has(path) || !path.startsWith('pipelines/'),
    ),
  );
}

async function measureGrowth(
  service: MeasuredService,
  cases: readonly GrowingCase[],
  { short, only }: ProofOptions,
): Promise<readonly GrowthRow[]> {
  const rows: GrowthRow[] = [];
  for (const [i, one] of cases.entries()) {
    const found = await grow(service, one);
    rows.push({ ...found, covers: one.covers, what: one.what });
    const { growth, perByteNs, mostPerByteNs, turnMs } = found;
    if (only !== undefined || growth > BOUNDS.growth || perByteNs > mostPerByteNs || turnMs > BOUNDS.turnMs)
      console.log(
        `${growth.toFixed(2)} ×, ${perByteNs.toFixed(0)} ns a byte, turn ${turnMs.toFixed(1)} ms  ${one.covers}: ${one.what}`,
      );
    if (!short && i % 200 === 199) console.log(`${i + 1} of ${cases.length} cases`);
  }
  return rows;
}

/** Bodies of JSON that is hard to parse, compressed bodies, long texts and small generated bodies. */
async function measureTurns(
  service: MeasuredService,
  frames: readonly Frame[],
  { short, only }: ProofOptions,
): Promise<readonly TurnRow[]> {
  const rows: TurnRow[] = [];
  const upload = frames.find(({ path }) => path === '/api/v1/entities/upload');
  const cases = [...torture(frames), ...(upload === undefined ? [] : compressed(upload)), ...texts()];
  const chosen = cases.filter(({ what }, i) =>
    only === undefined ? !short || i % SHORT_STEP === 0 : only.test(`body ${what}`),
  );
  for (const one of chosen) note(rows, one, await measureTurn(service, one));
  if (only !== undefined) return rows;
  const what = 'generated bodies of up to 4 kB, 8 at a time';
  note(
    rows,
    { what, group: what },
    await generated(service, frames, short ? SMALL_BODIES.short : SMALL_BODIES.full),
  );
  return rows;
}

type Measured = Pick<TurnRow, 'longest' | 'bodies' | 'lost'>;

function note(rows: TurnRow[], { group, what }: Pick<FixedCase, 'group' | 'what'>, found: Measured): void {
  let row = rows.find((one) => one.group === group);
  if (row === undefined) rows.push((row = { group, bodies: 0, lost: 0, longest: 0, worst: '' }));
  row.bodies += found.bodies;
  row.lost += found.lost;
  if (found.longest < row.longest) return;
  row.longest = found.longest;
  row.worst = what;
}

/** For a repeated case, the best repeat counts. */
async function measureTurn(service: MeasuredService, { sent: make, what }: FixedCase): Promise<Measured> {
  const sent = make();
  let longest = Infinity;
  let lost = 0;
  for (let i = 0; i < REPEATS && (i === 0 || longest > SUSPICIOUS_MS); i++) {
    const turn = await service.during(async () => {
      if ((await service.send(sent)) === 0) lost++;
    });
    longest = Math.min(longest, turn.longest);
  }
  if (longest > SUSPICIOUS_MS) console.log(`${longest.toFixed(1)} ms  ${what}`);
  return { longest, lost, bodies: 1 };
}

async function generated(
  service: MeasuredService,
  frames: readonly Frame[],
  count: number,
): Promise<Measured> {
  const body = smallBodies(frames);
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
