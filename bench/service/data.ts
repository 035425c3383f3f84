import { candidatesOf, type ItemsProject } from '../support/items-project.js';

/** The data of the service bench: items with 40 features, scored by 300 trees of 64 leaves. */
export const FEATURES = Array.from({ length: 40 }, (_, i) => `f${i}`);
export const PROJECT: ItemsProject = { features: FEATURES, trees: 300, time: '10s' };

/** The naive service's key. It is as long as Millrace's. */
export const naiveKey = (id: string): string => `naivesvc:features:item:${id}`;

/** Creates request bodies with `count` different items each and a page of ten. */
export function bodiesOf(items: number, count: number, bodies: number): Buffer[] {
  return Array.from({ length: bodies }, (_, seed) =>
    Buffer.from(
      JSON.stringify({
        request_id: `r${seed}`,
        candidates: candidatesOf(items, count, seed),
        user_page: 0,
        user_page_size: 10,
      }),
    ),
  );
}
