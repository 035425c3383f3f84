import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const docs = new URL('../../docs/', import.meta.url);

/** The headings and lists of docs/index.md are the sidebar. */
function sidebar() {
  const groups = [];
  for (const line of readFileSync(new URL('index.md', docs), 'utf8').split('\n')) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    const [, text, path] = /^- \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? [];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    else if (path !== undefined)
      groups.at(-1).items.push({ text, link: `/${path.replace(/README\.md$/, '').replace(/\.md$/, '')}` });
  }
  return groups;
}

/** Files outside docs are not part of the site, so links to them become plain text. */
function unlinkOtherFiles(markdown) {
  markdown.core.ruler.push('unlink_other_files', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isOther = false;
      for (const child of children ?? []) {
        if (child.type === 'link_open') isOther = leavesDocs(env.relativePath, child.attrGet('href') ?? '');
        if (!isOther || !child.type.startsWith('link_')) continue;
        child.tag = 'span';
        child.attrs = null;
      }
    }
  });
}

function leavesDocs(page, href) {
  return !/^(\w+:|\/|#)/.test(href) && join(dirname(page), href).startsWith('..');
}

export default defineConfig({
  title: 'Millrace',
  description: 'Ranking pipelines in YAML: hydrate, fetch features, score, return one page.',
  srcDir: '../docs',
  outDir: '../.build/site',
  cacheDir: '../.build/site-cache',
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  cleanUrls: true,
  markdown: { config: unlinkOtherFiles, languageAlias: { expression: 'python' } },
  // The pages lie outside this folder, so they would not find its packages.
  vite: { resolve: { alias: { vue: fileURLToPath(new URL('../node_modules/vue', import.meta.url)) } } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
    docFooter: { prev: 'Previous page', next: 'Next page' },
  },
});
