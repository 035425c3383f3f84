import type { Verdict } from '../support/figures.js';
import type { PhaseFigures } from './instance-data.js';

/** What may pass, at the 99th percentile, before another instance shows a write. */
const MOST_LAG = 50;

/** Prints what the instances saw in a phase, and checks what holds in any. */
export function report(
  verdict: Verdict,
  name: string,
  seen: readonly PhaseFigures[],
  seconds: number,
): { readonly failed: number; readonly calls: number; readonly hitShare: number } {
  const sum = (of: (figures: PhaseFigures) => number): number => seen.reduce((all, one) => all + of(one), 0);
  const lags = seen.flatMap((one) => one.lags).sort((a, b) => a - b);
  const looked = Math.max(
    1,
    sum((one) => one.hits + one.misses + one.bypasses),
  );
  const share = (count: number): string => `${((100 * count) / looked).toFixed(1)} %`;
  console.log(
    `\n${name}: ${sum((one) => one.rankings)} rankings, ${sum((one) => one.writes)} writes in ${seconds.toFixed(1)} s; ` +
      `hits ${share(sum((one) => one.hits))}, misses ${share(sum((one) => one.misses))}, ` +
      `bypasses ${share(sum((one) => one.bypasses))}, ${sum((one) => one.flushes)} flushes`,
  );
  console.log(
    `items of the other instance: ${sum((one) => one.foreign)}, of which older than acknowledged ${lags.length}; ` +
      `for how long, of those: median ${at(lags, 50)} ms, p99 ${at(lags, 99)} ms, most ${at(lags, 100)} ms`,
  );
  for (const failure of seen.flatMap((one) => one.failures).slice(0, 3)) console.log(`  ${failure}`);
  const violations = sum((one) => one.violations);
  verdict.check(
    `${name}: rankings older than a write acknowledged on their instance`,
    violations === 0,
    `${violations}`,
  );
  const torn = sum((one) => one.torn);
  verdict.check(`${name}: torn entities`, torn === 0, `${torn}`);
  verdict.check(
    `${name}: staleness elsewhere at the 99th percentile, limit ${MOST_LAG} ms`,
    Number(at(lags, 99)) <= MOST_LAG,
    `${at(lags, 99)} ms`,
  );
  return {
    failed: sum((one) => one.failed),
    calls: sum((one) => one.rankings + one.writes),
    hitShare: sum((one) => one.hits) / looked,
  };
}

function at(sorted: readonly number[], percent: number): string {
  const index = Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1);
  return (sorted[Math.max(0, index)] ?? 0).toFixed(1);
}
