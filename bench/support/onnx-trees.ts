import { createRequire } from 'node:module';
import type { InferenceSession, Tensor } from 'onnxruntime-common';
import type { TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';
import { findOnnxRuntime } from '../../test/support/onnx-runtime.js';
import { treeModel } from '../../test/support/onnx-writer.js';

/** The same trees in ONNX Runtime. */
export interface OnnxTrees {
  /** @param features row by row; the sums have the same order */
  score(features: Float32Array, rows: number): Promise<ArrayLike<number>>;
  close(): Promise<void>;
}

/** @returns undefined if ONNX Runtime is not installed */
export async function openOnnx(ensemble: TreeEnsemble): Promise<OnnxTrees | undefined> {
  const path = findOnnxRuntime();
  if (path === undefined) return undefined;
  const runtime = createRequire(import.meta.url)(path) as {
    readonly InferenceSession: typeof InferenceSession;
    readonly Tensor: typeof Tensor;
  };
  const session = await runtime.InferenceSession.create(treeModel(ensemble), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  return {
    score: async (features, rows) => {
      const input = new runtime.Tensor('float32', features, [rows, ensemble.features]);
      const { sum } = await session.run({ features: input });
      return sum?.data as Float32Array;
    },
    close: () => session.release(),
  };
}
