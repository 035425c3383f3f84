import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { repositoryPath } from '../../test/support/repository.js';

/**
 * Replaces blocks of a page: the text between `<!-- bench:NAME -->` and `<!-- /bench -->`.
 * @param page relative to the repository
 */
export async function writeBlocks(
  page: string,
  blocks: Readonly<Record<string, string>>,
  short: boolean,
): Promise<void> {
  let text = await readFile(repositoryPath(page), 'utf8');
  const when = new Date().toISOString().slice(0, 10);
  const how = `Measured on ${when}, Node ${process.versions.node}, ${cpus().length} cores, ${short ? 'short' : 'full'} form.`;
  for (const [name, block] of Object.entries(blocks)) {
    const open = `<!-- bench:${name} -->`;
    const from = text.indexOf(open);
    const to = text.indexOf('<!-- /bench -->', from);
    if (from < 0 || to < 0) throw new Error(`${page} lacks ${open} and <!-- /bench -->`);
    text = `${text.slice(0, from + open.length)}\n\n${how}\n\n${block}\n\n${text.slice(to)}`;
  }
  await writeFile(repositoryPath(page), text);
}

/** Renders rows as a table of Markdown with right-aligned numbers. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, at) => (at === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
