import { mean, quantile } from '../../ground/core/statistics.js';
import { weightOf, type Lost, type Move, type RankingDiff } from './compare-explained.js';
import { withCard, type Card, type CardsById } from '../../state/index/cards.js';

/** What is kept of a request. */
export interface DiffedRequest extends Pick<RankingDiff, 'isSame' | 'overlap' | 'rbo' | 'tau'> {
  /** Line of the request in the file. */
  readonly line: number;
  readonly removed: number;
  readonly added: number;
}

/** A request that a report shows, with the pages of both sides. */
export interface ShownRequest extends Pick<RankingDiff, 'overlap' | 'rbo' | 'pages'> {
  readonly line: number;
  /** What was searched; empty if no field of the request is a text. */
  readonly query: string;
}

export interface FailedRequest {
  readonly line: number;
  readonly side: 'A' | 'B';
  readonly message: string;
}

type InRequest<T> = T & { readonly line: number };

/** Latency of one side, milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface Summary {
  readonly mean: number;
  readonly lowest: number;
}

export interface DiffReport {
  readonly a: string;
  readonly b: string;
  readonly k: number;
  readonly p: number;
  readonly requests: readonly DiffedRequest[];
  readonly failed: readonly FailedRequest[];
  /** Those with the largest differences, largest first. */
  readonly shown: readonly ShownRequest[];
  readonly overlap: Summary;
  readonly rbo: Summary;
  /** Over the requests for which it is defined. */
  readonly tau: Summary;
  /** The moves that users see most, largest first. */
  readonly moves: readonly InRequest<Move>[];
  readonly allMoves: number;
  /** The steps that moved candidates, by the number of candidates. */
  readonly steps: readonly { readonly step: string | undefined; readonly moved: number }[];
  /** Candidates of A that B does not hold, best places first; and the reverse. */
  readonly removed: LostReport;
  readonly added: LostReport;
  readonly degraded: { readonly a: ReadonlyMap<string, number>; readonly b: ReadonlyMap<string, number> };
  readonly latency: { readonly a: Latency; readonly b: Latency };
  /** How often a candidate on the first place has the second place in B: counts by `a - 1` and `b - 1`. */
  readonly places: readonly (readonly number[])[];
  /** Milliseconds of each request, sorted. */
  readonly times: { readonly a: Float64Array; readonly b: Float64Array };
}

/** The candidates that a report lists. */
export function listedCandidates({ moves, removed, added, shown }: DiffReport): readonly string[] {
  return [
    ...[...moves, ...removed.first, ...added.first].map(({ candidate }) => candidate),
    ...shown.flatMap(({ pages }) => pages.flat().map(({ id }) => id)),
  ];
}

export interface LostReport {
  readonly count: number;
  readonly byFilter: readonly { readonly filter: string | undefined; readonly count: number }[];
  readonly first: readonly InRequest<Lost>[];
}

/** The requests whose pages are shown. */
const MOST_SHOWN = 10;

/** Places up to this one are plotted. */
export const PLOTTED_PLACES = 40;

/** Collects the differences of requests. It keeps numbers for each request, and only the largest moves. */
export class DiffCollector {
  readonly #requests: DiffedRequest[] = [];
  readonly #failed: FailedRequest[] = [];
  readonly #moves: Largest<InRequest<Move>>;
  readonly #shown = new Largest<ShownRequest>(MOST_SHOWN, ({ rbo }) => -rbo);
  readonly #removed: LostCollector;
  readonly #added: LostCollector;
  readonly #steps = new Map<string | undefined, number>();
  readonly #degraded = { a: new Map<string, number>(), b: new Map<string, number>() };
  readonly #times = { a: [] as number[], b: [] as number[] };
  readonly #places = Array.from({ length: PLOTTED_PLACES }, () => new Array<number>(PLOTTED_PLACES).fill(0));
  #allMoves = 0;

  /** @param top the number of moves to keep */
  constructor(top: number) {
    this.#moves = new Largest<InRequest<Move>>(top, weightOf);
    this.#removed = new LostCollector(top);
    this.#added = new LostCollector(top);
  }

  /** @param query what was searched */
  add(line: number, query: string, diff: RankingDiff): void {
    const { isSame, overlap, rbo, tau, removed, added, pages } = diff;
    if (!isSame) this.#shown.add({ line, query, overlap, rbo, pages });
    this.#requests.push({ line, isSame, overlap, rbo, tau, removed: removed.length, added: added.length });
    for (const move of diff.moves) {
      this.#moves.add({ line, ...move });
      this.#steps.set(move.step, (this.#steps.get(move.step) ?? 0) + 1);
      this.#allMoves += 1;
    }
    for (const one of removed) this.#removed.add({ line, ...one });
    for (const one of added) this.#added.add({ line, ...one });
    for (const [a, b] of diff.places) {
      const row = this.#places[a - 1];
      if (row !== undefined && b <= PLOTTED_PLACES) row[b - 1] = (row[b - 1] ?? 0) + 1;
    }
  }

