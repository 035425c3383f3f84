import { Document, isScalar, parse, visit } from 'yaml';
import { rankedOf } from '../properties/properties.js';
import type { Outcome } from '../run/outcome.js';
import { isNear } from './words.js';
import type { Plan } from '../../../request/compile/plan.js';

/** What a snapshot holds of an answer, as YAML. */
export interface SnapshotEntry {
  /** Best first: id and score; null for no score. For a pipeline that scores: its entity. */
  readonly ranked: readonly (readonly [string, number | null])[];
  /** Id and name of the filter. */
  readonly removed?: readonly (readonly [string, string])[];
  readonly degraded?: readonly string[];
  readonly answer?: Readonly<Record<string, unknown>>;
}

/** By name of a case. */
export type Snapshots = ReadonlyMap<string, SnapshotEntry>;

/** Significant digits of scores in snapshots. */
const DIGITS = 9;

export function entryOf(outcome: Outcome, { definition }: Plan): SnapshotEntry {
  const removed = outcome.steps.flatMap(({ step, removed: ids }) => ids.map((id) => [id, step.as] as const));
  const { degraded, answered } = outcome;
  return {
    ranked: rankedOf(outcome).map(({ id, score }) => [id, rounded(score)]),
    ...(removed.length === 0 ? {} : { removed }),
    ...(degraded.length === 0 ? {} : { degraded }),
    ...(definition.task === 'rank' || answered.size === 0
      ? {}
      : {
          answer: Object.fromEntries(
            Array.from(answered, ([name, { value }]) => [
              name,
              typeof value === 'number' ? rounded(value) : (value ?? null),
            ]),
          ),
        }),
  };
}

function rounded(score: number): number | null {
  return Number.isFinite(score) ? Number(score.toPrecision(DIGITS)) : null;
}

/** Says how an answer differs from its snapshot, one line; undefined if it does not. */
export function differenceOf(
  expected: SnapshotEntry,
  found: SnapshotEntry,
  tolerance: number,
): string | undefined {
  for (let at = 0; at < Math.max(expected.ranked.length, found.ranked.length); at++) {
    const [wanted, score] = expected.ranked[at] ?? [];
    const [id, was] = found.ranked[at] ?? [];
    if (wanted !== id)
      return `place ${at + 1}: the snapshot has ${wanted ?? 'no more candidates'}, found ${id ?? 'no more candidates'}`;
    if (!isNear(was ?? NaN, score ?? NaN, tolerance * Math.max(1, Math.abs(score ?? 0))))
      return `the score of ${id ?? ''}: the snapshot has ${score ?? 'no score'}, found ${was ?? 'no score'}`;
  }
  for (const part of ['removed', 'degraded', 'answer'] as const) {
    const before = JSON.stringify(expected[part] ?? null);
    const now = JSON.stringify(found[part] ?? null);
    if (before !== now) return `${part}: the snapshot has ${before}, found ${now}`;
  }
  return undefined;
}

const HEAD = ' `millrace test --update` writes this file.';

/** The content of a snapshot file, sorted by the names of the cases. */
export function snapshotText(snapshots: Snapshots): string {
  const sorted = [...snapshots].sort(([a], [b]) => (a < b ? -1 : 1));
  const document = new Document(Object.fromEntries(sorted));
  document.commentBefore = HEAD;
  // One line for each candidate, so that a diff shows what moved.
  visit(document, {
    Seq: (_, node) => {
      node.flow = node.items.every(isScalar);
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false, collectionStyle: 'any' });
}

/** @throws Error if the text is not a snapshot file */
export function readSnapshots(text: string): Map<string, SnapshotEntry> {
  const content: unknown = parse(text);
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new Error('expected a mapping from cases to answers');
  return new Map(
    Object.entries(content as Record<string, unknown>).map(([name, entry]) => {
      const { ranked } = (entry ?? {}) as Partial<SnapshotEntry>;
      if (!Array.isArray(ranked) || !ranked.every(isRanked))
        throw new Error(`the entry \`${name}\` has no list \`ranked\` of ids with scores`);
      return [name, entry as SnapshotEntry];
    }),
  );
}

function isRanked(one: unknown): boolean {
  if (!Array.isArray(one)) return false;
  const [id, score] = one as readonly unknown[];
  return typeof id === 'string' && (score === null || typeof score === 'number');
}
