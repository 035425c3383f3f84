import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { ExperimentDefinition } from '../model/experiments.js';
import { isLive, isMixed } from '../model/experiment-modes.js';

/** Checks that experiments of one layer do not overlap, and that others do not meet in what they change. */
export function checkLayers(experiments: readonly ExperimentDefinition[], diagnostics: Diagnostics): void {
  const live = experiments.filter(isLive);
  for (const { share, offset, name, at } of live)
    if (isBefore(1, offset + share))
      diagnostics.error(
        'layer_conflict',
        at,
        `\`${name}\`: the share ends at ${percent(offset + share)} of the layer`,
        `\`offset\` and \`share\` can be 100% together; make the share ${percent(1 - offset)} or less`,
      );
  for (const [index, one] of live.entries())
    for (const other of live.slice(0, index)) if (meetInTime(one, other)) checkPair(one, other, diagnostics);
}

function checkPair(one: ExperimentDefinition, other: ExperimentDefinition, diagnostics: Diagnostics): void {
  const isForeign = one.assign !== undefined || other.assign !== undefined;
  if (one.layer.value === other.layer.value && !isForeign) {
    if (one.unit.value !== other.unit.value)
      diagnostics.error(
        'layer_conflict',
        one.layer.at,
        `\`${one.name}\` has the unit ${one.unit.value}, but \`${other.name}\` of the same layer has ${other.unit.value}`,
        'give both the same unit, or layers of their own',
      );
    else if (
      isBefore(one.offset, other.offset + other.share) &&
      isBefore(other.offset, one.offset + one.share)
    )
      diagnostics.error(
        'layer_conflict',
        one.at,
        `\`${one.name}\` and \`${other.name}\` take the same part of the layer \`${one.layer.value}\``,
        isBefore(other.offset + other.share, 1)
          ? `write \`offset: ${percent(other.offset + other.share)}\` here, after the share of \`${other.name}\``
          : 'make the shares smaller; those of one layer can be 100% together',
      );
    return;
  }
  const shared = sharedChange(one, other);
  if (shared !== undefined)
    diagnostics.error(
      'layer_conflict',
      one.at,
      `\`${one.name}\` and \`${other.name}\` ${shared}, but they do not share a layer`,
      isForeign
        ? 'an experiment with `assign` has no layer; let one end (`until`) before the other begins (`from`)'
        : `write \`layer: ${other.layer.value}\` and an \`offset\` in \`${one.name}\`, so that they exclude one another`,
    );
}

/** What two experiments of different layers change both. */
function sharedChange(one: ExperimentDefinition, other: ExperimentDefinition): string | undefined {
  if (one.pipeline.value !== other.pipeline.value) return undefined;
  const { value: pipeline } = one.pipeline;
  const replaces = [one, other].find(({ arms }) =>
    [...arms.values()].some((arm) => arm.pipeline !== undefined),
  );
  if (replaces !== undefined)
    return `meet in the pipeline \`${pipeline}\`, which \`${replaces.name}\` replaces`;
  if (isMixed(one) && isMixed(other)) return `both interleave the pages of \`${pipeline}\``;
  const own = paramsOf(one);
  const both = [...paramsOf(other)].find((param) => own.has(param));
  return both === undefined ? undefined : `both change the param \`${both}\` of \`${pipeline}\``;
}

function paramsOf({ arms }: ExperimentDefinition): ReadonlySet<string> {
  return new Set([...arms.values()].flatMap(({ params }) => [...params.keys()]));
}

function meetInTime(one: ExperimentDefinition, other: ExperimentDefinition): boolean {
  const starts = ({ from = -Infinity }: ExperimentDefinition): number => from;
  const ends = ({ until = Infinity }: ExperimentDefinition): number => until;
  return starts(one) < ends(other) && starts(other) < ends(one);
}

/** Whether a point of a layer is before another one. Sums such as 20 % + 10 % are not exact. */
function isBefore(one: number, other: number): boolean {
  return one < other - 1e-12;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(6))}%`;
}
