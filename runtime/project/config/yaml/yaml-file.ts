import { isMap, type Node } from 'yaml';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import { checkShape } from '../project/check-shape.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { FILE_KINDS, type FileKind } from './file-kinds.js';
import type { Environment } from './interpolate.js';
import type { Located, SourceFile } from './source.js';
import { yamlSchema } from '../project/schemas.js';
import { foundWords } from '../project/shape-words.js';
import { locatedText, memberOf, spanOf, textOf } from './tree.js';
import { parseYaml } from './yaml-document.js';

/** A project file with valid YAML and a checked shape. Its parts may still have errors, which are reported. */
export interface ParsedFile {
  readonly file: SourceFile;
  readonly root: Node;
  /** The declared name, or the file's name if they differ. */
  readonly name: Located<string>;
  /** The declared name, if it differs from the file's name. Uses of it are not reported again. */
  readonly alias: string | undefined;
}

/** Returns the name that the file should declare: `pipelines/search.yaml` → `search`. */
export function stemOf(file: SourceFile): string {
  return /([^/]*)\.yaml$/.exec(file.path)?.[1] ?? file.path;
}

/** Parses a file and checks its shape. Returns undefined if its YAML is not valid. @param parsed as of `parseYaml` */
export function parseFile(
  file: SourceFile,
  declares: FileKind,
  environment: Environment,
  diagnostics: Diagnostics,
  parsed?: Node,
): ParsedFile | undefined {
  const firstLine = `${declares}: ${stemOf(file)}`;
  const root = parseYaml(file, environment, diagnostics, firstLine, parsed);
  if (root === undefined) return undefined;
  if (!isMap(root)) {
    diagnostics.error(
      'wrong_type',
      spanOf(file, root),
      `expected a mapping, found ${foundWords(file, root)}`,
      `start the file with \`${firstLine}\``,
    );
    return undefined;
  }
  checkShape(root, yamlSchema(FILE_KINDS[declares].schema), diagnostics, { file, start: 0, end: 0 });
  const name = nameOf(file, root, declares, diagnostics);
  const declared = textOf(memberOf(root, declares));
  return { file, root, name, alias: declared === name.value ? undefined : declared };
}

function nameOf(file: SourceFile, root: Node, declares: FileKind, diagnostics: Diagnostics): Located<string> {
  const stem = stemOf(file);
  const name = locatedText(file, memberOf(root, declares));
  if (name?.value === stem) return name;
  const at = name?.at ?? spanOf(file, root);
  if (name !== undefined && NAME_PATTERN.test(name.value)) {
    diagnostics.error(
      'file_name',
      at,
      `the file ${stem}.yaml declares \`${name.value}\``,
      NAME_PATTERN.test(stem)
        ? `rename the file to ${name.value}.yaml, or write \`${declares}: ${stem}\``
        : `rename the file to ${name.value}.yaml`,
    );
  }
  return { value: stem, at };
}
