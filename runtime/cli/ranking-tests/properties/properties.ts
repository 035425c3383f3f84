import { PIN_SOURCES } from '../../../ground/api/ranking-edit.js';
import type { JsonObject } from '../../../ground/api/types.js';
import { stepText } from '../check/words.js';
import type { Edit, Outcome, RankedCase } from '../run/outcome.js';

/** A generated request, and its answer. */
export interface Generated {
  readonly body: JsonObject;
  readonly outcome: Outcome;
  /** The largest page that the pipeline answers. */
  readonly maxPage: number;
  /** Runs a changed request on the same data. @throws RequestFailed */
  readonly run: (body: JsonObject) => Promise<Outcome>;
}

/** A generated request failed, although it fits the request schema of the pipeline. */
export class RequestFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RequestFailed';
  }
}

/** Something that holds for every request. */
export interface Property {
  readonly summary: string;
  /** @returns what is wrong, one line; undefined if the property holds */
  check(generated: Generated): string | undefined | Promise<string | undefined>;
}

/** The properties that `always:` can name. docs/testing.md has their table. */
export const PROPERTIES: ReadonlyMap<string, Property> = new Map(
  Object.entries({
    pins_hold: {
      summary:
        'A pinned candidate that no filter removes has the position of its pin. A pin of curation wins over one of the pipeline.',
      check: ({ outcome }) => pinProblem(outcome),
    },
    buried_stay_last: {
      summary:
        'A buried candidate stands below all candidates that are not buried, apart from those that pins, slots, groups, limits or diversity moved. Limits together with pins, slots or groups are not checked.',
      check: ({ outcome }) => buriedProblem(outcome),
    },
    nothing_lost_or_invented: {
      summary: 'Each sent candidate is ranked once or removed by a step; no other candidate is answered.',
      check: ({ body, outcome }) => lossProblem(body, outcome),
    },
    order_does_not_depend_on_input_order: {
      summary: 'The same candidates in another order get the same scores and places, except for ties.',
      check: async ({ body, outcome, run }) => {
        const candidates = [...candidatesOf(body)].reverse();
        return orderProblem(outcome, await run({ ...body, candidates }));
      },
    },
    page_is_prefix: {
      summary: 'Pages of any size, one after the other, are the whole ranking.',
      check: async ({ body, outcome, maxPage, run }) => {
        const whole = rankedOf(outcome).map(({ id }) => id);
        const size = Math.max(1, Math.min(maxPage, Math.ceil(whole.length / 2)));
        const pages: string[] = [];
        for (let page = 0; page * size < whole.length; page++)
          pages.push(...(await run({ ...body, user_page: page, user_page_size: size })).page);
        const at = whole.findIndex((id, i) => pages[i] !== id);
        return at === -1 && pages.length === whole.length
          ? undefined
          : `pages of ${size} have ${pages[at] ?? 'nothing'} at place ${at + 1}, the whole ranking has ${whole[at] ?? 'nothing'}`;
      },
    },
    finite_scores: {
      summary: 'Every ranked candidate gets a score from a step that sets the score, and it is finite.',
      check: ({ outcome }) => scoreProblem(outcome),
    },
    deterministic: {
      summary: 'The same request gives the same scores and places again.',
      check: async ({ body, outcome, run }) => sameProblem(outcome, await run(body)),
    },
    never_empty: {
      summary: 'Filters leave at least one candidate.',
      check: ({ outcome }) =>
        outcome.candidates.size > 0 && rankedOf(outcome).length === 0
          ? `filters remove all ${outcome.candidates.size} candidates`
          : undefined,
    },
    not_degraded: {
      summary: 'The answer is not degraded: no candidate is unscored, no step is skipped.',
      check: ({ outcome: { degraded } }) =>
        degraded.length === 0 ? undefined : `the answer is degraded: ${degraded.join(', ')}`,
    },
  } satisfies Record<string, Property>),
);

export function candidatesOf(body: JsonObject): readonly JsonObject[] {
  const { candidates } = body;
  return Array.isArray(candidates) ? (candidates as readonly JsonObject[]) : [];
}

/** The ranked candidates, best first. */
export function rankedOf({ candidates }: Outcome): RankedCase[] {
  return [...candidates.values()].filter(({ place }) => place > 0).sort((a, b) => a.place - b.place);
}

type Pin = Extract<Edit, { readonly kind: 'pin' }>;

/** The pins that must hold: a weaker source gives way to a stronger one, for its candidate and its position. */
function pinsThatHold(ranked: readonly RankedCase[]): (readonly [RankedCase, readonly Pin[]])[] {
  const all = ranked.map(
    (one) => [one, one.edits.filter((edit): edit is Pin => edit.kind === 'pin')] as const,
  );
  const taken = new Set<number>();
  return PIN_SOURCES.flatMap((source) => {
    const own = all.flatMap(([one, pins]) => {
      const strongest = PIN_SOURCES.find((name) => pins.some((pin) => pin.source === name));
      const held = pins.filter(
        (pin) => strongest === source && pin.source === source && !taken.has(pin.position),
      );
      return held.length > 0 ? [[one, held] as const] : [];
    });
    for (const [, pins] of own) for (const { position } of pins) taken.add(position);
    return own;
  });
}

