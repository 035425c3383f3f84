import { OptionError } from '../api/option-error.js';
import type { ProjectFile } from '../api/build-context.js';

/** A fault in a model file. The plugin reports it at the option that names the file. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError';

  constructor(
    message: string,
    readonly help?: string,
  ) {
    super(message);
  }
}

/** A warning about a file that can be used. The message follows the path of the file. */
export interface FileNotice {
  readonly message: string;
  readonly help?: string;
}

/** What a file really is, and how to get the expected file. */
export interface OtherFile {
  readonly what: string;
  readonly help?: string;
}

interface Kind {
  /** The library that reads such files. A file that it cannot read is damaged, not another file. */
  readonly of?: string;
  readonly is: (content: Buffer, head: string) => boolean;
  readonly what: string;
  readonly help?: (path: string, resave: string) => string;
}

/** The number of bytes that identify a file; `head` has them as Latin-1 characters. */
const HEAD_BYTES = 512;

const unpickle = (path: string, resave: string): string =>
  `in Python: import joblib; model = joblib.load(${JSON.stringify(path)}); ${resave}`;
const asOnnx = (path: string, format: string): string =>
  `in Python: from catboost import CatBoost; CatBoost().load_model(${JSON.stringify(path)}${format}).save_model("model.onnx", format="onnx"); then write \`use: onnx\``;

const between = (byte: number | undefined, least: number, most: number): boolean =>
  byte !== undefined && byte >= least && byte <= most;

/** A text in XGBoost's old binary format: its length in 8 bytes, then its characters. */
const BOOSTERS = ['gbtree', 'dart', 'gblinear'].map(
  (name) => `${String.fromCharCode(name.length)}${'\0'.repeat(7)}${name}`,
);