  addSide(side: 'a' | 'b', ms: number, degraded: readonly string[]): void {
    this.#times[side].push(ms);
    const counts = this.#degraded[side];
    for (const cause of new Set(degraded)) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }

  fail(failed: FailedRequest): void {
    this.#failed.push(failed);
  }

  report(names: Pick<DiffReport, 'a' | 'b' | 'k' | 'p'>): DiffReport {
    const times = { a: Float64Array.from(this.#times.a).sort(), b: Float64Array.from(this.#times.b).sort() };
    return {
      ...names,
      requests: this.#requests,
      failed: this.#failed,
      overlap: summaryOf(this.#requests.map(({ overlap }) => overlap)),
      rbo: summaryOf(this.#requests.map(({ rbo }) => rbo)),
      tau: summaryOf(this.#requests.flatMap(({ tau }) => tau ?? [])),
      shown: this.#shown.all(),
      moves: this.#moves.all(),
      allMoves: this.#allMoves,
      steps: Array.from(this.#steps, ([step, moved]) => ({ step, moved })).sort((x, y) => y.moved - x.moved),
      removed: this.#removed.report(),
      added: this.#added.report(),
      degraded: this.#degraded,
      latency: { a: latencyOf(times.a), b: latencyOf(times.b) },
      places: this.#places,
      times,
    };
  }
}

class LostCollector {
  readonly #first: Largest<InRequest<Lost>>;
  readonly #byFilter = new Map<string | undefined, number>();
  #count = 0;

  constructor(top: number) {
    this.#first = new Largest(top, ({ place }) => -place);
  }

  add(one: InRequest<Lost>): void {
    this.#first.add(one);
    this.#byFilter.set(one.filter, (this.#byFilter.get(one.filter) ?? 0) + 1);
    this.#count += 1;
  }

  report(): LostReport {
    return {
      count: this.#count,
      byFilter: Array.from(this.#byFilter, ([filter, count]) => ({ filter, count })).sort(
        (x, y) => y.count - x.count,
      ),
      first: this.#first.all(),
    };
  }
}

/** Keeps the items with the largest weights; of equal ones, the first. */
class Largest<T> {
  #items: { readonly item: T; readonly weight: number }[] = [];

  constructor(
    private readonly most: number,
    private readonly weigh: (item: T) => number,
  ) {}

  add(item: T): void {
    this.#items.push({ item, weight: this.weigh(item) });
    if (this.#items.length > 2 * this.most + 100) this.#shrink();
  }

  #shrink(): void {
    this.#items = this.#items.sort((a, b) => b.weight - a.weight).slice(0, this.most);
  }

  all(): readonly T[] {
    this.#shrink();
    return this.#items.map(({ item }) => item);
  }
}

function summaryOf(values: readonly number[]): Summary {
  return { mean: mean(values), lowest: values.reduce((least, value) => Math.min(least, value), Infinity) };
}

function latencyOf(sorted: Float64Array): Latency {
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), p99: quantile(sorted, 0.99) };
}

/** The JSON that `--json` prints. */
export function diffJson(report: DiffReport, cards: CardsById): unknown {
  const { a, b, k, p, requests, failed, degraded } = report;
  const carded = <T extends Move | Lost>(one: T): T & { readonly card?: Card } =>
    withCard(one, one.candidate, cards);
  const lostJson = ({ count, byFilter, first }: LostReport): unknown => ({
    count,
    by_filter: byFilter,
    first: first.map(carded),
  });
  return {
    a,
    b,
    k,
    p,
    same: requests.filter(({ isSame }) => isSame).length,
    overlap: finite(report.overlap),
    rbo: finite(report.rbo),
    tau: finite(report.tau),
    moves: report.moves.map(carded),
    all_moves: report.allMoves,
    steps: report.steps,
    removed: lostJson(report.removed),
    added: lostJson(report.added),
    degraded: { a: Object.fromEntries(degraded.a), b: Object.fromEntries(degraded.b) },
    latency: report.latency,
    failed,
    requests: requests.map(({ isSame, tau = null, ...one }) => ({ ...one, same: isSame, tau })),
  };
}

/** Of no values there is neither a mean nor a lowest. */
function finite({ mean: middle, lowest }: Summary): unknown {
  return Number.isFinite(lowest) ? { mean: middle, lowest } : { mean: null, lowest: null };
}
