import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listen, type HttpServer } from '../../runtime/serve/http/listen.js';
import { referenceArm, type ReferenceExperiment } from '../support/reference-arms.js';
import { startProject, type TestProject } from '../support/project.js';

/** The experiments of one version of the project. The arms change a param, and their values change from version to version. */
interface Version {
  readonly experiments: readonly (ReferenceExperiment & {
    readonly mode: 'split' | 'interleave';
    /** What the arms but control add to the score, by arm. */
    readonly adds: Readonly<Record<string, number>>;
  })[];
}

const version = (popularity: number, prices: number, mixed: number, added: number): Version => ({
  experiments: [
    {
      ...{ name: 'popularity', layer: 'page', offset: 0, share: popularity, mode: 'split' },
      arms: { control: 2, popular: 1, fresh: 1 },
      adds: { popular: added, fresh: added + 1 },
    },
    {
      ...{ name: 'text', layer: 'page', offset: 50, share: 30, mode: 'split' },
      arms: { control: 1, long: 1 },
      adds: { long: 10 * added },
    },
    {
      ...{ name: 'prices', layer: 'prices', offset: 0, share: prices, mode: 'split' },
      arms: { control: 1, cheap: 3 },
      adds: { cheap: 1000 * added },
    },
    {
      ...{ name: 'mixed', layer: 'mix', offset: 20, share: mixed, mode: 'interleave' },
      arms: { control: 1, other: 1 },
      adds: { other: 0.5 },
    },
  ],
});
const VERSIONS = [version(10, 40, 25, 1), version(50, 80, 10, 2), version(20, 80, 60, 3)];
const PARAMS: Readonly<Record<string, string>> = {
  popularity: 'w_pop',
  text: 'w_text',
  prices: 'w_price',
  mixed: 'w_mixed',
};
const UNITS = Array.from({ length: 200 }, (_, n) => `user ${n}`);
const CONNECTIONS = 4;

const experimentFiles = ({ experiments }: Version): Record<string, string> =>
  Object.fromEntries(
    experiments.map(({ name, layer, offset, share, mode, arms, adds }) => [
      `experiments/${name}.yaml`,
      [
        ...[`experiment: ${name}`, 'pipeline: search', `mode: ${mode}`, 'unit: user', `layer: ${layer}`],
        ...[`offset: ${offset}%`, `share: ${share}%`, 'arms:'],
        ...Object.entries(arms).map(([arm, weight]) => {
          const added = adds[arm];
          const parts = [
            ...(mode === 'split' ? [`weight: ${weight}`] : []),
            ...(added === undefined ? [] : [`params: { ${PARAMS[name] ?? ''}: ${added} }`]),
          ];
          return `  ${arm}: { ${parts.join(', ')} }`;
        }),
        '',
      ].join('\n'),
    ]),
  );

/** What a version answers to a unit, as far as the page of experiments says it. */
function expected({ experiments }: Version, unit: string): string {
  let score = 0;
  const taken: string[] = [];
  for (const experiment of experiments) {
    const arm = referenceArm(experiment, unit);
    if (arm === undefined) continue;
    if (experiment.mode === 'interleave') taken.push(`${experiment.name}=interleaved;teams="-"`);
    else {
      taken.push(`${experiment.name}=${arm}`);
      score += experiment.adds[arm] ?? 0;
    }
  }
  return `${taken.sort().join(', ')} ${score}`;
}

describe('a reload of experiments under load', () => {
  let project: TestProject;
  let server: HttpServer;

  before(async () => {
    project = await startProject(
      {
        'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: optional(user) }
params: { w_pop: 0, w_text: 0, w_price: 0, w_mixed: 0 }
limits: { time: 30s }
components:
  - { use: score, with: { value: w_pop + w_text + w_price + w_mixed } }
`,
        ...experimentFiles(VERSIONS[0] ?? { experiments: [] }),
      },
      { experiments: true },
    );
    server = await listen(project.app.http(), { host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    await server.close(0);
    await project.close();
  });

  async function ask(unit: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ user: { user_id: unit }, candidates: [{ product_id: 'p' }] }),
    });
    const text = await answer.text();
    if (answer.status !== 200) return `${answer.status} ${text}`;
    const { ranked_candidates: ranked } = JSON.parse(text) as {
      ranked_candidates: { ranked_score: number }[];
    };
    const taken = (answer.headers.get('Millrace-Experiment') ?? '').split(', ').sort().join(', ');
    return `${taken} ${ranked[0]?.ranked_score ?? ''}`;
  }

  it('fails no request, and moves exactly the units that the new shares say', async () => {
    const wrong: string[] = [];
    let requests = 0;
    /** Asks for units until the reload is done. An answer is that of one version, whole. */
    const reloaded = async (from: number, to: number, reload: () => Promise<void>): Promise<void> => {
      let oldest = from;
      let isDone = false;
      const connection = async (first: number): Promise<void> => {
        for (let at = first; !isDone || at < 40; at += CONNECTIONS) {
          const unit = UNITS[at % UNITS.length] ?? '';
          const allowed = VERSIONS.slice(oldest, to + 1).map((one) => expected(one, unit));
          const answer = await ask(unit);
          requests++;
          if (!allowed.includes(answer)) wrong.push(`${unit}: ${answer}, not ${allowed.join(' or ')}`);
        }
      };
      const load = Array.from({ length: CONNECTIONS }, (_, first) => connection(first));
      try {
        await reload();
        oldest = to;
      } finally {
        isDone = true;
        await Promise.all(load);
      }
    };
    for (const [number, one] of VERSIONS.entries()) {
      if (number > 0)
        await reloaded(number - 1, number, async () => {
          for (const [path, text] of Object.entries(experimentFiles(one)))
            await writeFile(join(project.root, path), text);
          expect((await project.app.reload()).outcome).to.equal('succeeded');
        });
      for (let at = 0; at < UNITS.length; at += CONNECTIONS) {
        const some = UNITS.slice(at, at + CONNECTIONS);
        expect(await Promise.all(some.map((unit) => ask(unit)))).to.deep.equal(
          some.map((unit) => expected(one, unit)),
        );
      }
    }
    expect(wrong).to.deep.equal([]);
    expect(requests).to.be.greaterThan(40);
  });

  it('takes the last arm that the header names, as RFC 8941 says', async () => {
    const asked = async (arms: string): Promise<string | undefined> =>
      /text=\w+/.exec(await ask('u', { 'Millrace-Experiment': arms }))?.[0];
    expect(await asked('text=long, text=control')).to.equal('text=control');
    expect(await asked('text=control,text=long')).to.equal('text=long');
  });

  it('moves units into arms if a share grows, and out of them if it shrinks, but never between arms', () => {
    const moves = { in: 0, out: 0, stay: 0 };
    for (const [before, after] of [
      [VERSIONS[0], VERSIONS[1]],
      [VERSIONS[1], VERSIONS[2]],
    ])
      for (const experiment of before?.experiments ?? []) {
        const next = after?.experiments.find(({ name }) => name === experiment.name);
        for (const unit of UNITS) {
          const [was, is] = [referenceArm(experiment, unit), next && referenceArm(next, unit)];
          if (was !== undefined && is !== undefined) expect(is).to.equal(was);
          if (was === undefined && is !== undefined) moves.in++;
          else if (was !== undefined && is === undefined) moves.out++;
          else moves.stay++;
        }
      }
    expect(Object.values(moves).every((count) => count > 0)).to.equal(true);
  });
});
