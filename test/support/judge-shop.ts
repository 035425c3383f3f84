import { pino } from 'pino';
import { compares } from '../../runtime/cli/compare/compares.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import type { Overrides } from '../../runtime/serve/app/container/services.js';
import { post } from '../http/harness.js';
import { MemoryStore } from './memory-store.js';

const LONG = 'Wasserdichter Trekkingrucksack mit abnehmbarem Regenschutz und dreißig Fächern '.repeat(3);
const PARAMS = `params:
  # What a euro counts.
  w_price: { value: 1, min: 0, max: 3 }
  w_lumen: { value: 0, min: 0, max: 100 } # the brand Lumen
`;

/** A shop whose pipelines rank by price, up and down. `shop` has params, and logs its requests. */
export const JUDGE_SHOP: Readonly<Record<string, string>> = {
  'millrace.yaml': 'project: shop\ntime_zone: Europe/Berlin\nimage_hosts: [cdn.shop.example]\n',
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
display: { title: title, image: image_url, subtitle: brand, badges: [price] }
attributes: { title: string, image_url: string, brand: string, price: float, is_new: bool }
`,
  'pipelines/shop.yaml': `pipeline: shop
rank: product
request: { candidates: {}, query: optional(string) }
${PARAMS}components:
  - { use: filter, as: cheap, with: { keep: product.price < 1000 } }
  - { use: score, with: { value: '100 - w_price * product.price + if(product.brand == "Lumen", w_lumen, 0)' } }
log: { candidates: all, features: all, unit: request }
`,
  'pipelines/shop_new.yaml': `pipeline: shop_new
rank: product
request: { candidates: {}, query: optional(string) }
components:
  - { use: score, with: { value: product.price } }
`,
};

export const JUDGED_PRODUCTS = Array.from({ length: 30 }, (_, at) => ({
  product_id: `p${at}`,
  title: at === 5 ? LONG : `Zelt Modell ${at}`,
  image_url: `https://cdn.shop.example/${at}.png`,
  brand: at % 2 === 0 ? 'Nord' : 'Lumen',
  price: at === 29 ? 5000 : 10 + at,
  is_new: at % 3 === 0,
}));

export interface JudgeShop {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the shop in a process of the workbench.
 * @param over `compares: undefined` for one that ranks
 */
export async function serveJudgeShop(
  root: string,
  store = new MemoryStore(),
  over: Overrides & { readonly records?: boolean } = { compares },
): Promise<JudgeShop> {
  const settings = loadSettings(
    { LOG_LEVEL: 'silent', MILLRACE_QUEUE_MS: '30000', MILLRACE_IMAGE_HOSTS: 'cdn.shop.example' },
    { project: root },
  );
  const app = await createApp(settings, { store, logger: pino({ level: 'silent' }), ...over });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  await post(`${url}/api/v1/entities/upload`, { entity_type: 'product', entities: JUDGED_PRODUCTS });
  return {
    url,
    close: async () => {
      await server.close(0);
      await app.close();
    },
  };
}
