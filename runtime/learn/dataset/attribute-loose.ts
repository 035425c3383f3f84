import { linkedLine, readLoose, type Loose } from './events.js';
import type { Attribution } from './options.js';
import type { PartitionFiles } from './partition-files.js';

/**
 * Gives feedback without a request id the request of the last click of the same user on the same candidate, and appends it
 * to the partition of that request.
 * @returns how much has no such click within its window
 */
export function attributeLoose(
  loose: PartitionFiles,
  linked: PartitionFiles,
  attribute: readonly Attribution[],
): { readonly orphans: number; readonly duplicates: number } {
  const windows = new Map(attribute.map(({ event, window }) => [event, window]));
  let orphans = 0;
  let duplicates = 0;
  for (let part = 0; part < loose.count; part++) {
    for (const own of byOwnerAndSubject(loose, part)) {
      const clicks = own.filter(({ request }) => request !== undefined).sort(byTime);
      const seen = new Set<string>();
      for (const one of own) {
        if (one.request !== undefined) continue;
        const identity = JSON.stringify([one.event, one.id ?? one.time]);
        if (seen.has(identity)) {
          duplicates += 1;
          continue;
        }
        seen.add(identity);
        const click = lastUpTo(clicks, one.time);
        const request = click?.request;
        if (
          click === undefined ||
          request === undefined ||
          one.time - click.time > (windows.get(one.event) ?? 0)
        ) {
          orphans += 1;
          continue;
        }
        const { event, subjectType, subject, time } = one;
        linked.appendJson(
          linked.of(request),
          linkedLine({ by: 'last_click', request, event, subjectType, subject, time }),
        );
      }
    }
    loose.remove(part);
  }
  linked.flush();
  return { orphans, duplicates };
}

function byOwnerAndSubject(loose: PartitionFiles, part: number): Iterable<Loose[]> {
  const groups = new Map<string, Loose[]>();
  for (const line of loose.readJson(part)) {
    const one = readLoose(line);
    const key = JSON.stringify([one.owner, one.subjectType, one.subject]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups.values();
}

/** By time; of clicks at the same time, the one with the greatest request id is the last. */
function byTime(a: Loose, b: Loose): number {
  if (a.time !== b.time) return a.time - b.time;
  const [one = '', other = ''] = [a.request, b.request];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The last of the sorted clicks that is not later than a time. */
function lastUpTo(clicks: readonly Loose[], time: number): Loose | undefined {
  let low = 0;
  let high = clicks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((clicks[middle]?.time ?? Infinity) <= time) low = middle + 1;
    else high = middle;
  }
  return clicks[low - 1];
}
