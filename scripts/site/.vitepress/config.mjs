import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const docs = new URL('../../../docs/', import.meta.url);

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

/** The path of a Markdown file of the repository on the site; undefined for a file that the site does not have. */
function sitePath(file) {
  const [, plugin] = /^plugins\/(\w+)\/README\.md$/.exec(file) ?? [];
  if (plugin !== undefined) return `plugins/${plugin}.md`;
  const [, page] = /^docs\/(?!examples\/)(.+\.md)$/.exec(file) ?? [];
  return page?.replace(/README\.md$/, 'index.md');
}

/** The opposite of `sitePath`. */
function fileOf(page) {
  const [, plugin] = /^plugins\/(\w+)\.md$/.exec(page) ?? [];
  if (plugin !== undefined) return `plugins/${plugin}/README.md`;
  return `docs/${page.replace(/\/index\.md$/, '/README.md')}`;
}

/** Links lead from file to file of the repository. On the site, those to other files become plain text. */
function relink(markdown) {
  markdown.core.ruler.push('relink', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isOther = false;
      for (const child of children ?? []) {
        if (child.type === 'link_open') isOther = !toSite(child, env.relativePath);
        if (!isOther || !child.type.startsWith('link_')) continue;
        child.tag = 'span';
        child.attrs = null;
      }
    }
  });
  // A keyboard scrolls only what has the focus. Blocks with a language have it.
  markdown.renderer.rules.code_block = (tokens, at) =>
    `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[at].content)}</code></pre>\n`;
}

/** @returns whether the link has a target on the site or outside the repository */
function toSite(link, page) {
  const href = link.attrGet('href') ?? '';
  if (/^(\w+:|\/|#)/.test(href)) return true;
  const [path, hash] = href.split('#');
  const target = sitePath(join(dirname(fileOf(page)), path));
  if (target !== undefined) link.attrSet('href', `/${target}${hash === undefined ? '' : `#${hash}`}`);
  return target !== undefined;
}

export default defineConfig({
  lang: 'en',
  // Without it, browsers ask for /favicon.ico.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  title: 'Millrace',
  description: 'Ranking pipelines in YAML: hydrate, fetch features, score, return one page.',
  srcDir: '../..',
  // Only the pages of docs/ and the READMEs of plugins.
  srcExclude: ['*.md', '!(docs|plugins)/**', 'docs/examples/**', 'plugins/*/!(README.md)'],
  outDir: '../../.build/site',
  cacheDir: '../../.build/site-cache',
  rewrites: (file) => sitePath(file) ?? file,
  cleanUrls: true,
  markdown: {
    config: relink,
    languageAlias: { expression: 'python' },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  // The pages lie outside this folder, so they would not find its packages.
  vite: { resolve: { alias: { vue: fileURLToPath(new URL('../node_modules/vue', import.meta.url)) } } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
    docFooter: { prev: 'Previous page', next: 'Next page' },
  },
});
