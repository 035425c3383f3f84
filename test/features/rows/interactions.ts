import { itemOf, type FeatureRow, type Shop } from '../feature-row.js';

/** The colours of the items that the user clicked, newest first, at most `count` of them within the window. */
function clicked(
  { interactions, ranking, ...shop }: Shop,
  window: number,
  count: number,
): (string | undefined)[] {
  return interactions
    .filter(({ type, timestamp }) => type === 'click' && timestamp >= ranking.timestamp - window)
    .sort((a, b) => b.timestamp - a.timestamp)
    .slice(0, count)
    .map(({ item }) => itemOf({ interactions, ranking, ...shop }, item)?.colour);
}

const WEEK = 7 * 86_400_000;

export const INTERACTIONS: readonly FeatureRow[] = [
  {
    name: 'interacted_with',
    steps: `  - use: interaction
    as: liked
    with: { of: user, with: product.colour, outputs: { clicks: { event: click, window: 7d } } }`,
    value: 'liked:clicks',
    metarank: ({ colour }, shop) => clicked(shop, WEEK, 100).filter((one) => one === colour).length,
    differs: (theirs, { colour }) => (colour === undefined ? undefined : theirs),
  },
];
