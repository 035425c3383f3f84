import { Pair, Scalar, YAMLMap, YAMLSeq, type Node } from 'yaml';
import type { JsonValue } from '../../../ground/api/types.js';
import { SourceFile } from './source.js';
import { MAX_DEPTH } from './yaml-depth.js';

/** A file whose text is JSON, with its nodes. */
export interface JsonFile {
  readonly file: SourceFile;
  readonly root: Node;
  /** Where it is nested more than MAX_DEPTH levels deep, if it is. Deeper values are left out. */
  readonly tooDeep: number | undefined;
}

/**
 * Writes a value as a file of JSON, which is YAML, one member a line. The nodes are those that the parser of YAML makes of the
 * text. To make them here costs a small part of what the parser costs.
 */
export function jsonFile(path: string, value: JsonValue): JsonFile {
  let text = '';
  let indent = '\n';
  let tooDeep: number | undefined;
  const scalar = (one: JsonValue, type: Scalar.Type): Scalar => {
    const start = text.length;
    const written = JSON.stringify(one);
    text += written;
    // JSON writes -0 as 0.
    const made = new Scalar(one === 0 ? 0 : one);
    made.type = type;
    made.source = type === Scalar.PLAIN ? written : (one as string);
    made.range = [start, text.length, text.length];
    return made;
  };
  /** Writes the items of a collection between its brackets. */
  const collection = <T extends YAMLMap | YAMLSeq, U>(
    made: T,
    open: string,
    close: string,
    items: readonly U[],
    write: (item: U) => T['items'][number],
  ): T => {
    const start = text.length;
    const outer = indent;
    text += open;
    indent += ' ';
    // An array that grows by `push` has room for 17 elements.
    made.items = items.map((item, i) => {
      text += (i > 0 ? ',' : '') + indent;
      return write(item);
    });
    indent = outer;
    text += (items.length > 0 ? indent : '') + close;
    made.flow = true;
    made.range = [start, text.length, text.length];
    return made;
  };
  const node = (one: JsonValue): Node => {
    if (indent.length > MAX_DEPTH) {
      tooDeep ??= text.length;
      return scalar(null, Scalar.PLAIN);
    }
    if (Array.isArray(one))
      return collection(new YAMLSeq<Node>(), '[', ']', one as readonly JsonValue[], node);
    if (typeof one === 'object' && one !== null)
      return collection(new YAMLMap<Node, Node>(), '{', '}', Object.entries(one), ([name, member]) => {
        const key = scalar(name, Scalar.QUOTE_DOUBLE);
        text += ': ';
        return new Pair(key, node(member));
      });
    return scalar(one, typeof one === 'string' ? Scalar.QUOTE_DOUBLE : Scalar.PLAIN);
  };
  const root = node(value);
  return { file: new SourceFile(path, text), root, tooDeep };
}
