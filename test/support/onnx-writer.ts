/** Writes ONNX files with the messages of onnx.proto that small dense and tree models need. */
import protobuf from 'protobufjs';
import { NodeRule, type DecisionTree, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';

const PROTO = `syntax = "proto3";
message OperatorSetId { string domain = 1; int64 version = 2; }
message Tensor { repeated int64 dims = 1; int32 data_type = 2; repeated float float_data = 4; repeated int32 int32_data = 5;
  repeated bytes string_data = 6; repeated int64 int64_data = 7; string name = 8; bytes raw_data = 9; repeated double double_data = 10; }
message Attribute { string name = 1; float f = 2; int64 i = 3; bytes s = 4; Tensor t = 5; repeated float floats = 7;
  repeated int64 ints = 8; repeated bytes strings = 9; int32 type = 20; }
message Node { repeated string input = 1; repeated string output = 2; string name = 3; string op_type = 4;
  repeated Attribute attribute = 5; string domain = 7; }
message Dimension { int64 dim_value = 1; string dim_param = 2; }
message Shape { repeated Dimension dim = 1; }
message TensorType { int32 elem_type = 1; Shape shape = 2; }
message SequenceType { Type elem_type = 1; }
message MapType { int32 key_type = 1; Type value_type = 2; }
message Type { TensorType tensor_type = 1; SequenceType sequence_type = 4; MapType map_type = 5; }
message ValueInfo { string name = 1; Type type = 2; }
message Graph { repeated Node node = 1; string name = 2; repeated Tensor initializer = 5; repeated ValueInfo input = 11; repeated ValueInfo output = 12; }
message Model { int64 ir_version = 1; string producer_name = 2; Graph graph = 7; repeated OperatorSetId opset_import = 8; }
`;
const types = protobuf.parse(PROTO, { keepCase: true }).root;

/** Numbers of element types in TensorProto. */
const ELEMENT = { float32: 1, int64: 7, string: 8, bool: 9, float64: 11 } as const;
type ElementType = keyof typeof ELEMENT;

/** A tensor's name, type and shape. A string in the shape is a dynamic size. */
export interface OnnxValue {
  readonly name: string;
  readonly type?: ElementType;
  readonly shape: readonly (number | string)[];
}

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly domain?: string;
  readonly attributes?: readonly object[];
}

export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  readonly weights?: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly values: readonly number[];
  }[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly (OnnxValue | { readonly name: string; readonly zipMap: true })[];
}

export const attribute = {
  float: (name: string, f: number): object => ({ name, f, type: 1 }),
  int: (name: string, i: number): object => ({ name, i, type: 2 }),
  text: (name: string, s: string): object => ({ name, s: Buffer.from(s), type: 3 }),
  floats: (name: string, floats: readonly number[]): object => ({ name, floats, type: 6 }),
  ints: (name: string, ints: readonly number[]): object => ({ name, ints, type: 7 }),
  texts: (name: string, texts: readonly string[]): object => ({
    name,
    strings: texts.map((s) => Buffer.from(s)),
    type: 8,
  }),
};

export function onnxModel({ nodes, weights = [], inputs, outputs }: OnnxGraph): Buffer {
  const message = types.lookupType('Model');
  const model = {
    ir_version: 8,
    producer_name: 'millrace-tests',
    opset_import: [
      { domain: '', version: 15 },
      { domain: 'ai.onnx.ml', version: 3 },
    ],
    graph: {
      name: 'model',
      node: nodes.map(({ op, inputs: input, outputs: output, domain = '', attributes = [] }, i) => ({
        name: `n${i}`,
        op_type: op,
        input,
        output,
        domain,
        attribute: attributes,
      })),
      initializer: weights.map(({ name, shape, values }) => ({
        name,
        dims: shape,
        data_type: ELEMENT.float32,
        float_data: values,
      })),
      input: inputs.map(valueInfo),
      output: outputs.map((one) => ('zipMap' in one ? zipMapInfo(one.name) : valueInfo(one))),
    },
  };
  return Buffer.from(message.encode(message.create(model)).finish());
}

function valueInfo({ name, type = 'float32', shape }: OnnxValue): object {
  const dim = shape.map((size) => (typeof size === 'number' ? { dim_value: size } : { dim_param: size }));
  return { name, type: { tensor_type: { elem_type: ELEMENT[type], shape: { dim } } } };
}

function zipMapInfo(name: string): object {
  const value = {
    map_type: { key_type: ELEMENT.int64, value_type: { tensor_type: { elem_type: ELEMENT.float32 } } },
  };
  return { name, type: { sequence_type: { elem_type: value } } };
}

/** A dense layer: `score` = sigmoid(`features` · weights + bias), one number per row. */
export function denseModel(weights: readonly number[], bias: number, rows: number | string = 'N'): Buffer {
  return onnxModel({
    inputs: [{ name: 'features', shape: [rows, weights.length] }],
    outputs: [{ name: 'score', shape: [rows, 1] }],
    weights: [
      { name: 'w', shape: [weights.length, 1], values: weights },
      { name: 'b', shape: [1], values: [bias] },
    ],
    nodes: [
      { op: 'MatMul', inputs: ['features', 'w'], outputs: ['product'] },
      { op: 'Add', inputs: ['product', 'b'], outputs: ['sum'] },
      { op: 'Sigmoid', inputs: ['sum'], outputs: ['score'] },
    ],
  });
}

