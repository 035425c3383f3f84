import type { Console } from '../../ground/core/console.js';
import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import { startProgress } from '../../ground/core/progress.js';
import type { Explanation, ExplainedFate } from '../../request/pipeline/explain/explanation.js';
import type { RequestContext } from '../../request/pipeline/types.js';
import type { Contestant } from './contestant.js';
import { findLoggedRequests, readLoggedRequests } from './logged-requests.js';
import { retried } from './run-whole.js';

/** The most queries that a report lists. */
const MOST_QUERIES = 50;
/** The most places that draft-effect follows, over all campaigns. */
export const MOST_PLACES = 100;
const LONGEST_QUERY = 80;

/** A place that a draft gives to a product. */
export interface DraftedPlace {
  readonly list: string;
  readonly campaign: string;
  readonly product: string;
  /** From 1; of a paid place, the preferred one. */
  readonly place: number;
}

/** What becomes of a place in logged requests. */
export interface PlaceEffect extends DraftedPlace {
  /** The index has no such product. */
  readonly unknown: boolean;
  /** The requests to which the campaign applies. */
  readonly requests: number;
  /** In how many of them the product is at the place, and at another one. */
  readonly shown: number;
  readonly elsewhere: number;
  /** Who has the place then, most frequent first. */
  readonly winners: readonly {
    readonly product: string;
    readonly rules: readonly string[];
    readonly requests: number;
  }[];
  /** In how many a step removes it, most frequent first. */
  readonly removed: readonly {
    readonly step: string;
    readonly rules: readonly string[];
    readonly requests: number;
  }[];
}

/** What a draft changes of logged requests. */
export interface DraftEffect {
  readonly draft: string;
  readonly pipeline: string;
  /** The requests that were ranked with and without the draft. */
  readonly requests: number;
  /** Those whose first page differs. */
  readonly changed: number;
  /** Those that could not be ranked. */
  readonly failed: number;
  /** The queries or categories whose page differs, those with most requests first. */
  readonly queries: readonly QueryEffect[];
  readonly places: readonly PlaceEffect[];
}

interface QueryEffect {
  /** The texts of the request. */
  readonly query: string;
  readonly requests: number;
  readonly changed: number;
  /** The most places that differ on its first page. */
  readonly places: number;
}

/** What is compared. */
export interface DraftedRun extends Pick<RequestContext, 'rules' | 'rulesAt'> {
  readonly draft: string;
  readonly ledger: string;
  /** The newest requests of the ledger, at most. */
  readonly last: number;
  readonly places: readonly DraftedPlace[];
}

/**
 * Ranks the newest requests of a ledger with and without a draft, as of the same time.
 * @throws CommandFailure if the ledger has none
 */
export async function draftEffect(
  context: Console,
  pipeline: Contestant,
  run: DraftedRun,
): Promise<DraftEffect> {
  const found = await findLoggedRequests(context, run.ledger, run.last, pipeline);
  const unknown = await unknownOf(pipeline, run.places);
  const counts = run.places.map((place) => new PlaceCount(place, unknown.has(place.product)));
  const queries = new Map<string, { requests: number; changed: number; places: number }>();
  let [requests, failed] = [0, 0];
  const progress = startProgress(context.stderr, 'comparing', found.length, 'requests');
  try {
    for await (const [, { body, requestId }] of readLoggedRequests(found, pipeline)) {
      const places = await rankedTwice(pipeline, run, { body, requestId }, counts).catch((error: unknown) => {
        if (!(error instanceof MillraceError)) throw error;
        return undefined;
      });
      progress.update(++requests, requests);
      if (places === undefined) failed++;
      else count(queries, queryOf(body), places);
    }
  } finally {
    progress.stop();
  }
  const all = [...queries].map(([query, one]) => ({ query, ...one }));
  return {
    ...{ draft: run.draft, pipeline: pipeline.label, requests: requests - failed, failed },
    changed: all.reduce((sum, { changed }) => sum + changed, 0),
    queries: all
      .filter(({ changed }) => changed > 0)
      .sort((a, b) => b.changed - a.changed || (a.query < b.query ? -1 : 1))
      .slice(0, MOST_QUERIES),
    places: counts.map((one) => one.effect()),
  };
}