function pinProblem(outcome: Outcome): string | undefined {
  const ranked = rankedOf(outcome);
  const holders = new Map<number, RankedCase>();
  for (const [one, pins] of pinsThatHold(ranked)) {
    const [first] = pins;
    const other = pins.find(({ position }) => position !== first?.position);
    if (first === undefined) continue;
    if (other !== undefined)
      return `${one.id} is pinned to ${first.position} by ${stepText(first.step)} and to ${other.position} by ${stepText(other.step)}`;
    const taken = holders.get(first.position);
    if (taken !== undefined) return `${taken.id} and ${one.id} are both pinned to position ${first.position}`;
    holders.set(first.position, one);
    if (first.position <= ranked.length && one.place !== first.position)
      return `${one.id} is pinned to position ${first.position}, but is at ${one.place}`;
  }
  return undefined;
}

/**
 * Pins, slots, groups, limits and diversity win over `bury`, so only candidates that none of these moved are compared. Where
 * limits fill the places around pins, a candidate can make room for another, and nobody knows which rule lifted it.
 */
function buriedProblem(outcome: Outcome): string | undefined {
  if (outcome.fillsAround) return undefined;
  const isMoved = ({ edits }: RankedCase): boolean =>
    edits.some(({ kind }) => kind === 'pin' || kind === 'place');
  const isBuried = ({ edits }: RankedCase): boolean => edits.some(({ kind }) => kind === 'below');
  const ranked = rankedOf(outcome).filter((one) => !isMoved(one));
  const buried = ranked.find(isBuried);
  const below = buried && ranked.find((one) => one.place > buried.place && !isBuried(one));
  return below === undefined || buried === undefined
    ? undefined
    : `${buried.id} is buried and stands at ${buried.place}, above ${below.id} at ${below.place}`;
}

function lossProblem(body: JsonObject, outcome: Outcome): string | undefined {
  const removed = outcome.steps.flatMap(({ removed: ids }) => ids);
  const ranked = rankedOf(outcome).map(({ id }) => id);
  const seen = new Set<string>();
  for (const id of [...ranked, ...removed]) {
    if (seen.has(id)) return `${id} is ranked or removed twice`;
    seen.add(id);
  }
  const sent = new Set(candidatesOf(body).flatMap((one) => Object.values(one).map(String)));
  const invented = [...seen].find((id) => !sent.has(id));
  if (invented !== undefined) return `${invented} was not sent`;
  const lost = [...outcome.candidates.keys()].find((id) => !seen.has(id));
  if (lost !== undefined) return `${lost} is neither ranked nor removed`;
  const foreign = outcome.page.find((id) => !ranked.includes(id));
  return foreign === undefined ? undefined : `${foreign} is answered, but not ranked`;
}

function orderProblem(first: Outcome, second: Outcome): string | undefined {
  const difference = scoreDifference(first, second);
  if (difference !== undefined) return `with the candidates reversed ${difference}`;
  const before = rankedOf(first);
  const after = rankedOf(second);
  for (const [i, one] of before.entries()) {
    const other = after[i];
    if (other === undefined || !(one.id === other.id || isTie(one, other)))
      return `with the candidates reversed ${other?.id ?? 'nothing'} is at place ${i + 1} instead of ${one.id}`;
  }
  return undefined;
}

function sameProblem(first: Outcome, second: Outcome): string | undefined {
  const difference = scoreDifference(first, second);
  if (difference !== undefined) return `the second time ${difference}`;
  for (const one of first.candidates.values()) {
    const other = second.candidates.get(one.id);
    if (other?.place !== one.place)
      return `the second time ${one.id} is at ${other?.place ?? 0} instead of ${one.place}`;
  }
  return undefined;
}

function scoreDifference(first: Outcome, second: Outcome): string | undefined {
  for (const one of rankedOf(first)) {
    const other = second.candidates.get(one.id);
    if (other === undefined || !isTie(one, other))
      return `the score of ${one.id} is ${other?.score ?? 'missing'} instead of ${one.score}`;
  }
  return undefined;
}

/** Sums of floating-point numbers may differ in the last digits if they are added in another order. */
function isTie(a: RankedCase, b: RankedCase): boolean {
  if (Number.isNaN(a.score) || Number.isNaN(b.score)) return Number.isNaN(a.score) && Number.isNaN(b.score);
  return Math.abs(a.score - b.score) <= 1e-9 * Math.max(1, Math.abs(a.score), Math.abs(b.score));
}

function scoreProblem(outcome: Outcome): string | undefined {
  const unscored = outcome.degraded.find((reason) => reason.startsWith('unscored='));
  if (unscored !== undefined) return `candidates have no score: ${unscored}`;
  const wrong = rankedOf(outcome).find(({ score }) => !Number.isFinite(score));
  return wrong === undefined ? undefined : `the score of ${wrong.id} is ${wrong.score}`;
}
