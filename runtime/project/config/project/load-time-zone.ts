import { isZone, nearestZone } from '../../../ground/core/zone-offsets.js';
import { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Environment } from '../yaml/interpolate.js';
import { entryOf, locatedText, spanOf } from '../yaml/tree.js';
import { readProjectFile, TIME_ZONE_KEY } from './load-project-file.js';

export const DEFAULT_TIME_ZONE = 'UTC';

/** Reads `time_zone:` in millrace.yaml: the time zone in which days of campaigns are whole. */
export async function loadTimeZone(
  root: string,
  environment: Environment,
  diagnostics: Diagnostics,
): Promise<string> {
  // The file is checked elsewhere too: here its other errors do not count.
  const { source, root: node } = await readProjectFile(root, environment, new Diagnostics());
  const entry = source && node && entryOf(source, node, TIME_ZONE_KEY);
  if (source === undefined || entry === undefined) return DEFAULT_TIME_ZONE;
  const zone = locatedText(source, entry.value);
  if (zone !== undefined && isZone(zone.value)) return zone.value;
  const guess = zone && nearestZone(zone.value);
  diagnostics.error(
    'wrong_type',
    zone?.at ?? (entry.value === undefined ? entry.keyAt : spanOf(source, entry.value)),
    `\`${TIME_ZONE_KEY}\`: expected a time zone of the IANA, found ${zone === undefined ? 'none' : `\`${zone.value}\``}`,
    guess === undefined ? 'for example Europe/Berlin' : `did you mean \`${guess}\`?`,
  );
  return DEFAULT_TIME_ZONE;
}
