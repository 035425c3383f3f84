import type { FeatureRead, HistoryRead, HydrationNode, ReadLevel } from './plan.js';

/** Groups the reads into round trips. A level without reads is left out. */
export function levelsOf(
  nodes: readonly HydrationNode[],
  features: readonly FeatureRead[],
  histories: readonly HistoryRead[],
): ReadLevel[] {
  const levels: ReadLevel[] = [];
  const deepest = Math.max(0, ...[...nodes, ...features, ...histories].map(({ level }) => level));
  for (let level = 0; level <= deepest; level++) {
    const read = {
      nodes: Object.freeze(nodes.filter((node) => node.level === level && node.indexed)),
      features: Object.freeze(features.filter((one) => one.level === level)),
      histories: Object.freeze(histories.filter((one) => one.level === level)),
    };
    const count = read.nodes.length + read.features.length + read.histories.length;
    if (count > 0) levels.push(Object.freeze(read));
  }
  return levels;
}
