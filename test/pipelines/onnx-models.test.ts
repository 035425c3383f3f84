import { expect } from 'chai';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { denseModel } from '../support/onnx-writer.js';
import { findOnnxRuntime, onnxRuntimeFolder } from '../support/onnx-runtime.js';
import { describeWith } from '../support/needs.js';
import { writeProject } from '../support/project.js';

const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: {}
components:
  - use: onnx
    as: deep
    with:
      model: models/m.onnx
      inputs: { features: [product.price, product.price] }
  - use: score
    unscored: keep
    with: { value: deep:score }
`,
};

describeWith('onnxruntime-node', 'ONNX models in a pipeline', () => {
  let root: string;

  beforeEach(async () => {
    root = await writeProject(FILES);
    await mkdir(join(root, 'models'));
    await writeFile(join(root, 'models', 'm.onnx'), denseModel([1, 2], 0));
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  it('use the onnxruntime-node of the project, and have the version of their file', async function () {
    const runtime = findOnnxRuntime() ?? '';
    await mkdir(join(root, 'node_modules'));
    await symlink(onnxRuntimeFolder(runtime), join(root, 'node_modules', 'onnxruntime-node'));
    const compiled = await compileProject(root);
    await compiled.close();
    const { diagnostics, pipelines } = compiled;
    expect(renderDiagnostics(diagnostics, { color: false, width: 1000 })).to.equal('');
    const [step] = pipelines[0]?.describe().components ?? [];
    expect(step?.produces).to.deep.equal(['deep:score']);
    expect(step?.version).to.match(/^[0-9a-f]{12}$/);
  });

  it('report mistakes with their places', async function () {
    const runtime = findOnnxRuntime() ?? '';
    await mkdir(join(root, 'node_modules'));
    await symlink(onnxRuntimeFolder(runtime), join(root, 'node_modules', 'onnxruntime-node'));
    await writeFile(join(root, 'models', 'm.onnx'), denseModel([1, 2, 3], 0));
    const compiled = await compileProject(root);
    await compiled.close();
    const { diagnostics } = compiled;
    const message = renderDiagnostics(diagnostics, { color: false, width: 1000 });
    expect(message).to.include('ranking.yaml:10:27');
    expect(message).to.include('is float32 [?, 3], and a row of `inputs` has 2 elements');
  });
});
