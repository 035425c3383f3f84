import { join } from 'node:path';
import { count } from '../../ground/core/count.js';
import type { Manifest } from '../../learn/dataset/manifest.js';
import { spanText } from '../../learn/dataset/span-text.js';

/** What `dataset build` prints: the parts, what was left out, and what became of the feedback. */
export function dataSetText(manifest: Manifest, out: string): string {
  const {
    pipeline,
    source,
    requests,
    rows,
    attribution,
    features,
    files,
    label,
    window_ms: window,
  } = manifest;
  const grades =
    source === 'judgments'
      ? `grades ${Object.values(label)
          .sort((a, b) => a - b)
          .join(', ')}`
      : `${Object.entries(label)
          .map(([kind, grade]) => `${kind}=${grade}`)
          .join(', ')}, within ${spanText(window)}`;
  const lines = [
    `${pipeline}: ${count(requests.train + requests.holdout)} requests, ${count(features.length)} features, ` +
      `${count(rows.with_grade)} rows with a grade above 0 (${grades})`,
    `  train     ${padded(requests.train, 'requests')}  ${padded(rows.train, 'rows')}`,
    `  hold-out  ${padded(requests.holdout, 'requests')}  ${padded(rows.holdout, 'rows')}`,
    ...listed('left out', [
      [requests.censored, 'younger than the window'],
      [requests.gap, 'in the gap between the parts'],
      [requests.failed, 'failed'],
      [requests.empty, 'without candidates'],
    ]),
    ...listed('feedback', [
      [attribution.by_request, 'by request id'],
      [attribution.by_last_click, 'by last click'],
      [attribution.orphans, 'orphans'],
      [attribution.duplicates, 'duplicates'],
      [attribution.late, 'late'],
      [attribution.outside, 'of other requests'],
    ]),
    `wrote ${join(out, 'manifest.json')}, ${files.train}, ${files.holdout}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** A line with the counts that are not 0. */
function listed(name: string, counts: readonly (readonly [number, string])[]): readonly string[] {
  const some = counts.filter(([value]) => value > 0).map(([value, what]) => `${count(value)} ${what}`);
  return some.length === 0 ? [] : [`  ${name.padEnd(8)}  ${some.join(', ')}`];
}

function padded(value: number, what: string): string {
  return `${count(value).padStart(11)} ${what}`;
}
