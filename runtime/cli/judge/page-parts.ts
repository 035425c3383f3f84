import { createHash } from 'node:crypto';
import { escaped } from './escaped.js';

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #60646c; --back: #ffffff; --card: #f5f6f8; --rule: #dfe2e6; --mark: #2a6fdb; --a: #2a6fdb; --b: #d9541e; }
@media (prefers-color-scheme: dark) { :root { --text: #eceef0; --soft: #9ba1a6; --back: #15181b; --card: #1e2226; --rule: #33393f; --mark: #6ea8ff; --a: #6ea8ff; --b: #ff9466; } }
body { margin: 0 auto; max-width: 1100px; padding: 24px; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 8px; } h2 { font-size: 16px; margin: 32px 0 8px; }
p { margin: 4px 0; } h1, p, li, figcaption, .card { overflow-wrap: anywhere; } .soft { color: var(--soft); }
code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.side { display: inline-block; width: 1.4em; font-weight: 600; } .side.a { color: var(--a); } .side.b { color: var(--b); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 20px 0; }
.card { background: var(--card); border-radius: 8px; padding: 12px 14px; }
.card b { display: block; font-size: 22px; font-weight: 600; }
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
 * A page of one file that loads nothing. Its policy (CSP) allows its own style sheet by hash, and no script.
 * @param body lines of HTML whose values are escaped
 */
export function htmlPage(title: string, body: readonly string[]): string {
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
    ...body,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

export function card(title: string, value: string, more: string): string {
  return `<div class="card"><span class="soft">${escaped(title)}</span><b>${escaped(value)}</b><span class="soft">${escaped(more)}</span></div>`;
}

export function figure(title: string, svg: string): string {
  return `<figure><figcaption>${escaped(title)}</figcaption>${svg}</figure>`;
}

export function section(title: string, content: string): string[] {
  return [`<section><h2>${escaped(title)}</h2>`, content, '</section>'];
}

export type TableCell = string | number;

export function table(titles: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const isNumber = titles.map((_, at) => rows.every((row) => typeof row[at] === 'number'));
  const cell = (tag: 'th' | 'td', value: TableCell, at: number): string =>
    `<${tag}${isNumber[at] === true ? ' class="number"' : ''}>${escaped(String(value))}</${tag}>`;
  return [
    '<div class="wide"><table>',
    `<tr>${titles.map((title, at) => cell('th', title, at)).join('')}</tr>`,
    ...rows.map((row) => `<tr>${row.map((value, at) => cell('td', value, at)).join('')}</tr>`),
    '</table></div>',
  ].join('\n');
}
