import type { Catalogue } from '../support/catalogue.js';

/** What a store of JSON blobs holds of the bench's catalogue: key to text. Keys are as long as Millrace's. */
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

/** A candidate as such a reader fills it: an object with its attributes, its maker and its features. */
export interface BlobCandidate {
  readonly item_id: string;
  readonly price: number;
  readonly maker: { readonly rating: number };
  readonly features: Readonly<Record<string, number>>;
}

/** Reads candidates the plain way: two blobs each in one MGET, their makers in another, JSON.parse, an object each. */
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
