import fc from 'fast-check';
import type { Item, Shop } from './feature-row.js';
import { plainTexts, queries, titles } from './random-texts.js';
import { REFERRERS } from './referrers.js';
import { USER_AGENTS } from './user-agents.js';

const COLOURS = ['red', 'green', 'blue', 'a|b', 'été'];
const TAGS = ['new', 'eco', 'outlet', 'gift'];
/** Offsets of the zones at the times of `LOCAL`. */
const LOCAL = [
  ['2026-01-15T23:59:59+01:00', 'Europe/Berlin'],
  ['2026-03-29T01:59:59+01:00', 'Europe/Berlin'],
  ['2026-03-29T03:00:00+02:00', 'Europe/Berlin'],
  ['2026-10-25T02:30:00+01:00', 'Europe/Berlin'],
  ['2026-07-04T00:00:00-04:00', 'America/New_York'],
  ['2026-12-31T18:15:30-05:00', 'America/New_York'],
  ['2024-02-29T12:00:00+05:45', 'Asia/Kathmandu'],
  ['2026-06-30T23:45:01+12:45', 'Pacific/Chatham'],
  ['2026-01-01T00:00:00+00:00', 'UTC'],
] as const;

const NOW = Date.UTC(2026, 5, 15, 12);
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 6 });
const amount = fc.integer({ min: -2000, max: 20_000 }).map((cents) => cents / 100);

const itemsWith = (title: fc.Arbitrary<string | undefined>): fc.Arbitrary<Item[]> =>
  fc
    .array(
      fc.record({
        price: optional(amount),
        sale: optional(fc.boolean()),
        colour: optional(fc.constantFrom(...COLOURS)),
        title,
        tags: optional(fc.array(fc.constantFrom(...TAGS), { maxLength: 4 })),
        scores: optional(fc.array(amount, { maxLength: 6 })),
        embedding: optional(fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 4, maxLength: 4 })),
        created: optional(fc.integer({ min: NOW - 4e10, max: NOW + 1e9 })),
      }),
      { minLength: 1, maxLength: 12 },
    )
    .map((all) => all.map((item, at) => dropUndefined({ id: `p${at}`, ...item }) as Item));

const shopsWith = (
  title: fc.Arbitrary<string | undefined>,
  query: fc.Arbitrary<string | undefined>,
): fc.Arbitrary<Shop> =>
  itemsWith(title).chain((all) =>
    fc.record({
      items: fc.constant(all),
      interactions: fc.array(
        fc.record({
          type: fc.constantFrom('click', 'cart'),
          item: fc.constantFrom(...all.map(({ id }) => id)),
          timestamp: fc.integer({ min: NOW - 5e8, max: NOW - 1 }),
        }),
        { maxLength: 20 },
      ),
      ranking: fc
        .record({
          items: fc
            .constant(all.map(({ id }) => id))
            .chain((ids) =>
              fc.tuple(
                ...ids.map((id) => fc.integer({ min: 0, max: 99 }).map((relevancy) => ({ id, relevancy }))),
              ),
            ),
          local: fc.constantFrom(...LOCAL),
          userAgent: fc.constantFrom(...USER_AGENTS.map(({ text }) => text)),
          referrer: fc.constantFrom(...REFERRERS.map(({ url }) => url)),
          query,
        })
        .map(({ local: [localTime, zone], ...rest }) =>
          dropUndefined({ timestamp: NOW, localTime, zone, ...rest }),
        ),
    }),
  ) as fc.Arbitrary<Shop>;

/** Shops with random items, interactions and rankings. */
export const shops = shopsWith(optional(titles), optional(queries));

/** Shops whose titles and queries have words that every analyzer finds alike, each word once. */
export const plainShops = shopsWith(plainTexts, plainTexts);

/** A shop for each user agent, referrer and local time. */
export function contexts(): Shop[] {
  const count = Math.max(USER_AGENTS.length, REFERRERS.length, LOCAL.length);
  return Array.from({ length: count }, (_, at) => {
    const [localTime, zone] = LOCAL[at % LOCAL.length] ?? ['', ''];
    const userAgent = USER_AGENTS[at % USER_AGENTS.length]?.text ?? '';
    const referrer = REFERRERS[at % REFERRERS.length]?.url ?? '';
    const items = [{ id: 'p0', relevancy: 1 }];
    const ranking = { timestamp: NOW, items, localTime, zone, userAgent, referrer };
    return { items: [{ id: 'p0' }], interactions: [], ranking };
  });
}

function dropUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
