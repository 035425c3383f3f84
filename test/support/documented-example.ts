import { readFileSync } from 'node:fs';
import { isMap, parseDocument, type Node } from 'yaml';
import { SourceFile, type Span } from '../../runtime/project/config/yaml/source.js';

/** A step, a sink, a source or a view in a plugin's README. */
export interface DocumentedExample {
  readonly use: unknown;
  readonly isSource: boolean;
  readonly isView: boolean;
  readonly with: Node | undefined;
  readonly at: Span;
  /** Errors of the YAML itself. */
  readonly errors: readonly string[];
}

/** Returns the YAML blocks of a Markdown file that are steps, in order. */
export function documentedExamples(path: string): DocumentedExample[] {
  const blocks = readFileSync(path, 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, text = '']) => {
    const document = parseDocument(text, { prettyErrors: false });
    const { contents } = document;
    if (!isMap(contents) || !contents.has('use')) return [];
    const at: Span = { file: new SourceFile(path, text), start: 0, end: text.length };
    const options = contents.get('with', true) as Node | undefined;
    const errors = [...document.errors, ...document.warnings].map((error) => error.message);
    return [
      {
        use: contents.get('use'),
        isSource: contents.has('source'),
        isView: contents.has('view'),
        with: options,
        at,
        errors,
      },
    ];
  });
}
