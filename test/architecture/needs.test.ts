import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NEEDS } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';

/** Scripts that CI runs one by one: `npm test` does not run them. */
const SCRIPTS = /^(?:acceptance|prove|torture|wire)\//;
/** What leaves tests out, and what looks for a program. */
const OTHER_WAYS =
  /\.skip\b|\bxit\(|\bxdescribe\(|\.pending\b|process\.env(?:\.CI\b|\['CI'\])|'[\w-]+', \['--version'\]/;
/** Calls that start a program, and the program. */
const STARTS: readonly (readonly [RegExp, string])[] = [
  [/\bstartRedis(?:Server|Cluster|Sentinels)\(/, 'redis-server'],
  [/\bstartBrowser\(/, 'chromium'],
  [/\bmakeCertificates\(/, 'openssl'],
  [/\brunShellSteps\(/, 'bash'],
  [/\bstartKafka\(/, 'Kafka'],
  [/\bstartObjectServer\(/, 'moto'],
  [/\bLanguageServer\.start\(/, 'yaml-language-server'],
  [/\bonnxRuntimeFolder\(/, 'onnxruntime-node'],
];
/** Programs that a machine with Node has. */
const EVERYWHERE = ['npm', 'chmod', 'sh'];

const root = repositoryPath('test');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !SCRIPTS.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** What the suites of a file say that they need: the names at the beginning of each call. */
function needsIn(text: string): readonly string[] {
  const calls = [...text.matchAll(/\b(?:describeWith\(|itWith\(|needs: )[^]{0,120}/g)];
  return Object.keys(NEEDS).filter((need) => calls.some(([call]) => call.includes(`'${need}'`)));
}

function startedIn(text: string): readonly string[] {
  const named = [...text.matchAll(/\b(?:spawn|spawnSync|execFile|execFileSync)\(\s*'([\w-]+)'/g)];
  return [
    ...STARTS.flatMap(([call, program]) => (call.test(text) ? [program] : [])),
    ...named.map(([, program = '']) => program).filter((program) => !EVERYWHERE.includes(program)),
  ];
}

describe('suites that need a program', () => {
  it('are left out by describeWith and itWith alone', () => {
    const others = files.filter(
      ({ path, text }) => !/^support\/(?:needs|kafka-broker)\.ts$/.test(path) && OTHER_WAYS.test(text),
    );
    expect(
      others.map(({ path }) => path).filter((path) => path !== 'architecture/needs.test.ts'),
    ).to.deep.equal([]);
  });

  it('name each program that they start', () => {
    const wrong = files
      .filter(({ path }) => path.endsWith('.test.ts') && path !== 'architecture/needs.test.ts')
      .flatMap(({ path, text }) => {
        const needs = needsIn(text);
        return startedIn(text)
          .filter((program) => !needs.includes(program))
          .map((program) => `${path} starts ${program}, and does not say that it needs it`);
      });
    expect([...new Set(wrong)]).to.deep.equal([]);
  });

  it('are found in every form', () => {
    expect(
      needsIn("describeWith(['bash', 'git'], 'a', () => {\nitWith('curl', `e`);\nneeds: 'openssl'"),
    ).to.have.members(['bash', 'curl', 'git', 'openssl']);
    expect(
      startedIn("spawnSync('git', ['status']); execFileSync('npm'); await startRedisServer()"),
    ).to.have.members(['redis-server', 'git']);
  });

  it('know how each program is had', () => {
    for (const [need, { how }] of Object.entries(NEEDS)) expect(how, need).to.match(/\w/);
  });
});
