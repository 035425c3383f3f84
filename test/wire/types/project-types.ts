// Compiled by `npm run test:wire` with what `millrace types` writes, and with clients/typescript.
import { Millrace } from '@millrace/client';
import type { Event, Project } from './millrace-types.js';

const client = new Millrace<Project>('http://127.0.0.1:5001');

export async function use(): Promise<void> {
  const ranking = await client.rank('search', {
    candidates: [{ product_id: 'p1' }, { product_id: 7, upstream: 0.5, brand: { name: 'Hill' } }],
    user: { user_id: 'u1' },
    since: '2026-01-31',
    include_events: true,
  });
  const first: string | undefined = ranking.ids[0];
  const events: readonly Event[] = ranking.answer.events ?? [];
  for (const event of events)
    if (event.event_type === 'FEATURE') console.log(first, event.event_data.feature_status);
  // @ts-expect-error: the project has no such pipeline
  await client.rank('serch', { candidates: [] });
  // @ts-expect-error: `risk` scores one entity
  await client.rank('risk', { candidates: [] });
  // @ts-expect-error: a misspelt attribute would be ignored
  await client.rank('search', { candidates: [{ product_id: 'p1', prize: 2 }] });
  // @ts-expect-error: the price is a number
  await client.rank('search', { candidates: [{ product_id: 'p1', price: 'much' }] });
  const { answer } = await client.score('risk', { order: { order_id: 'o1', amount: 3 } });
  const large: boolean | null = answer.large;
  const told = await client.explain('risk', { order: { order_id: 'o1' } });
  await client.uploadEntities('product', [{ product_id: 'p1', price: 9.5, colour: 'red' }]);
  // @ts-expect-error: the project has no such type
  await client.uploadEntities('prodct', []);
  const { p1 } = await client.getEntities('product', ['p1']);
  const price: number | null | undefined = p1?.price;
  await client.pushFeatures('stats', [{ product_id: 'p1', ctr: 0.1 }]);
  await client.deleteFeatures('stats', [{ product_id: 'p1' }]);
  await client.sendFeedback(
    ranking.requestId,
    [{ type: 'order', product: { product_id: 'p1' }, revenue: price ?? 1, gift: large ?? false }],
    { user: { user_id: 'u1' } },
  );
  // @ts-expect-error: the project has no such kind
  await client.sendFeedback('r1', [{ type: 'clik', product: { product_id: 'p1' } }], {});
  for await (const row of client.scanFeatures('stats')) console.log(row.ctr, told);
}
