import type { App } from '../../runtime/serve/app/running-app.js';
import type { Catalogue } from './catalogue.js';

/** Uploads the catalogue and pushes its features, a thousand rows at a time. */
export async function loadCatalogue(app: App, { items, makers, stats }: Catalogue): Promise<void> {
  for (const [entity_type, entities] of [
    ['item', items],
    ['maker', makers],
  ] as const) {
    for (let i = 0; i < entities.length; i += 1000) {
      await app.entities.upload({ entity_type, entities: entities.slice(i, i + 1000) });
    }
  }
  for (let i = 0; i < stats.length; i += 1000) {
    await app.features.push({ view: 'item_stats', rows: stats.slice(i, i + 1000) });
  }
}