const KINDS: readonly Kind[] = [
  {
    is: (content) => content.length === 0 || content.every((byte) => byte === 0),
    what: 'empty',
  },
  {
    is: (_, head) => head.startsWith('version https://git-lfs.github.com/spec/'),
    what: 'a pointer of Git LFS, not the file itself',
    help: (path) => `run: git lfs pull --include ${JSON.stringify(path)}`,
  },
  {
    is: (_, head) => /^outs:\s*\n-\s+\w+:/.test(head),
    what: 'a pointer of DVC, not the file itself',
    help: (path) => `run: dvc pull ${JSON.stringify(path)}, and name the file that it writes`,
  },
  {
    is: (_, head) => /^\s*(<!doctype html|<html)/i.test(head),
    what: 'a web page',
    help: () => 'the download returned a web page, perhaps a login page; download the file again',
  },
  {
    is: (_, head) => /^\s*<\?xml/.test(head),
    what: 'an XML file, such as PMML',
    help: () => 'save the model with its own library',
  },
  {
    // Protocols 2 to 5. Protocol 0 begins with the module of a function or with a mark.
    is: (content, head) =>
      (content[0] === 0x80 && between(content[1], 2, 5)) || /^\(?c[A-Za-z_][\w.]*\n\w+\n/.test(head),
    what: 'a Python pickle',
    help: unpickle,
  },
  {
    is: (content, head) =>
      (content[0] === 0x78 && [0x01, 0x5e, 0x9c, 0xda].includes(content[1] ?? 0)) ||
      /^(BZh[1-9]|\xfd7zXZ)/.test(head),
    what: 'compressed data, such as joblib writes',
    help: unpickle,
  },
  {
    is: (_, head) => head.startsWith('\x1f\x8b'),
    what: 'compressed with gzip',
    help: (path) => `run: gunzip ${JSON.stringify(path)}, and name the file that it writes`,
  },
  {
    is: (_, head) => head.startsWith('PK\x03\x04'),
    what: 'a zip archive',
    help: () => 'unpack it, and name the model file in it',
  },
  {
    is: (_, head) => head.startsWith('\x89HDF\r\n'),
    what: 'an HDF5 file',
    help: () => 'export the model as ONNX and write `use: onnx`',
  },
  {
    is: (_, head) => head.startsWith('CBM1'),
    what: 'a model of CatBoost',
    help: (path) => asOnnx(path, ''),
  },
  {
    is: (content, head) =>
      /^\s*\{/.test(head) &&
      content.includes('"features_info"') &&
      /"(oblivious_trees|trees|scale_and_bias)"/.test(content.toString('latin1')),
    what: 'a model of CatBoost as JSON',
    help: (path) => asOnnx(path, ', format="json"'),
  },
  {
    // The version of the format, then the producer or the graph.
    is: (content) =>
      content[0] === 0x08 &&
      between(content[1], 1, 31) &&
      [0x12, 0x1a, 0x22, 0x2a, 0x32, 0x3a, 0x42].includes(content[2] ?? 0),
    of: 'ONNX',
    what: 'an ONNX model',
    help: () => 'write `use: onnx`',
  },
  {
    // A model of XGBoost has `tree_info`, too.
    is: (content, head) =>
      /^tree *\r?\n/.test(head) ||
      (/^\s*\{/.test(head) && content.includes('"tree_info"') && !content.includes('"learner"')),
    of: 'LightGBM',
    what: 'a model of LightGBM',
    help: () => 'write `use: lightgbm`',
  },
  {
    // JSON, UBJSON (after the brace comes the length of a key), or a dump, which is a list.
    is: (content, head) =>
      (/^\s*\{\s*"/.test(head) && content.includes('"learner"')) || /^(\{[^\s"}]|\s*\[\s*"?\s*\{)/.test(head),
    of: 'XGBoost',
    what: 'a model of XGBoost',
    help: () => 'write `use: xgboost`',
  },
  {
    is: (_, head) => head.startsWith('______LightGBM_Binary_File_Token______'),
    what: 'a data set of LightGBM, not a model',
    help: () => 'save the model: booster.save_model("model.txt")',
  },
  {
    // Files since 1.0 have a mark. Older files begin with the parameters, then texts with their lengths.
    is: (_, head) => head.startsWith('binf') || BOOSTERS.some((name) => head.includes(name)),
    what: "a model in XGBoost's old binary format, which XGBoost removed in 3.1",
    help: (path) =>
      `run: pip install "xgboost<3.1"; then in Python: import xgboost; xgboost.Booster(model_file=${JSON.stringify(path)}).save_model("model.json")`,
  },
  {
    is: (_, head) => /^booster\[\d+\]:?\s/.test(head),
    what: 'a text dump of XGBoost, which lacks base_score and the objective',
    help: () =>
      'save the model itself: booster.save_model("model.json"); without it, dump JSON: booster.dump_model("model.json", dump_format="json")',
  },
];

/**
 * Identifies files that users often give by mistake: default formats of tools, and failed downloads. Call it only for
 * a file that cannot be read: a correct file may look like one of these.
 * @param resave Python code that saves `model` in the right format
 * @param library the library whose model was expected
 */
export function otherFile(
  { path, content }: ProjectFile,
  resave = '',
  library?: string,
): OtherFile | undefined {
  const head = content.toString('latin1', 0, HEAD_BYTES);
  const kind = KINDS.find(({ is, of }) => (of === undefined || of !== library) && is(content, head));
  if (kind === undefined) return undefined;
  const help = kind.help?.(path, resave);
  return help === undefined ? { what: kind.what } : { what: kind.what, help };
}

/**
 * The error to report at the option `model` for a file that cannot be read. An OptionError is returned unchanged.
 * @param library the library whose model was expected
 * @param resave Python code that saves `model` in a readable format
 */
export function modelFileError(
  file: ProjectFile,
  library: string,
  resave: string,
  error: unknown,
): OptionError {
  if (error instanceof OptionError) return error;
  const other = otherFile(file, resave, library);
  const reason =
    other === undefined ? (error instanceof Error ? error.message : String(error)) : `it is ${other.what}`;
  const help = other?.help ?? (error instanceof ModelFileError ? error.help : undefined);
  return new OptionError(['model'], `\`${file.path}\` is not a usable ${library} model: ${reason}`, help);
}
