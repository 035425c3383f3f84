import { itemOf, type FeatureRow, type Item, type Shop } from '../feature-row.js';

/** The items that the user clicked, newest first, at most `count` of them within the window. */
function clicked(shop: Shop, window: number, count: number): (Item | undefined)[] {
  const { interactions, ranking } = shop;
  return interactions
    .filter(({ type, timestamp }) => type === 'click' && timestamp >= ranking.timestamp - window)
    .sort((a, b) => b.timestamp - a.timestamp)
    .slice(0, count)
    .map(({ item }) => itemOf(shop, item));
}

const WEEK = 7 * 86_400_000;

/** How often the clicked items have the tags. */
function taggedClicks(tags: Iterable<string>, seen: readonly string[]): number {
  return Array.from(tags).reduce((sum, tag) => sum + seen.filter((one) => one === tag).length, 0);
}

export const INTERACTIONS: readonly FeatureRow[] = [
  {
    name: 'interacted_with',
    steps: `  - use: interaction
    as: liked
    with: { of: user, with: product.colour, outputs: { clicks: { event: click, window: 7d } } }`,
    value: 'liked:clicks',
    metarank: ({ colour }, shop) => clicked(shop, WEEK, 100).filter((item) => item?.colour === colour).length,
    differs: (theirs, { colour }) => (colour === undefined ? undefined : theirs),
  },
  {
    name: 'interacted_with, list',
    steps: `  - use: interaction
    as: liked
    with: { of: user, with: product.tags, lists: sum, outputs: { clicks: { event: click, window: 7d } } }`,
    value: 'liked:clicks',
    metarank: ({ tags = [] }, shop) =>
      taggedClicks(
        tags,
        clicked(shop, WEEK, 100).flatMap((item) => item?.tags ?? []),
      ),
    // A tag that a list repeats counts once.
    differs: (_theirs, { tags }, shop) =>
      tags &&
      taggedClicks(
        new Set(tags),
        clicked(shop, WEEK, 100).flatMap((item) => [...new Set(item?.tags)]),
      ),
  },
];
