import protobuf from 'protobufjs';

/** A model without ZipMap at its outputs. */
export interface TensorModel {
  readonly content: Uint8Array;
  /** For each output that was a sequence of maps: the tensor that holds its numbers. */
  readonly maps: ReadonlyMap<string, ClassScores>;
}

export interface ClassScores {
  /** The name of the tensor in the model. */
  readonly tensor: string;
  /** The labels, in the order of the tensor's columns. */
  readonly classes: readonly string[];
}

/**
 * ZipMap turns a tensor into a sequence of maps from class to probability. This function replaces each such output by
 * the tensor, because Node's ONNX Runtime reads only tensors. Converters of scikit-learn add ZipMap by default, and
 * those of CatBoost always. All other bytes of the file stay unchanged. A file that cannot be read is returned
 * unchanged: the runtime reports its fault.
 *
 * Source: onnx.proto3 and the operator ai.onnx.ml.ZipMap, https://onnx.ai/onnx/operators/onnx_aionnxml_ZipMap.html
 */
export function withoutZipMap(content: Uint8Array): TensorModel {
  const unchanged = { content, maps: new Map<string, ClassScores>() };
  if (!Buffer.from(content.buffer, content.byteOffset, content.length).includes('ZipMap')) return unchanged;
  try {
    const model = fieldsOf(content);
    const graph = model.find(({ id }) => id === MODEL_GRAPH);
    if (graph?.value === undefined) return unchanged;
    const rewritten = rewriteGraph(graph.value);
    if (rewritten.maps.size === 0) return unchanged;
    const parts = model.map((field) =>
      field === graph ? message(MODEL_GRAPH, rewritten.bytes) : field.bytes,
    );
    return { content: Buffer.concat(parts), maps: rewritten.maps };
  } catch {
    return unchanged;
  }
}

/** Field numbers of onnx.proto3. */
const MODEL_GRAPH = 7;
const GRAPH = { node: 1, output: 12 } as const;
const NODE = { input: 1, output: 2, opType: 4, attribute: 5, domain: 7 } as const;
const ATTRIBUTE = { name: 1, ints: 8, strings: 9 } as const;
const VALUE_INFO = { name: 1, type: 2 } as const;
const FLOAT = 1;

/** One field of a message. */
interface Field {
  readonly id: number;
  /** The field with its tag. */
  readonly bytes: Uint8Array;
  /** The content of a text, of bytes or of an inner message; undefined for a number. */
  readonly value: Uint8Array | undefined;
}

function fieldsOf(content: Uint8Array): Field[] {
  const reader = protobuf.Reader.create(content);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = reader.uint32();
    const wireType = tag & 7;
    let value: Uint8Array | undefined;
    if (wireType === LENGTH_DELIMITED) {
      const length = reader.uint32();
      value = content.subarray(reader.pos, reader.pos + length);
      reader.skip(length);
    } else reader.skipType(wireType);
    fields.push({ id: tag >>> 3, bytes: content.subarray(start, reader.pos), value });
  }
  return fields;
}

const LENGTH_DELIMITED = 2;

function rewriteGraph(graph: Uint8Array): { bytes: Uint8Array; maps: Map<string, ClassScores> } {
  const fields = fieldsOf(graph);
  const nodes = fields.filter(({ id }) => id === GRAPH.node);
  const outputs = new Map(
    fields.flatMap((field) => (field.id === GRAPH.output ? [[textIn(field, VALUE_INFO.name), field]] : [])),
  );
  const maps = new Map<string, ClassScores>();
  const dropped = new Set<Field>();
  const replaced = new Map<Field, Uint8Array>();
  for (const node of nodes) {
    const zip = zipMapOf(node);
    const output = zip && outputs.get(zip.output);
    if (zip === undefined || output === undefined) continue;
    maps.set(zip.output, { tensor: zip.input, classes: zip.classes });
    // A tensor must be an output only once, even if several nodes read it.
    const isThere = outputs.has(zip.input);
    replaced.set(
      output,
      isThere ? new Uint8Array(0) : message(GRAPH.output, tensorInfo(zip.input, zip.classes.length)),
    );
    outputs.set(zip.input, output);
    if (!nodes.some((other) => other !== node && Buffer.from(other.bytes).includes(zip.output)))
      dropped.add(node);
  }
  const kept = fields.filter((field) => !dropped.has(field));
  return { bytes: Buffer.concat(kept.map((field) => replaced.get(field) ?? field.bytes)), maps };
}

function zipMapOf(
  node: Field,
): { readonly input: string; readonly output: string; readonly classes: readonly string[] } | undefined {
  const isZipMap = textIn(node, NODE.opType) === 'ZipMap' && textIn(node, NODE.domain) === 'ai.onnx.ml';
  if (!isZipMap) return undefined;
  const classes = fieldsOf(node.value ?? EMPTY)
    .filter(({ id }) => id === NODE.attribute)
    .flatMap((attribute) => labelsOf(attribute));
  const input = textIn(node, NODE.input);
  const output = textIn(node, NODE.output);
  return input === '' || output === '' || classes.length === 0 ? undefined : { input, output, classes };
}

function labelsOf(attribute: Field): string[] {
  const fields = fieldsOf(attribute.value ?? EMPTY);
  const name = textIn(attribute, ATTRIBUTE.name);
  if (name === 'classlabels_strings')
    return fields.flatMap(({ id, value }) =>
      id === ATTRIBUTE.strings ? [Buffer.from(value ?? EMPTY).toString()] : [],
    );
  if (name !== 'classlabels_int64s') return [];
  return fields.filter(({ id }) => id === ATTRIBUTE.ints).flatMap(integersOf);
}

/** The integers of a repeated field: packed, or one number in each field. */
function integersOf({ bytes, value }: Field): string[] {
  const reader = protobuf.Reader.create(value ?? bytes);
  if (value === undefined) reader.uint32();
  const numbers: string[] = [];
  while (reader.pos < reader.len) numbers.push(integerText(reader.int64()));
  return numbers;
}

/** With the package long installed, protobufjs returns numbers above 32 bits as objects of two halves. */
function integerText(value: number | { readonly low: number; readonly high: number }): string {
  if (typeof value === 'number') return String(value);
  return String((BigInt(value.high) << 32n) | BigInt(value.low >>> 0));
}

/** The first text of a field of a message; '' if there is none. */
function textIn(field: Field, id: number): string {
  const found = fieldsOf(field.value ?? EMPTY).find((one) => one.id === id);
  return Buffer.from(found?.value ?? EMPTY).toString();
}

/** ValueInfoProto of a float tensor [rows, width]. */
function tensorInfo(name: string, width: number): Uint8Array {
  const rows = message(1, EMPTY);
  const columns = message(1, protobuf.Writer.create().uint32(tagOf(1, 0)).int64(width).finish());
  const shape = message(2, Buffer.concat([rows, columns]));
  const element = protobuf.Writer.create().uint32(tagOf(1, 0)).int32(FLOAT).finish();
  const tensorType = message(1, Buffer.concat([element, shape]));
  return Buffer.concat([message(VALUE_INFO.name, Buffer.from(name)), message(VALUE_INFO.type, tensorType)]);
}

function message(id: number, content: Uint8Array): Uint8Array {
  return protobuf.Writer.create().uint32(tagOf(id, LENGTH_DELIMITED)).bytes(content).finish();
}

function tagOf(id: number, wireType: number): number {
  return ((id << 3) | wireType) >>> 0;
}

const EMPTY = new Uint8Array(0);