/**
 * Writes trees as a TreeEnsembleRegressor from `features` [N, k] to `sum` [N, outputs], all in float32. ONNX has no
 * category sets, so a set becomes a chain of nodes that each test one category.
 */
export function treeModel(ensemble: TreeEnsemble): Buffer {
  const nodes = ensemble.trees.flatMap((tree, id) => treeNodes(tree, id, ensemble.comparison));
  const leaves = nodes.filter(({ mode }) => mode === 'LEAF');
  const ints = (
    key: Exclude<keyof TreeNode, 'mode' | 'value' | 'leaf'>,
    of: readonly TreeNode[],
  ): readonly number[] => of.map((node) => node[key]);
  return onnxModel({
    inputs: [{ name: 'features', shape: ['N', ensemble.features] }],
    outputs: [{ name: 'sum', shape: ['N', ensemble.outputs] }],
    nodes: [
      {
        op: 'TreeEnsembleRegressor',
        domain: 'ai.onnx.ml',
        inputs: ['features'],
        outputs: ['sum'],
        attributes: [
          attribute.int('n_targets', ensemble.outputs),
          attribute.floats('base_values', ensemble.base),
          attribute.ints('nodes_treeids', ints('tree', nodes)),
          attribute.ints('nodes_nodeids', ints('id', nodes)),
          attribute.ints('nodes_featureids', ints('feature', nodes)),
          attribute.texts(
            'nodes_modes',
            nodes.map(({ mode }) => mode),
          ),
          attribute.floats(
            'nodes_values',
            nodes.map(({ value }) => value),
          ),
          attribute.ints('nodes_truenodeids', ints('yes', nodes)),
          attribute.ints('nodes_falsenodeids', ints('no', nodes)),
          attribute.ints('nodes_missing_value_tracks_true', ints('missingYes', nodes)),
          attribute.ints('target_treeids', ints('tree', leaves)),
          attribute.ints('target_nodeids', ints('id', leaves)),
          attribute.ints(
            'target_ids',
            leaves.map(({ tree }) => ensemble.trees[tree]?.output ?? 0),
          ),
          attribute.floats(
            'target_weights',
            leaves.map(({ leaf }) => leaf),
          ),
        ],
      },
    ],
  });
}

interface TreeNode {
  readonly tree: number;
  readonly id: number;
  readonly feature: number;
  readonly mode: string;
  readonly value: number;
  readonly yes: number;
  readonly no: number;
  readonly missingYes: number;
  readonly leaf: number;
}

/** Inner nodes in order, then leaves, then the additional nodes of category sets. */
function treeNodes(tree: DecisionTree, id: number, comparison: TreeEnsemble['comparison']): TreeNode[] {
  const inner = tree.feature.length;
  let free = inner + tree.leaves.length;
  const idOf = (child: number): number => (child < 0 ? inner + ~child : child);
  const none = { tree: id, feature: 0, value: 0, yes: 0, no: 0, missingYes: 0, leaf: 0 };
  const nodes = Array.from(tree.feature, (feature, at): TreeNode[] => {
    const rule = tree.rule[at] ?? 0;
    if ((rule & NodeRule.missing) !== NodeRule.nan)
      throw new Error('ONNX supports only nodes that send NaN in the default direction');
    const node = {
      ...none,
      id: at,
      feature,
      mode: comparison === 'less' ? 'BRANCH_LT' : 'BRANCH_LEQ',
      value: tree.threshold[at] ?? NaN,
      yes: idOf(tree.left[at] ?? 0),
      no: idOf(tree.right[at] ?? 0),
      missingYes: (rule & NodeRule.defaultLeft) === 0 ? 0 : 1,
    };
    const set = tree.categories[at];
    if (set === undefined) return [node];
    return Array.from(set, (value, i) => ({
      ...node,
      id: i === 0 ? at : free++,
      mode: 'BRANCH_EQ',
      value,
      no: i === set.length - 1 ? node.no : free,
    }));
  }).flat();
  const leaves = Array.from(tree.leaves, (leaf, i): TreeNode => ({
    ...none,
    id: inner + i,
    mode: 'LEAF',
    leaf,
  }));
  return [...nodes, ...leaves];
}

/** Reads the numbers of a TensorProto, as a list. */
export function readTensor(content: Uint8Array): {
  readonly dims: readonly number[];
  readonly values: readonly number[];
} {
  const message = types.lookupType('Tensor');
  const { dims, data_type, raw_data, float_data, double_data } = message.toObject(message.decode(content), {
    longs: Number,
    defaults: true,
  }) as {
    dims: number[];
    data_type: number;
    raw_data: Uint8Array;
    float_data: number[];
    double_data: number[];
  };
  if (raw_data.length === 0)
    return { dims, values: data_type === ELEMENT.float64 ? double_data : float_data };
  const memory = Uint8Array.from(raw_data).buffer;
  return {
    dims,
    values: [...(data_type === ELEMENT.float64 ? new Float64Array(memory) : new Float32Array(memory))],
  };
}
