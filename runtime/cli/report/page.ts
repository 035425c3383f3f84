import { createHash } from 'node:crypto';
import { escaped } from './escaped.js';
import type { Part, Report } from './report.js';
import { columnsOf } from './table.js';

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #60646c; --back: #ffffff; --card: #f5f6f8; --rule: #dfe2e6; --mark: #2a6fdb; --a: #2a6fdb; --b: #d9541e; }
@media (prefers-color-scheme: dark) { :root { --text: #eceef0; --soft: #9ba1a6; --back: #15181b; --card: #1e2226; --rule: #33393f; --mark: #6ea8ff; --a: #6ea8ff; --b: #ff9466; } }
body { margin: 0 auto; max-width: 1100px; padding: 24px; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 8px; } h2 { font-size: 16px; margin: 32px 0 8px; }
p { margin: 4px 0; } h1, h2, p, figcaption { overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 16px; }
figure { margin: 0; background: var(--card); border-radius: 8px; padding: 12px; } figcaption { font-weight: 600; margin-bottom: 4px; }
svg { width: 100%; height: auto; display: block; } svg text { font-size: 13px; fill: var(--soft); }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); } .mark { fill: var(--mark); }
.line { fill: none; stroke-width: 2; } .line.a { stroke: var(--a); } .line.b { stroke: var(--b); stroke-dasharray: 5 3; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { color: var(--soft); font-weight: 500; } .number { text-align: right; font-variant-numeric: tabular-nums; }
`;

/**
 * The report as a page of one file that loads nothing. Its policy (CSP) allows its own style sheet by hash, and no
 * script.
 */
export function reportPage({ title, parts }: Report): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    `<h1>${escaped(title)}</h1>`,
    ...parts.map(html),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function html(part: Part): string {
  if (typeof part === 'string') return `<p>${escaped(part)}</p>`;
  if ('note' in part) return `<p>${bold(part.label)}${escaped(part.note)}</p>`;
  if ('rows' in part) return table(part);
  if ('parts' in part)
    return ['<section>', heading(part.section), ...part.parts.map(html), '</section>'].join('\n');
  if ('page' in part) return part.page.map(html).join('\n');
  const figures = part.plots.map(
    ([title, svg]) => `<figure><figcaption>${escaped(title)}</figcaption>${svg}</figure>`,
  );
  return ['<div class="plots">', ...figures, '</div>'].join('\n');
}

function bold(label: string): string {
  return label.trim() === '' ? '' : `<b>${escaped(label.trim())}</b> `;
}

function heading(title: string): string {
  return title === '' ? '' : `<h2>${escaped(title)}</h2>`;
}

function table({ columns, rows }: Extract<Part, { readonly rows: unknown }>): string {
  const all = columnsOf(columns);
  const line = (tag: 'th' | 'td', cells: readonly (string | number)[]): string =>
    `<tr>${cells
      .map((value, at) => {
        const number = all[at]?.align === 'right' ? ' class="number"' : '';
        return `<${tag}${number}>${escaped(String(value))}</${tag}>`;
      })
      .join('')}</tr>`;
  const titles = all.map(({ title }) => title);
  return [
    '<div class="wide"><table>',
    line('th', titles),
    ...rows.map((row) => line('td', row)),
    '</table></div>',
  ].join('\n');
}
