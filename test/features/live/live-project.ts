import { randomUUID } from 'node:crypto';
import { rankedIn, startProject, type TestProject } from '../../support/project.js';
import type { LiveRow } from './live-row.js';
import type { Interaction, LiveShop } from './live-shop.js';

/** Stands for a value that is absent. */
const ABSENT = -1e9;

const FEATURES = `features:
  clicks_ever: { event: click, window: 366d }
  clicks_1d: { event: click, window: 1d }
  clicks_2d: { event: click, window: 2d }
  seen_2d: { event: impression, window: 2d }
  ctr: { event: click, over: impression, window: 2d }
  ctr_prior: { event: click, over: impression, window: 2d, prior: { weight: 10 } }
`;

/** The counter of a scope: an item, a field of it, the user, the session, the query, an item for a query, and all events. */
const counter = (name: string, of: string, by = ''): Record<string, string> => ({
  [`schemas/counters/${name}.yaml`]: `counter: ${name}\nof: [${of}]\n${by}${FEATURES}`,
});

const FILES: Readonly<Record<string, string>> = {
  'millrace.yaml': 'events: { impression: {}, click: {} }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { shade: ref(shade) }\n',
  'schemas/entities/shade.yaml': 'entity: shade\n',
  'schemas/entities/user.yaml': 'entity: user\n',
  'schemas/entities/visit.yaml': 'entity: visit\n',
  'schemas/entities/search.yaml': 'entity: search\n',
  ...counter('of_item', 'product'),
  ...counter('of_shade', 'shade', 'by: [product.shade]\n'),
  ...counter('of_user', 'user'),
  ...counter('of_visit', 'visit'),
  ...counter('of_search', 'search'),
  ...counter('of_pair', 'search, product'),
  ...counter('of_site', ''),
};

function pipelineOf({ value }: LiveRow, name: string): string {
  return `pipeline: ${name}
rank: product
request: { user: optional(user), visit: visit, search: search }
features:
  - item: of_item(product)
  - shade: of_shade(product.shade)
  - visitor: of_user(user)
  - visit: of_visit(visit)
  - search: of_search(search)
  - found: of_pair(search, product)
  - site: of_site()
components:
  - use: score
    with: { value: ${JSON.stringify(`coalesce(1 * (${value}), ${ABSENT})`)} }
page: { size: 100 }
`;
}

/** A service that knows nothing yet, with a pipeline for each row. */
export class LiveProject {
  private constructor(
    private readonly project: TestProject,
    private readonly rows: readonly LiveRow[],
  ) {}

  static async start(rows: readonly LiveRow[], now: number): Promise<LiveProject> {
    const pipelines = rows.map((row, at) => [`pipelines/row_${at}.yaml`, pipelineOf(row, `row_${at}`)]);
    const files = { ...FILES, ...(Object.fromEntries(pipelines) as Record<string, string>) };
    const env = { MILLRACE_COUNTER_HORIZON: '7d' };
    return new LiveProject(await startProject(files, { now: () => now, env }), rows);
  }

  close(): Promise<void> {
    return this.project.close();
  }

  /** Sends everything in the order of arrival. */
  async send(arrivals: LiveShop['arrivals']): Promise<void> {
    for (const arrival of arrivals)
      if (arrival.kind === 'item')
        await this.project.upload('product', { product_id: arrival.id, shade: arrival.shade ?? null });
      else await this.project.app.feedback.record(bodyOf(arrival));
  }

  /** The values of a row, by item; undefined for an absent one. */
  async values(row: LiveRow, { ranking }: LiveShop): Promise<ReadonlyMap<string, number | undefined>> {
    const name = `row_${this.rows.indexOf(row)}`;
    const pipeline = this.project.app.pipelines.find((one) => one.name === name);
    if (pipeline === undefined) throw new Error(`there is no pipeline ${name}`);
    const body = {
      candidates: ranking.items.map((id) => ({ product_id: id })),
      ...(ranking.user === undefined ? {} : { user: { user_id: ranking.user } }),
      visit: { visit_id: ranking.session },
      search: { search_id: ranking.query },
    };
    const { answer } = await pipeline.run(body, { requestId: randomUUID() });
    return new Map(
      rankedIn(answer).map(({ candidate_id: id, ranked_score: score }) => [
        id,
        score === ABSENT ? undefined : score,
      ]),
    );
  }
}

function bodyOf({ id, type, item, user, session, query, timestamp }: Interaction): object {
  return {
    request_id: id,
    user: user === undefined ? null : { user_id: user },
    ...(session === undefined ? {} : { visit: { visit_id: session } }),
    ...(query === undefined ? {} : { search: { search_id: query } }),
    events: [{ type, event_id: id, product: { product_id: item }, time: timestamp }],
  };
}
