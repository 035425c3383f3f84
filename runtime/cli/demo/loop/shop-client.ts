import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { JsonObject } from '../../../ground/api/types.js';
import type { RankingAnswer } from '../../../request/pipeline/answer-types.js';
import type { Search, ShopProduct, Shoppers, Visit } from './shoppers.js';

const MOST_ATTEMPTS = 50;
const RETRY_MS = 100;

/** The shop's own program: it sends searches and feedback to the service, over HTTP. */
export class ShopClient {
  readonly #agent = new Agent({ connections: 4 });
  readonly #products: ReadonlyMap<string, ShopProduct>;
  readonly #url: string;

  constructor(url: string, { products }: Shoppers) {
    this.#url = url;
    this.#products = new Map(products.map((product) => [product.product_id, product]));
  }

  /** The page that the service answers. @param explore leaves the candidates in the order of the search */
  async search({ requestId, user, query, candidates }: Search, explore: boolean): Promise<ShopProduct[]> {
    const answer = (await this.#post('/api/v1/shop', {
      request_id: requestId,
      query: { query: query.text },
      user: { user_id: user.user_id },
      explore,
      candidates: candidates.map(({ product_id: id }) => ({ product_id: id })),
    })) as RankingAnswer;
    return answer.ranked_candidates.flatMap(({ candidate_id: id }) => this.#products.get(id) ?? []);
  }

  async sendFeedback({ requestId, user }: Search, { clicked, ordered }: Visit): Promise<void> {
    const event = (type: string, { product_id: id }: ShopProduct): JsonObject => ({
      type,
      product: { product_id: id },
    });
    const events = [
      ...clicked.map(({ product, place }) => ({ ...event('click', product), position: place })),
      ...ordered.map((product) => event('order', product)),
    ];
    if (events.length === 0) return;
    await this.#post('/api/v1/feedback', {
      request_id: requestId,
      user: { user_id: user.user_id },
      events,
    });
  }

  /** The version of the project in service. */
  async projectVersion(): Promise<string> {
    const { body } = await request(`${this.#url}/readyz`, { dispatcher: this.#agent });
    return ((await body.json()) as { readonly project_version: string }).project_version;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Sends a body, and sends it again after a 503: a service that is overloaded refuses some requests. */
  async #post(path: string, body: JsonObject): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const { statusCode, body: answer } = await request(this.#url + path, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      if (statusCode === 200) return JSON.parse(text);
      if (statusCode !== 503 || attempt === MOST_ATTEMPTS)
        throw new Error(`${path} answered ${statusCode}: ${text.slice(0, 500)}`);
      await pause(RETRY_MS);
    }
  }
}
