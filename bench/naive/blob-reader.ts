import type { Catalogue } from '../support/catalogue.js';

/**
 * Builds the records of a store with JSON blobs for the bench's catalogue: key to text. The keys are as long as
 * Millrace's keys.
 */
export function blobRecords({ items, makers, stats }: Catalogue): Map<string, string> {
  const records = new Map<string, string>();
  for (const item of items) records.set(itemKey(item.item_id), JSON.stringify(item));
  for (const maker of makers) records.set(makerKey(maker.maker_id), JSON.stringify(maker));
  for (const { item_id, ...features } of stats) {
    records.set(statsKey(String(item_id)), JSON.stringify(features));
  }
  return records;
}

export const itemKey = (id: string): string => `jsonblob:entity:item:${id}`;
export const statsKey = (id: string): string => `jsonblob:features:item:${id}`;
const makerKey = (id: string): string => `jsonblob:entity:maker:${id}`;

/** A candidate of this reader: an object with its attributes, its maker and its features. */
export interface BlobCandidate {
  readonly item_id: string;
  readonly price: number;
  readonly maker: { readonly rating: number };
  readonly features: Readonly<Record<string, number>>;
}

/**
 * Reads candidates in the simple way: two blobs per candidate in one MGET, their makers in another, JSON.parse, and
 * one object per candidate.
 */
export async function readBlobs(
  mget: (keys: string[]) => Promise<(string | null)[]>,
  ids: readonly string[],
): Promise<BlobCandidate[]> {
  const blobs = await mget([...ids.map(itemKey), ...ids.map(statsKey)]);
  const items = ids.map(
    (_, i) => JSON.parse(blobs[i] ?? '{}') as { item_id: string; price: number; maker: string },
  );
  const makerIds = [...new Set(items.map(({ maker }) => maker))];
  const makerBlobs = await mget(makerIds.map(makerKey));
  const makers = new Map(
    makerIds.map((id, i) => [id, JSON.parse(makerBlobs[i] ?? '{}') as { rating: number }] as const),
  );
  return items.map((item, i) => ({
    ...item,
    maker: makers.get(item.maker) ?? { rating: NaN },
    features: JSON.parse(blobs[ids.length + i] ?? '{}') as Record<string, number>,
  }));
}
