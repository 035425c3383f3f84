import type { CoveredPart } from '../ranking-tests/coverage.js';
import { renderTable } from '../table.js';

/** What the tests fire of each pipeline, and each part that they never fire, with its place. */
export function coverageText(parts: readonly CoveredPart[]): string {
  const pipelines = [...new Set(parts.map(({ pipeline }) => pipeline))];
  const summary = renderTable(
    [
      { title: 'pipeline', max: 40 },
      { title: 'fired', align: 'right' },
      { title: 'parts', align: 'right' },
    ],
    pipelines.map((name) => {
      const own = parts.filter(({ pipeline }) => pipeline === name);
      return [name, String(own.filter(({ fired }) => fired > 0).length), String(own.length)];
    }),
  );
  const never = parts.filter(({ fired }) => fired === 0);
  if (never.length === 0) return `${summary}\nEvery step and rule is fired by a test.\n`;
  const table = renderTable(
    [
      { title: 'never fired', max: 40 },
      { title: 'step', max: 20 },
      { title: 'what', max: 30 },
    ],
    never.map(({ at, as, step, what }) => [
      `${at.file.path}:${at.file.position(at.start).line}`,
      `${as}#${step}`,
      what,
    ]),
  );
  return `${summary}\n${table}`;
}
