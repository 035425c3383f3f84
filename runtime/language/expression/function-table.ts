import type { FunctionEntry } from './functions/function-entry.js';
import { FUNCTIONS } from './functions/registry.js';

type Row = Pick<FunctionEntry, 'signature' | 'summary' | 'group'>;

/** The functions as a Markdown table, for docs/expressions.md. */
export function functionTable(functions: Iterable<Row> = FUNCTIONS.values()): string {
  const rows = [...functions].map(
    ({ signature, summary, group }) => `| \`${cell(signature)}\` | ${group} | ${cell(summary)} |`,
  );
  return ['| Function | Group | What it gives |', '|---|---|---|', ...rows].join('\n');
}

/** A bar ends a cell, also within code. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
