import type { Seen } from './make-mistake.js';
import type { Mistake, Surface } from './mistake.js';

const HEAD = `# Mistakes and their messages

Each section is a mistake in a small project, and what Millrace prints for it. The command is \`millrace validate\` where
none is named; the project is in \`/shop\`. A test makes every mistake with the real command or a running service, and
compares this page: \`UPDATE_GOLDEN=1 npm run test:one -- test/mistakes/mistakes.test.ts\` writes it again.
[errors.md](errors.md) lists the codes.
`;

/** The section of one mistake, without its heading. */
export function sectionOf({ edit, run, env, request }: Mistake, { made, wrong, printed }: Seen): string {
  const file =
    wrong === undefined ? '' : `${fenced(languageOf(wrong.file), `# ${wrong.file}\n${wrong.lines}`)}\n\n`;
  const isOther = run !== undefined || env !== undefined || request !== undefined;
  const how =
    isOther || (edit === undefined && wrong === undefined)
      ? `${fenced(request === undefined ? 'sh' : 'http', made)}\n\n`
      : '';
  return `${file}${how}${fenced('text', printed)}`;
}

function languageOf(file: string): string {
  return file.endsWith('.yaml') || file.endsWith('.yml') ? 'yaml' : 'text';
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

export function pageOf(surfaces: readonly Surface[], sections: ReadonlyMap<string, string>): string {
  const parts = surfaces.map(({ title, mistakes }) => {
    const list = mistakes.map(({ what }) => `### ${what}\n\n${sections.get(`${title}: ${what}`) ?? ''}\n`);
    return `## ${title}\n\n${list.join('\n')}`;
  });
  return `${HEAD}\n${parts.join('\n')}`;
}

/** The sections of the page, by surface and mistake. */
export function sectionsIn(page: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  for (const part of page.split(/^## /m).slice(1)) {
    const title = part.slice(0, part.indexOf('\n'));
    for (const one of part.split(/^### /m).slice(1)) {
      const end = one.indexOf('\n');
      sections.set(`${title}: ${one.slice(0, end)}`, one.slice(end).trim());
    }
  }
  return sections;
}
