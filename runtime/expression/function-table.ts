import { FUNCTIONS } from './functions/registry.js';

/** The functions as a Markdown table, for docs/expressions.md. */
export function functionTable(): string {
  const rows = [...FUNCTIONS.values()].map(
    ({ signature, summary, group }) => `| \`${signature}\` | ${group} | ${summary} |`,
  );
  return ['| Function | | What it gives |', '|---|---|---|', ...rows].join('\n');
}
