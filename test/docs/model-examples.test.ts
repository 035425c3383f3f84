import { expect } from 'chai';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { AllowedHosts } from '../../runtime/project/settings/allowed-hosts.js';
import { loadSettings, SETTINGS } from '../../runtime/project/settings/settings.js';
import { startInferenceServer } from '../support/inference-server.js';
import { lightGbmFile } from '../../bench/support/lightgbm-text.js';
import { onnxModel } from '../support/onnx-writer.js';
import { findOnnxRuntime, onnxRuntimeFolder } from '../support/onnx-runtime.js';
import { rankedIn, writeProject } from '../support/project.js';
import { itWith } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';

const SCHEMAS = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float, embedding: vector(3) }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { embedding: vector(4) }\n',
};

function pipelineOf(name: string): string {
  const text = readFileSync(repositoryPath('docs/models.md'), 'utf8');
  const [, block] = new RegExp(`^\`\`\`yaml pipeline=${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text) ?? [];
  return block ?? expect.fail(`docs/models.md has no pipeline ${name}`);
}

describe('the pipelines of docs/models.md', () => {
  let root = '';
  afterEach(() => rm(root, { recursive: true, force: true }));

  async function problems(hosts = ''): Promise<string> {
    const { default: prefix } = SETTINGS.prefix;
    const compiled = await compileProject(root, {
      prefix,
      modelHosts: AllowedHosts.parse(hosts) ?? AllowedHosts.none,
    });
    await compiled.close();
    return renderDiagnostics(compiled.diagnostics, { color: false, width: 1000 });
  }

  it('run in phases, each on the best candidates of the previous phase', async () => {
    root = await writeProject({
      ...SCHEMAS,
      'pipelines/phases.yaml': pipelineOf('phases'),
      'models/deep.txt': DEEP,
    });
    expect(await problems()).to.equal('');
    const settings = loadSettings({ LOG_LEVEL: 'silent', MILLRACE_STORE: 'embedded' }, { project: root });
    const app = await createApp(settings);
    try {
      const candidates = Array.from({ length: 300 }, (_, i) => ({
        product_id: `p${i}`,
        title: i === 299 ? 'a lamp' : 'a chair',
        sales: i,
        price: 300 - i,
      }));
      const body = { candidates, query: { query: 'lamp' }, user_page_size: 100 };
      const answer = await app.pipelines[0]?.run(body, { requestId: 'r' });
      const ranked = answer === undefined ? [] : rankedIn(answer.answer);
      // The model prefers high prices. It never scores the hundred products with the lowest sales, which have the
      // highest prices.
      expect(ranked[0]).to.deep.equal({ candidate_id: 'p100', ranked_score: 2 });
      expect(ranked.every(({ candidate_id: id }) => Number(id.slice(1)) >= 100)).to.equal(true);
    } finally {
      await app.close();
    }
  });

  it('call a model on another server, whose metadata fits', async () => {
    const server = await startInferenceServer();
    try {
      const text = pipelineOf('remote');
      root = await writeProject({
        ...SCHEMAS,
        'pipelines/remote.yaml': text.replace('http://models:8000', server.url),
      });
      server.metadata = {
        inputs: [{ name: 'features', datatype: 'FP32', shape: [-1, 4] }],
        outputs: [{ name: 'relevance', datatype: 'FP32', shape: [-1, 1] }],
      };
      expect(await problems(`127.0.0.1:${server.port}`)).to.equal('');
    } finally {
      await server.close();
    }
  });

  itWith('onnxruntime-node', 'run an ONNX model', async () => {
    const runtime = findOnnxRuntime() ?? '';
    root = await writeProject({ ...SCHEMAS, 'pipelines/dense.yaml': pipelineOf('dense') });
    await mkdir(join(root, 'models'));
    await mkdir(join(root, 'node_modules'));
    await symlink(onnxRuntimeFolder(runtime), join(root, 'node_modules', 'onnxruntime-node'));
    await writeFile(join(root, 'models', 'two-tower.onnx'), twoTower());
    expect(await problems()).to.equal('');
  });
});

/** Returns 2 above a price of 150, otherwise 1. */
const DEEP = lightGbmFile(
  [
    'version=v4',
    'num_class=1',
    'num_tree_per_iteration=1',
    'label_index=0',
    'max_feature_idx=2',
    'objective=lambdarank',
    'feature_names=Column_0 Column_1 Column_2',
    'feature_infos=none none none',
  ],
  [
    'num_leaves=2\nnum_cat=0\nsplit_feature=1\nthreshold=150\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=1 2\nis_linear=0\nshrinkage=1',
  ],
);

/** Multiplies a user's vector with each item's vector and sums the products. */
function twoTower(): Buffer {
  return onnxModel({
    inputs: [
      { name: 'user', shape: [1, 4] },
      { name: 'item', shape: ['N', 4] },
    ],
    outputs: [{ name: 'affinity', shape: ['N', 1] }],
    weights: [{ name: 'ones', shape: [4, 1], values: [1, 1, 1, 1] }],
    nodes: [
      { op: 'Mul', inputs: ['user', 'item'], outputs: ['product'] },
      { op: 'MatMul', inputs: ['product', 'ones'], outputs: ['affinity'] },
    ],
  });
}
