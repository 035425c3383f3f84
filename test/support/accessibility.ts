import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Screens whose width no page exceeds, in pixels. */
const WIDTHS = [360, 1280];
const THEMES = ['light', 'dark'] as const;
/** The tags of axe's rules: WCAG 2.2 AA, and the order of headings and landmarks. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Colors are final at once. Of the tokens of code that look alike, one stays an element: a page has thousands. */
const PREPARE = `(() => {
  const style = document.createElement('style');
  style.textContent = '*, *::before, *::after { transition: none !important; animation: none !important }';
  document.head.append(style);
  const seen = new Set();
  for (const token of document.querySelectorAll('pre code span[style]')) {
    const look = token.getAttribute('style') + token.parentElement.className + token.closest('pre').className;
    if (seen.has(look)) token.replaceWith(token.textContent);
    seen.add(look);
  }
})()`;

/**
 * Checks the open page by axe, in light and dark, on a small and on a wide screen.
 * @returns what a reader stumbles over: the screen, the rule, how many nodes, and the first of them
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const faults = new Set<string>();
  await page.evaluate(PREPARE);
  await page.evaluate(AXE);
  for (const colorScheme of THEMES)
    for (const width of WIDTHS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const needed = await page.evaluate('document.documentElement.scrollWidth');
      if (needed !== width) faults.add(`${width}: the page is ${String(needed)} pixels wide`);
      for (const { id, nodes } of await violationsOf(page)) {
        const [first] = nodes;
        const why = [...(first?.any ?? []), ...(first?.all ?? []), ...(first?.none ?? [])][0]?.message;
        faults.add(
          `${colorScheme} ${width}: ${id}, ${nodes.length} times: ${first?.html.slice(0, 160) ?? ''}: ${why ?? ''}`,
        );
      }
    }
  return [...faults];
}

function violationsOf(page: Page): Promise<axe.Result[]> {
  const options = { runOnly: { type: 'tag', values: RULES }, resultTypes: ['violations'], preload: false };
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`);
}
