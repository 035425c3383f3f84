import type { ProofResult } from '../proof.js';
import { BOUNDS, type Grown } from './growth.js';
import { LOOKED_FOR } from './routes.js';

/** What one growing case cost. */
export interface GrowthRow extends Grown {
  readonly covers: string;
  readonly what: string;
}

/** The longest turn of a group of bodies of one size. */
export interface TurnRow {
  readonly group: string;
  bodies: number;
  /** Bodies without an answer. */
  lost: number;
  longest: number;
  worst: string;
}

const KINDS: Readonly<Record<string, string>> = {
  function: 'functions',
  operator: 'operators',
  option: 'options of plugins',
  route: 'routes that take a body',
};

export function reportOf(
  rows: readonly GrowthRow[],
  turns: readonly TurnRow[],
  wanted: readonly string[],
  uncovered: readonly string[],
  leftOut: ReadonlyMap<string, string>,
): ProofResult {
  const table = Object.entries(KINDS).flatMap(([kind, title]) => {
    const all = wanted.filter((name) => name.startsWith(`${kind} `));
    const own = rows.filter(({ covers }) => covers.startsWith(`${kind} `));
    if (all.length === 0 || own.length === 0) return [];
    const covered = all.filter((name) => own.some(({ covers }) => covers === name)).length;
    const growth = worst(own, 'growth');
    const perByte = worst(own, 'perByteNs');
    const turn = worst(own, 'turnMs');
    return [
      `| ${title} | ${covered} of ${all.length} | ${own.length.toLocaleString('en')} | ${growth.growth.toFixed(2)} × | ${cell(growth.what)} | ${perByte.perByteNs.toFixed(0)} ns | ${cell(perByte.what)} | ${turn.turnMs.toFixed(1)} ms | ${cell(turn.what)} |`,
    ];
  });
  const markdown = [
    '| what reads values | covered | cases | worst growth | of | most CPU a byte | of | longest turn | of |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...table,
    ...(leftOut.size === 0
      ? []
      : ['', `Left out: ${Array.from(leftOut, ([name, why]) => `${name} (${why})`).join(', ')}.`]),
    ...(turns.length === 0
      ? []
      : [
          '',
          '| bodies to | number | longest turn | of |',
          '| --- | --- | --- | --- |',
          ...turns.map(
            ({ group, bodies, longest, worst: of }) =>
              `| ${group} | ${bodies.toLocaleString('en')} | ${longest.toFixed(1)} ms | ${cell(of.replace(/^.*?: /, ''))} |`,
          ),
        ]),
  ].join('\n');
  return {
    markdown,
    missed: [
      ...uncovered.map((name) => `${name} has no case: it declares no domain, or no value fits`),
      ...notAnswered(rows),
      ...rows.flatMap(missedBy),
      ...turns.flatMap(({ group, longest, worst: of, lost }) => [
        ...(longest > BOUNDS.turnMs
          ? [`${group}: longest turn at most ${BOUNDS.turnMs} ms, was ${longest.toFixed(1)} (${of})`]
          : []),
        ...(lost > 0 ? [`${group}: ${lost} bodies had no answer`] : []),
      ]),
    ],
  };
}

function worst(rows: readonly GrowthRow[], figure: 'growth' | 'perByteNs' | 'turnMs'): GrowthRow {
  return rows.reduce((most, row) => (row[figure] > most[figure] ? row : most));
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** Cases that are all refused measure only the check that refuses them. */
function notAnswered(rows: readonly GrowthRow[]): readonly string[] {
  const answered = new Map<string, boolean>();
  for (const { covers, statuses } of rows) {
    const lookedFor = LOOKED_FOR[covers.replace(/^route /, '')] ?? 200;
    answered.set(covers, answered.get(covers) === true || statuses.has(200) || statuses.has(lookedFor));
  }
  return Array.from(answered).flatMap(([name, isSo]) =>
    isSo ? [] : [`${name}: no case was answered with 200, so its work was not measured`],
  );
}

function missedBy({
  covers,
  what,
  growth,
  perByteNs,
  mostPerByteNs,
  turnMs,
  bytes,
  lost,
}: GrowthRow): string[] {
  const of = `${covers}: ${what}`;
  return [
    ...(growth > BOUNDS.growth
      ? [
          `${of}: CPU a byte grows at most ${BOUNDS.growth} × from a quarter to ${bytes} bytes, grew ${growth.toFixed(2)} ×`,
        ]
      : []),
    ...(perByteNs > mostPerByteNs
      ? [`${of}: at most ${mostPerByteNs} ns a byte, was ${perByteNs.toFixed(0)} at ${bytes} bytes`]
      : []),
    ...(turnMs > BOUNDS.turnMs
      ? [`${of}: longest turn at most ${BOUNDS.turnMs} ms, was ${turnMs.toFixed(1)}`]
      : []),
    ...(lost > 0 ? [`${of}: ${lost} bodies had no answer`] : []),
  ];
}
