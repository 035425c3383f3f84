import type { Catalogue } from '../support/catalogue.js';
import { FEATURES } from '../support/catalogue.js';

/**
 * The same ranking as bench/project, written like a first version of such a service: JSON blobs in the store, one
 * object per candidate, and components that look up features by name in maps.
 */
export interface BlobReader {
  mget(keys: readonly string[]): Promise<(string | null)[]>;
}

export interface NaiveAnswer {
  readonly ranked_candidates: readonly { readonly candidate_id: string; readonly ranked_score: number }[];
}

/** The records of the naive service: key to JSON text. */
export function naiveRecords({ items, makers, stats }: Catalogue): Map<string, string> {
  const records = new Map<string, string>();
  for (const item of items) records.set(`naive:item:${item.item_id}`, JSON.stringify(item));
  for (const maker of makers) records.set(`naive:maker:${maker.maker_id}`, JSON.stringify(maker));
  for (const { item_id, ...features } of stats) {
    records.set(`naive:item_stats:${item_id ?? ''}`, JSON.stringify(features));
  }
  return records;
}

const WEIGHTS = new Map(
  FEATURES.map((name, i) => [`item_stats:${name}`, Math.round((0.1 * (i % 5) - 0.15) * 100) / 100]),
);

class Candidate {
  attributes = new Map<string, unknown>();
  features = new Map<string, number>();
  score = 0;
  constructor(readonly id: string) {}

  getFeature(name: string): number | undefined {
    return this.features.get(`${this.id}:${name}`);
  }
}

/** Runs one request, from the text of its body to the text of its answer. */
export async function naiveRank(reader: BlobReader, bodyText: string): Promise<string> {
  const body = JSON.parse(bodyText) as { candidates: { item_id: string }[]; user_page_size: number };
  const candidates = body.candidates.map(({ item_id }) => new Candidate(item_id));

  const ids = candidates.map(({ id }) => id);
  const blobs = await reader.mget([
    ...ids.map((id) => `naive:item:${id}`),
    ...ids.map((id) => `naive:item_stats:${id}`),
  ]);
  candidates.forEach((candidate, i) => {
    const item = JSON.parse(blobs[i] ?? '{}') as Record<string, unknown>;
    for (const [name, value] of Object.entries(item)) candidate.attributes.set(name, value);
    const features = JSON.parse(blobs[ids.length + i] ?? '{}') as Record<string, number>;
    for (const [name, value] of Object.entries(features)) {
      candidate.features.set(`${candidate.id}:item_stats:${name}`, value);
    }
  });

  const makerIds = [...new Set(candidates.map(({ attributes }) => attributes.get('maker') as string))];
  const makerBlobs = await reader.mget(makerIds.map((id) => `naive:maker:${id}`));
  const makers = new Map(
    makerIds.map((id, i) => [id, JSON.parse(makerBlobs[i] ?? '{}') as { rating: number }] as const),
  );
  for (const { attributes } of candidates)
    attributes.set('maker', makers.get(attributes.get('maker') as string));

  const kept = candidates.filter(({ attributes }) => (attributes.get('stock') as number) > 0);
  for (const candidate of kept) {
    let model = 0;
    for (const [name, weight] of WEIGHTS) model += weight * (candidate.getFeature(name) ?? NaN);
    const maker = candidate.attributes.get('maker') as { rating: number };
    candidate.score = model + 0.2 * maker.rating - 0.001 * (candidate.attributes.get('price') as number);
  }
  kept.sort((a, b) => b.score - a.score);
  const answer: NaiveAnswer = {
    ranked_candidates: kept
      .slice(0, body.user_page_size)
      .map(({ id, score }) => ({ candidate_id: id, ranked_score: score })),
  };
  return JSON.stringify(answer);
}
