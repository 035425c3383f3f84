import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findKafka } from './kafka-broker.js';
import { findOnnxRuntime } from './onnx-runtime.js';
import { repositoryPath } from './repository.js';

interface NeedRow {
  readonly isThere: () => boolean;
  /** How to get it, for the end of a test run. */
  readonly how: string;
  /** Whether CI has it, so that its tests must not be left out there. */
  readonly inCi: boolean;
}

const program = (name: string, debian: string, brew: string): NeedRow => ({
  isThere: () => findProgram(name) !== undefined,
  how: `apt-get install ${debian}, or brew install ${brew}`,
  inCi: true,
});

/** What some tests need and a machine may lack. The end of a test run lists what was missing, and how many tests need it. */
export const NEEDS = {
  'redis-server': program('redis-server', 'redis-server', 'redis'),
  chromium: {
    isThere: () => findChromium() !== undefined,
    how: 'apt-get install chromium, or set CHROMIUM to its path',
    inCi: true,
  },
  openssl: program('openssl', 'openssl', 'openssl'),
  promtool: program('promtool', 'prometheus', 'prometheus'),
  PostgreSQL: { isThere: () => findPostgres() !== undefined, how: 'apt-get install postgresql', inCi: true },
  git: program('git', 'git', 'git'),
  bash: program('bash', 'bash', 'bash'),
  curl: program('curl', 'curl', 'curl'),
  mkfifo: program('mkfifo', 'coreutils', 'coreutils'),
  'yaml-language-server': {
    isThere: () => existsSync(repositoryPath('test/editor/node_modules/yaml-language-server')),
    how: 'npm ci --prefix test/editor --ignore-scripts',
    inCi: true,
  },
  'onnxruntime-node': {
    isThere: () => findOnnxRuntime() !== undefined,
    how: 'npm install --prefix F onnxruntime-node; MILLRACE_ONNXRUNTIME=F',
    inCi: false,
  },
  moto: {
    isThere: () => findMoto() !== undefined,
    how: "python3 -m venv .build/moto; .build/moto/bin/pip install 'moto[server]'",
    inCi: false,
  },
  Kafka: {
    isThere: () => 'jars' in findKafka({ download: false }),
    how: 'apt-get install default-jre-headless maven; npm run prove -- sinks',
    inCi: false,
  },
  'the user root': { isThere: () => process.getuid?.() === 0, how: 'sudo npm test', inCi: false },
  Linux: { isThere: () => process.platform === 'linux', how: 'run the tests on Linux', inCi: false },
} satisfies Record<string, NeedRow>;

export type Need = keyof typeof NEEDS;

/**
 * Like `describe`, for a suite that needs these programs. If one is missing, its tests are left out and its hooks do not
 * run. In CI the suite fails instead. No suite looks for programs in another way.
 */
export function describeWith(
  needs: Need | readonly Need[],
  title: string,
  body: (this: Mocha.Suite) => void,
): void {
  const missing = missingOf(needs);
  describe(withMissing(title, missing), function () {
    if (failsInCi(missing)) it('has the programs that it needs', () => failMissing(missing));
    this.pending = missing.length > 0;
    body.call(this);
  });
}

/** Like `it`, for a test that needs these programs. */
export function itWith(
  needs: Need | readonly Need[],
  title: string,
  body: (this: Mocha.Context) => unknown,
): void {
  const missing = missingOf(needs);
  if (failsInCi(missing)) it(title, () => failMissing(missing));
  else if (missing.length > 0) it.skip(withMissing(title, missing));
  else it(title, body);
}

/** The path of a program on PATH. */
export function findProgram(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** The path of Chromium: CHROMIUM, or `chromium` on PATH. */
export function findChromium(): string | undefined {
  return process.env.CHROMIUM ?? findProgram('chromium');
}

/** The folder with the programs of the newest PostgreSQL that Debian's packages installed. */
export function findPostgres(): string | undefined {
  if (findProgram('pg_ctlcluster') === undefined) return undefined;
  const folder = '/usr/lib/postgresql';
  const [newest] = readdirSync(folder).sort((a, b) => Number(b) - Number(a));
  return newest === undefined ? undefined : join(folder, newest, 'bin');
}

/** A server with the API of S3: in `.build/moto`, or on PATH. */
export function findMoto(): string | undefined {
  const own = repositoryPath('.build/moto/bin/moto_server');
  return existsSync(own) ? own : findProgram('moto_server');
}

const found = new Map<Need, boolean>();

function missingOf(needs: Need | readonly Need[]): readonly Need[] {
  return [needs].flat().filter((need) => {
    if (!found.has(need)) found.set(need, NEEDS[need].isThere());
    return found.get(need) === false;
  });
}

/** The reporter reads what is missing from the title. */
function withMissing(title: string, missing: readonly Need[]): string {
  return missing.length === 0 ? title : `${title} (needs ${missing.join(', ')})`;
}

function failsInCi(missing: readonly Need[]): boolean {
  return Boolean(process.env.CI) && missing.some((need) => NEEDS[need].inCi);
}

function failMissing(missing: readonly Need[]): never {
  const how = missing.map((need) => `${need} is missing: ${NEEDS[need].how}`);
  throw new Error(`CI must not leave these tests out. ${how.join('; ')}`);
}