function count(
  queries: Map<string, { requests: number; changed: number; places: number }>,
  query: string,
  places: number,
): void {
  const known = queries.get(query) ?? { requests: 0, changed: 0, places: 0 };
  queries.set(query, {
    requests: known.requests + 1,
    changed: known.changed + (places > 0 ? 1 : 0),
    places: Math.max(known.places, places),
  });
}

/** Ranks a request both ways. @returns how many places of its first page differ */
async function rankedTwice(
  { pipeline }: Contestant,
  { rules, rulesAt }: DraftedRun,
  { body, requestId }: { readonly body: JsonObject; readonly requestId: string },
  counts: readonly PlaceCount[],
): Promise<number> {
  const explain = (more: Partial<RequestContext>): Promise<Explanation> =>
    retried(
      (context) => pipeline.explain(body, { ...context, rulesAt: rulesAt ?? Date.now(), ...more }),
      requestId,
    );
  const before = await explain({});
  const after = await explain({ rules });
  const campaigns = new Set(after.heard?.map((name) => name.split(':').slice(0, 2).join(':')));
  for (const one of counts)
    if (campaigns.has(`${one.of.list}:${one.of.campaign}`))
      await one.add(after, async () => (await explain({ rules, why: one.of.product })).why);
  const [was, is] = [before, after].map(({ page }) => page.map(({ candidate_id: id }) => id)) as [
    string[],
    string[],
  ];
  return Array.from({ length: Math.max(was.length, is.length) }).filter((_, at) => was[at] !== is[at]).length;
}

/** Counts what becomes of one place. */
class PlaceCount {
  #requests = 0;
  #shown = 0;
  #elsewhere = 0;
  readonly #winners = new Counts<{ readonly product: string; readonly rules: readonly string[] }>();
  readonly #removed = new Counts<{ readonly step: string; readonly rules: readonly string[] }>();

  constructor(
    readonly of: DraftedPlace,
    private readonly unknown: boolean,
  ) {}

  /** @param why says what became of the product if the page does not have it */
  async add({ page }: Explanation, why: () => Promise<ExplainedFate | undefined>): Promise<void> {
    this.#requests++;
    const { product, place } = this.of;
    const at = page.find(({ candidate_id: id }) => id === product)?.place;
    const fate = at === undefined ? await why() : undefined;
    const found = at ?? fate?.place;
    if (found === place) this.#shown++;
    else if (found !== undefined) {
      this.#elsewhere++;
      const winner = page.find((one) => one.place === place);
      const rules = [...new Set(winner?.changes.flatMap((change) => change.rules ?? []))];
      if (winner !== undefined) this.#winners.add({ product: winner.candidate_id, rules });
    } else this.#removed.add({ step: fate?.as ?? fate?.fate ?? '', rules: fate?.rules ?? [] });
  }

  effect(): PlaceEffect {
    return {
      ...this.of,
      unknown: this.unknown,
      requests: this.#requests,
      shown: this.#shown,
      elsewhere: this.#elsewhere,
      winners: this.#winners.all(),
      removed: this.#removed.all(),
    };
  }
}

/** How often each of some values came, of which few differ. */
class Counts<T extends object> {
  readonly #counts = new Map<string, { readonly value: T; requests: number }>();

  add(value: T): void {
    const key = JSON.stringify(value);
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { value, requests: 1 });
    else known.requests++;
  }

  all(): readonly (T & { readonly requests: number })[] {
    return [...this.#counts.values()]
      .sort((a, b) => b.requests - a.requests)
      .slice(0, 5)
      .map(({ value, requests }) => ({ ...value, requests }));
  }
}

async function unknownOf(
  { definition, project }: Contestant,
  places: readonly DraftedPlace[],
): Promise<ReadonlySet<string>> {
  if (places.length === 0) return new Set();
  const { entities } = await project.entities.get({
    entity_type: definition.candidateType.value,
    entity_ids: [...new Set(places.map(({ product }) => product))],
  });
  return new Set(Object.entries(entities).flatMap(([id, entity]) => (entity === null ? [id] : [])));
}

/** The texts of a request that are no candidates and no user: what was searched, or the category. */
function queryOf(body: JsonObject): string {
  const texts = ['query', 'category'].flatMap((name) => {
    const value = body[name];
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.values(value)
      : [value];
  });
  return texts
    .filter((one) => typeof one === 'string')
    .join(', ')
    .slice(0, LONGEST_QUERY)
    .toWellFormed();
}
