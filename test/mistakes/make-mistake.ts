import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serveProject } from '../http/serve-project.js';
import { millrace } from '../support/command-line.js';
import { BASE } from './base-project.js';
import type { Mistake } from './mistake.js';

/** What a user sees. */
export interface Seen {
  /** The command, or the request. */
  readonly made: string;
  /** The lines that are wrong in a file; undefined if no file is. */
  readonly wrong?: { readonly file: string; readonly lines: string };
  readonly printed: string;
}

/** Makes a mistake in a project of its own, with the real command or a real service. */
export async function makeMistake(mistake: Mistake): Promise<Seen> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'millrace-mistake-')));
  try {
    const { edit, files = {}, request, run = 'validate', env = {} } = mistake;
    const all: Record<string, string> = { ...BASE, ...files };
    if (edit !== undefined) {
      const [file, from, to] = edit;
      const before = all[file] ?? '';
      if (before.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`);
      all[file] = before.replace(from, () => to);
    }
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value} `);
    const seen =
      request === undefined
        ? { made: `${variables.join('')}millrace ${run}`, printed: await command(run.split(' '), root, env) }
        : { made: requestText(request), printed: await answerOf(request, root) };
    const wrong = wrongLines(mistake, all);
    return {
      ...seen,
      printed: steady(seen.printed.replaceAll(root, '/shop')).trimEnd(),
      ...(wrong && { wrong }),
    };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Replaces the times and rates of a run. */
function steady(printed: string): string {
  return printed.replaceAll(/in \d+\.\d s \([\d,]+\/s\)/g, 'in 0.0 s (0/s)');
}

/** The whole lines that the edit changed, or the whole file that was added. */
function wrongLines({ edit, files = {} }: Mistake, all: Readonly<Record<string, string>>): Seen['wrong'] {
  if (edit !== undefined) {
    const [file, from, to] = edit;
    const before = (BASE[file] ?? '').split('\n');
    const after = (all[file] ?? '').split('\n');
    let start = 0;
    while (start < after.length && before[start] === after[start]) start++;
    let end = 0;
    while (
      end < after.length - start &&
      end < before.length - start &&
      before.at(-1 - end) === after.at(-1 - end)
    )
      end++;
    const lines = after.slice(start, after.length - end);
    if (lines.length > 0) return { file, lines: lines.join('\n') };
    return { file, lines: `# without ${(to === '' ? from : to).trim().split('\n')[0] ?? ''}` };
  }
  const [first] = Object.entries(files);
  return first === undefined ? undefined : { file: first[0], lines: first[1].trimEnd() };
}

/** Runs the command in the folder of the project, as a user does. A run of mocha has a process for each file. */
async function command(
  argv: readonly string[],
  root: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const before = process.cwd();
  process.chdir(root);
  try {
    const { stdout, stderr } = await millrace(argv, { env });
    const streams = [stdout, stderr].map((text) => text.trimEnd()).filter((text) => text !== '');
    return streams.join('\n');
  } finally {
    process.chdir(before);
  }
}

type Request = NonNullable<Mistake['request']>;

function requestText({ method = 'POST', path, type, body }: Request): string {
  const typed = type === undefined ? '' : `\nContent-Type: ${type}`;
  return `${method} ${path}${typed}${body === undefined ? '' : `\n${body}`}`;
}

async function answerOf(
  { method = 'POST', path, type = 'application/json', body }: Request,
  root: string,
): Promise<string> {
  let printed = '';
  await serveProject(root, async (url) => {
    const response = await fetch(url + path, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': type } }),
    });
    const answer = Object.entries((await response.json()) as Record<string, unknown>);
    // Each request has another id.
    const problem = Object.fromEntries(answer.filter(([name]) => !CHANGING.includes(name)));
    printed = `${response.status}\n${JSON.stringify(problem, null, 2)}`;
  });
  return printed;
}

/** Members of a problem that are not of the mistake. */
const CHANGING: readonly string[] = ['instance', 'request_id', 'type'];
