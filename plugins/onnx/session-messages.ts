import type { TensorData } from 'millrace/api';

/** The data that a session's thread starts with. */
export interface WorkerStart {
  /** The main file of onnxruntime-node. */
  readonly modulePath: string;
  readonly model: Uint8Array;
  readonly threads: number;
}

/** A tensor sent between threads. The types have the names of the runtime. */
export interface WireTensor {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly data: TensorData;
}

export interface ToWorker {
  readonly inputs: readonly WireTensor[];
  /** Names of the outputs to compute. */
  readonly outputs: readonly string[];
}

export type ToMain =
  | { readonly kind: 'loaded'; readonly model: LoadedModel }
  | { readonly kind: 'answer'; readonly outputs: readonly WireTensor[] }
  | { readonly kind: 'failed'; readonly reason: string };

/** The inputs and outputs of a model. */
export interface LoadedModel {
  readonly inputs: readonly LoadedValue[];
  readonly outputs: readonly LoadedValue[];
}

export interface LoadedValue {
  readonly name: string;
  /** Undefined for a value that is not a tensor: a sequence or a map. */
  readonly type: string | undefined;
  /** Undefined for a size that the model leaves open. */
  readonly shape: readonly (number | undefined)[];
}
