import { expect } from 'chai';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { millrace } from '../../../support/command-line.js';
import { writeProject } from '../../../support/project.js';

const FILES = {
  'millrace.yaml': 'project: shop\n',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'pipelines/search.yaml': `
pipeline: search
rank: product
request: { candidates: {}, user: optional(user), variant: optional(string) }
params: { w: 1 }
components:
  - { use: score, with: { value: w * product.price } }
`,
  'experiments/prices.yaml':
    'experiment: prices\npipeline: search\nunit: user\narms: { control: {}, cheap: { params: { w: -1 } } }\n',
  'experiments/theirs.yaml':
    'experiment: theirs\npipeline: search\nunit: user\nassign: request.variant\narms: { control: {}, same: {} }\n',
  'experiments/quiet.yaml':
    'experiment: quiet\npipeline: search\nmode: shadow\nunit: user\narms: { control: {}, cheap: { params: { w: -1 } } }\n',
};

describe('experiments list', () => {
  it('shows neither layer nor share if another platform assigns the arms', async () => {
    const root = await writeProject(FILES);
    try {
      const store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
      const { stdout } = await millrace(['experiments', 'list', ...store]);
      expect(stdout).to.match(/^prices +search +prices +100% +running$/m);
      expect(stdout).to.match(/^theirs +search +- +- +running$/m);
      const json = await millrace(['experiments', 'list', '--json', ...store]);
      const { experiments } = JSON.parse(json.stdout) as { experiments: { assign?: string }[] };
      expect(experiments.map(({ assign }) => assign)).to.deep.equal([
        undefined,
        undefined,
        'request.variant',
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

describe('experiments stop', () => {
  it('tells of a misspelt name also if the store does not answer', async () => {
    const root = await writeProject(FILES);
    try {
      const told = async (name: string): Promise<string> => {
        const flags = ['--project', root, '--store', 'redis'];
        const env = { REDIS_URL: 'redis://127.0.0.1:1' };
        const { code, stderr } = await millrace(['experiments', 'stop', name, ...flags], { env });
        return `${code} ${stderr}`;
      };
      expect(await told('price')).to.match(/^1 .*no experiment price; did you mean prices\?/s);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('says that a shadow experiment has nothing live to stop', async () => {
    const root = await writeProject(FILES);
    try {
      const stop = (name: string): ReturnType<typeof millrace> =>
        millrace([
          ...['experiments', 'stop', name, '--project', root],
          ...['--store', 'embedded', '--data-dir', join(root, 'data')],
        ]);
      const quiet = await stop('quiet');
      expect(quiet).to.include({ code: 0, stdout: 'quiet: stopped\n' });
      expect(quiet.stderr).to.include('mode: shadow').and.include('`millrace shadow` goes on until Ctrl+C');
      expect((await stop('prices')).stderr).not.to.include('shadow');
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
