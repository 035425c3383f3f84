import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { COMPILED } from '../../../ground/core/locations.js';
import { wrap } from '../../../ground/core/wrap.js';
import { SETTINGS } from '../../../project/settings/settings.js';

const WIDTH = 80;

interface Surroundings {
  /** Where commands run. */
  readonly folder: string;
  /** The environment of the user; the commands do not get its settings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: (text: string) => void;
}

/** Wraps lines that are longer than a terminal. It writes whole lines. */
export function narrow(write: Surroundings['write']): Surroundings['write'] {
  let begun = '';
  return (text) => {
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) write(line.length <= WIDTH ? `${line}\n` : wrap(line, 0, WIDTH));
  };
}

/** Runs a command as a user does: in a process of its own, in the folder of the demo. Returns its exit code. */
export async function runCommand(
  argv: readonly string[],
  { folder, env, write }: Surroundings,
): Promise<number> {
  write(`\n$ millrace ${commandText(argv)}\n`);
  const child = spawn(process.execPath, [join(COMPILED, 'runtime', 'cli', 'bin.js'), ...argv], {
    cwd: folder,
    env: withoutSettings(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.setEncoding('utf8').on('data', write);
  child.stderr.setEncoding('utf8').on('data', write);
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}

/** The settings of the environment are those of another project. */
function withoutSettings(env: Surroundings['env']): NodeJS.ProcessEnv {
  const settings = new Set(Object.values(SETTINGS).map((setting: { readonly env: string }) => setting.env));
  const others = Object.entries(env).filter(([name]) => !settings.has(name) && !name.startsWith('MILLRACE_'));
  return { ...Object.fromEntries(others), LOG_LEVEL: 'silent' };
}

/** The command in lines of at most 80 columns, as a shell takes it. */
function commandText(argv: readonly string[]): string {
  const words = argv.map((word) => (/^[\w@%=,:./-]+$/.test(word) ? word : `'${word}'`));
  const lines = ['$ millrace'];
  for (const word of words) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length + 3 <= WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`    ${word}`);
  }
  return lines.join(' \\\n').slice('$ millrace '.length);
}
