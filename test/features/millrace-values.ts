import { randomUUID } from 'node:crypto';
import type { App } from '../../runtime/serve/app/running-app.js';
import { rankedIn, startProject, type TestProject } from '../support/project.js';
import { itemOf, type FeatureRow, type Shop } from './feature-row.js';

/** Stands for a value that is absent: no feature of a random shop has it. */
const ABSENT = -1e9;

const SCHEMA = `entity: product
extends: ProductEntity
attributes:
  price: float
  sale: bool
  colour: string
  title: string
  tags: list(string)
  scores: list(float)
  embedding: vector(4)
  created: timestamp
`;

/** A pipeline whose score is the value of a row. */
function pipelineOf({ steps = '', value }: FeatureRow, name: string): string {
  return `pipeline: ${name}
rank: product
request:
  candidates: { relevancy: float }
  user: user
  local_time: timestamp
  zone: string
  user_agent: { type: string, private: true }
  referrer: { type: string, private: true }
  text: optional(string)
components:
${steps === '' ? '' : `${steps}\n`}  - use: score
    with: { value: ${JSON.stringify(`coalesce(1 * (${value}), ${ABSENT})`)} }
page: { size: 100 }
`;
}

/** A service with a pipeline for each row. Its clock is that of the ranking. */
export class FeatureProject {
  readonly #project: TestProject;
  readonly #rows: readonly FeatureRow[];
  readonly #clock: { now: number };
  #users = 0;

  private constructor(project: TestProject, rows: readonly FeatureRow[], clock: { now: number }) {
    this.#project = project;
    this.#rows = rows;
    this.#clock = clock;
  }

  static async start(rows: readonly FeatureRow[]): Promise<FeatureProject> {
    const clock = { now: Date.now() };
    const pipelines = rows.map((row, at) => [`pipelines/row_${at}.yaml`, pipelineOf(row, `row_${at}`)]);
    const files = {
      'schemas/entities/product.yaml': SCHEMA,
      'schemas/entities/user.yaml': 'entity: user\n',
      ...(Object.fromEntries(pipelines) as Record<string, string>),
    };
    return new FeatureProject(await startProject(files, { now: () => clock.now }), rows, clock);
  }

  close(): Promise<void> {
    return this.#project.close();
  }

  /** Loads the events of a shop, for a user of its own. */
  async load(shop: Shop): Promise<string> {
    const user = `u${this.#users++}`;
    this.#clock.now = shop.ranking.timestamp;
    const entities = shop.items.map(({ id, ...fields }) => ({ product_id: id, ...fields }));
    await this.#project.upload('product', ...entities);
    if (shop.interactions.length > 0) {
      const events = shop.interactions.map(({ type, item, timestamp }, at) => ({
        type,
        event_id: `${user}-${at}`,
        product: { product_id: item },
        time: timestamp,
      }));
      await this.#project.app.feedback.record({ request_id: user, user: { user_id: user }, events });
    }
    return user;
  }

  /** The values of a row, by item; undefined for an absent one. */
  async values(
    row: FeatureRow,
    { ranking }: Shop,
    user: string,
  ): Promise<ReadonlyMap<string, number | undefined>> {
    const name = `row_${this.#rows.indexOf(row)}`;
    const pipeline = pipelineNamed(this.#project.app, name);
    const body = {
      candidates: ranking.items.map(({ id, relevancy }) => ({ product_id: id, relevancy })),
      user: { user_id: user },
      local_time: ranking.localTime,
      zone: ranking.zone,
      user_agent: ranking.userAgent,
      referrer: ranking.referrer,
      ...(ranking.query === undefined ? {} : { text: ranking.query }),
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

function pipelineNamed(app: App, name: string): App['pipelines'][number] {
  const found = app.pipelines.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no pipeline ${name}`);
  return found;
}

/** What a row must give for each ranked item. */
export function expectedOf(row: FeatureRow, shop: Shop): ReadonlyMap<string, number | undefined> {
  return new Map(
    shop.ranking.items.map(({ id }) => {
      const item = itemOf(shop, id) ?? { id };
      const theirs = row.metarank(item, shop);
      return [id, row.differs === undefined ? theirs : row.differs(theirs, item, shop)];
    }),
  );
}
