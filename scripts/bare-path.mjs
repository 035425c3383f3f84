// `node scripts/bare-path.mjs npm test` runs a command as on a machine that has Node, npm and the basic tools of a system, and
// none of the programs that only some tests need: PATH is one folder of links.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const TOOLS =
  'sh env cat cp mv rm ls mkdir rmdir mktemp chmod ln readlink dirname basename pwd echo printf test true false sleep ' +
  'sort uniq head tail wc tr cut cmp tee touch sync date id uname stat expr seq kill grep sed awk find xargs tar gzip ps which npm npx';
const ABSENT =
  'redis-server redis-cli chromium openssl promtool prometheus python3 git bash curl java mkfifo';

const [command, ...args] = process.argv.slice(2);
if (command === undefined) throw new Error('usage: node scripts/bare-path.mjs npm test');
const folder = mkdtempSync(join(tmpdir(), 'millrace-bare-'));
try {
  symlinkSync(process.execPath, join(folder, 'node'));
  for (const tool of TOOLS.split(' ')) {
    const path = find(tool, process.env.PATH ?? '');
    if (path !== undefined) symlinkSync(realpathSync(path), join(folder, tool));
  }
  for (const program of ABSENT.split(' '))
    if (find(program, folder) !== undefined) throw new Error(`${program} is on the bare PATH`);
  // Neither what CI sets, nor where a program is.
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(CI|CHROMIUM|MILLRACE_(?!LEFT_OUT).*)$/.test(name),
  );
  const env = { ...Object.fromEntries(kept), PATH: folder };
  process.exitCode = spawnSync(command, args, { env, stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function find(name, path) {
  return path
    .split(delimiter)
    .map((one) => join(one, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
