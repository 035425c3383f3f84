import { createRequire } from 'node:module';
import {
  bindOutputs,
  bindTensors,
  type BuildContext,
  definePlugin,
  type JsonObject,
  modelFileError,
  OptionError,
} from 'millrace/api';
import { inputSpecs, outputSpecs } from './model-values.js';
import { OnnxModel } from './onnx-model.js';
import { OnnxSession } from './session.js';
import { withoutZipMap } from './zip-map.js';
import type { Options } from './options.generated.js';

const RESAVE =
  'from skl2onnx import to_onnx; open("model.onnx", "wb").write(to_onnx(model, X).SerializeToString())';

export const plugin = definePlugin<Options>({
  name: 'onnx',
  kind: 'model',
  summary: 'Scores with an ONNX model, in process, by ONNX Runtime: neural networks and trees.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  async create(options, build) {
    const { content, maps } = withoutZipMap(options.model.content);
    const session = await openSession(options, content, build);
    try {
      const inputs = bindTensors(inputSpecs(session.model), options.inputs, build, {
        nan: true,
        batch: options.batch,
      });
      const outputs = bindOutputs(outputSpecs(session.model, maps), options.outputs);
      return new OnnxModel(options.model, session, inputs, outputs, maps);
    } catch (error) {
      await session.close();
      throw error;
    }
  },
});

async function openSession(
  { model, threads }: Options,
  content: Uint8Array,
  build: BuildContext,
): Promise<OnnxSession> {
  const modulePath = build.findPackage('onnxruntime-node');
  if (modulePath === undefined) {
    throw new OptionError(
      ['model'],
      'ONNX models need the package onnxruntime-node, which is not installed',
      'run `npm install onnxruntime-node` in the project folder',
    );
  }
  try {
    return await OnnxSession.open({ modulePath, threads, model: content });
  } catch (error) {
    throw modelFileError(model, 'ONNX', RESAVE, error);
  }
}
