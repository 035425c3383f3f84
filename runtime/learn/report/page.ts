import { createHash } from 'node:crypto';
import { escaped } from './escaped.js';
import { gateText } from './evaluation-tree.js';
import { columnsOf, type CardSide, type Part, type Report, type SidedPages } from './tree.js';

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #60646c; --back: #ffffff; --card: #f5f6f8; --rule: #dfe2e6; --mark: #2a6fdb; --a: #2a6fdb; --b: #d9541e; --pass: #1a7f37; --fail: #c62828; }
@media (prefers-color-scheme: dark) { :root { --text: #eceef0; --soft: #9ba1a6; --back: #15181b; --card: #1e2226; --rule: #33393f; --mark: #6ea8ff; --a: #6ea8ff; --b: #ff9466; --pass: #4cc36a; --fail: #ff7b72; } }
body { margin: 0 auto; max-width: 1100px; padding: 24px; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 8px; } h2 { font-size: 16px; margin: 32px 0 8px; }
p { margin: 4px 0; } h1, h2, p, figcaption { overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 16px; }
figure { margin: 0; background: var(--card); border-radius: 8px; padding: 12px; } figcaption { font-weight: 600; margin-bottom: 4px; }
svg { width: 100%; height: auto; display: block; } svg text { font-size: 13px; fill: var(--soft); }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); } .mark { fill: var(--mark); }
.line { fill: none; stroke-width: 2; } .line.a { stroke: var(--a); } .line.b { stroke: var(--b); stroke-dasharray: 5 3; }
.gates { list-style: none; padding: 0; } .gates li { margin: 6px 0; padding: 8px 12px; border-left: 6px solid var(--fail); background: var(--card); overflow-wrap: anywhere; } .gates .pass { border-color: var(--pass); }
.sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px; margin: 8px 0; } h3 { font-size: 15px; margin: 20px 0 4px; overflow-wrap: anywhere; } h4 { font-size: 14px; margin: 0 0 4px; overflow-wrap: anywhere; }
.sides ol { list-style: none; margin: 0; padding: 0; } .sides li { display: flex; gap: 8px; padding: 6px 0; border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; } .sides li > span { min-width: 0; }
.sides img { width: 48px; height: 48px; flex: none; object-fit: contain; background: #ffffff; } .soft { color: var(--soft); } .grade { display: inline-block; border: 1px solid var(--soft); border-radius: 4px; padding: 0 5px; white-space: nowrap; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { color: var(--soft); font-weight: 500; } .number { text-align: right; font-variant-numeric: tabular-nums; }
`;

/**
 * The report as a page of one file that loads nothing. Its policy (CSP) allows its own style sheet by hash, images that
 * are in the file, and no script.
 * @param images the addresses of images, with what stands for each in the file (`data:`)
 */
export function reportPage(
  { title, gates = [], parts }: Report,
  images: ReadonlyMap<string, string> = new Map(),
): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    `<h1>${escaped(title)}</h1>`,
    ...(gates.length === 0 ? [] : [light(gates)]),
    ...parts.map((part) => html(part, images)),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function html(part: Part, images: ReadonlyMap<string, string>): string {
  const all = (parts: readonly Part[]): readonly string[] => parts.map((one) => html(one, images));
  if (typeof part === 'string') return `<p>${escaped(part)}</p>`;
  if ('note' in part) return `<p>${bold(part.label)}${escaped(part.note)}</p>`;
  if ('rows' in part) return table(part);
  if ('section' in part)
    return ['<section>', heading(part.section), ...all(part.parts), '</section>'].join('\n');
  if ('page' in part) return all(part.page).join('\n');
  if ('sides' in part) return sides(part, images);
  const figures = part.plots.map(
    ([title, svg]) => `<figure><figcaption>${escaped(title)}</figcaption>${svg}</figure>`,
  );
  return ['<div class="plots">', ...figures, '</div>'].join('\n');
}

function light(gates: NonNullable<Report['gates']>): string {
  const lines = gates.map((gate) => {
    const [kind, word] = gate.passed ? ['pass', 'PASS'] : ['fail', 'FAIL'];
    return `<li class="${kind}"><b>${word}</b> ${escaped(gateText(gate))}</li>`;
  });
  return `<ul class="gates">${lines.join('')}</ul>`;
}

function sides({ query, found, sides: both }: SidedPages, images: ReadonlyMap<string, string>): string {
  const columns = both.map((side) => `<div>${sideHtml(side, images)}</div>`);
  return `<h3>${escaped(query)}</h3><p class="soft">${escaped(found)}</p><div class="sides">${columns.join('')}</div>`;
}

function sideHtml({ label, cards }: CardSide, images: ReadonlyMap<string, string>): string {
  const items = cards.map(({ id, place, grade, card }) => {
    const image = images.get(card?.image ?? '');
    const picture = image === undefined ? '' : `<img alt="" src="${escaped(image)}">`;
    const details = [card?.subtitle, ...(card?.badges ?? []).map(({ name, value }) => `${name} ${value}`)];
    const soft = [card === undefined ? undefined : id, ...details].filter((one) => one !== undefined);
    const graded = grade === undefined ? '' : ` <span class="grade">grade ${grade}</span>`;
    return `<li><span>${place}.</span>${picture}<span>${escaped(card?.title ?? id)}${graded}<br><span class="soft">${escaped(soft.join(' · '))}</span></span></li>`;
  });
  return `<h4>${escaped(label)}</h4><ol>${items.join('')}</ol>`;
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
