import { expect } from 'chai';
import { listen, type HttpServer } from '../../runtime/serve/http/listen.js';
import { pluginFiles, startProject, type TestProject } from '../support/project.js';

const PIPELINE = (name: string, more = ''): string => `pipeline: ${name}
rank: product
request: { candidates: {}, user: optional(user) }
params: { w: 1 }
components:
  - { use: score, with: { value: w } }
${more}`;
const EXPERIMENT = (pipeline: string, arms: string): string => `experiment: of_${pipeline}
pipeline: ${pipeline}
unit: user
arms: { control: {}, ${arms} }
`;

describe('the metric of the requests of experiments', () => {
  let project: TestProject;
  let server: HttpServer;

  before(async () => {
    project = await startProject(
      {
        ...pluginFiles('boom', 'filter', 'return { select() { throw new Error("boom"); } };'),
        'pipelines/search.yaml': PIPELINE('search'),
        'pipelines/broken.yaml': PIPELINE('broken', '  - { use: boom }\n'),
        'pipelines/plain.yaml': PIPELINE('plain').replace('params: { w: 1 }', 'params: { w: 1, v: 1 }'),
        'experiments/of_w.yaml': EXPERIMENT('plain', 'two: { params: { w: 2 } }').replace('of_plain', 'of_w'),
        'experiments/of_v.yaml': EXPERIMENT('plain', 'two: { params: { v: 2 } }').replace('of_plain', 'of_v'),
        'experiments/of_search.yaml': EXPERIMENT('search', 'other: { pipeline: broken }'),
        'experiments/of_broken.yaml': EXPERIMENT('broken', 'two: { params: { w: 2 } }'),
      },
      { experiments: true },
    );
    server = await listen(project.app.http(), { host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    await server.close(0);
    await project.close();
  });

  /** What the metrics say of an experiment. */
  async function counted(experiment: string): Promise<string[]> {
    const metrics = await (await fetch(url('/metrics'))).text();
    const start = `millrace_experiment_requests_total{experiment="${experiment}",`;
    return metrics.split('\n').flatMap((line) => (line.startsWith(start) ? [line.slice(start.length)] : []));
  }

  const url = (path: string): string => `http://127.0.0.1:${server.port}${path}`;

  async function ask(path: string, arm: string): Promise<number> {
    const { status } = await fetch(url(path), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'Millrace-Experiment': arm },
      body: JSON.stringify({ user: { user_id: 'u' }, candidates: [{ product_id: 'p' }] }),
    });
    return status;
  }

  it('counts answered and failed requests, and no explanation', async () => {
    expect(await ask('/api/v1/search', 'of_search=control')).to.equal(200);
    for (let i = 0; i < 2; i++) expect(await ask('/api/v1/search', 'of_search=other')).to.equal(500);
    expect(await ask('/api/v1/search/explain', 'of_search=other')).to.equal(500);
    expect(await ask('/api/v1/broken', 'of_broken=two')).to.equal(500);
    expect(await ask('/api/v1/broken', 'of_broken=three')).to.equal(400);
    expect(await counted('of_search')).to.deep.equal([
      'arm="control",excluded="override",outcome="answered"} 1',
      'arm="other",excluded="override",outcome="failed"} 2',
    ]);
    expect(await counted('of_broken')).to.deep.equal(['arm="two",excluded="override",outcome="failed"} 1']);
  });

  it('excludes a request whose arm a header chose from all its experiments', async () => {
    expect(await ask('/api/v1/plain', 'of_w=two')).to.equal(200);
    expect(await counted('of_w')).to.deep.equal(['arm="two",excluded="override",outcome="answered"} 1']);
    const [other = '', ...more] = await counted('of_v');
    expect(other).to.match(/^arm="(control|two)",excluded="override",outcome="answered"} 1$/);
    expect(more).to.deep.equal([]);
  });
});
