import type { CoveredPart } from '../ranking-tests/coverage.js';
import { renderTable } from './table.js';

/** What the tests fire of each pipeline, and each part that they never fire, with its place. */
export function coverageText(parts: readonly CoveredPart[]): string {
  const pipelines = [...new Set(parts.map(({ pipeline }) => pipeline))];
  const summary = renderTable(
    { pipeline: 40, fired: 'right', parts: 'right' },
    pipelines.map((name) => {
      const own = parts.filter(({ pipeline }) => pipeline === name);
      return [name, own.filter(({ fired }) => fired > 0).length, own.length];
    }),
  );
  const never = parts.filter(({ fired }) => fired === 0);
  if (never.length === 0) return `${summary}\nEvery step and rule is fired by a test.\n`;
  const table = renderTable(
    { 'never fired': 40, step: 20, what: 30 },
    never.map(({ at, as, step, what }) => [
      `${at.file.path}:${at.file.position(at.start).line}`,
      `${as}#${step}`,
      what,
    ]),
  );
  return `${summary}\n${table}`;
}
