/**
 * Makes the reference of `millrace/api` and `millrace/testing` from their declarations, as the compiler writes them to
 * dist/. They have the comments of the sources and no bodies.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

interface Declared {
  readonly name: string;
  /** The description of its comment, as Markdown. */
  readonly about: string;
  /** The declaration, with the comments of its members. */
  readonly text: string;
}

/** The modules, with the file of each. */
const MODULES = [
  ['millrace/api', 'runtime/ground/sdk/index.d.ts'],
  ['millrace/testing', 'runtime/cli/testing/index.d.ts'],
] as const;

/** @param dist the folder of the compiled code */
export function apiReference(dist: string): string {
  const parts = MODULES.map(([name, file]) => {
    const found = exportsOf(join(dist, file));
    const sections = found.map(({ name: one, about, text }) => {
      const shown = about === '' ? '' : `${about}\n\n`;
      return `### ${one}\n\n${shown}\`\`\`ts\n${text}\n\`\`\`\n`;
    });
    return `## ${name}\n\n${sections.join('\n')}`;
  });
  return `# Reference of the plugin API

This page is generated from the declarations of \`millrace/api\` and \`millrace/testing\`. [plugins.md](../plugins.md) is the guide.

${parts.join('\n')}`;
}

/** All that a module exports, by name. */
function exportsOf(index: string): Declared[] {
  const found = new Map<string, Declared>();
  for (const { file, only } of filesOf(index))
    for (const one of declaredIn(file))
      if (only === undefined || only.has(one.name)) {
        const before = found.get(one.name);
        // A type and a value may have one name.
        found.set(one.name, before === undefined ? one : { ...before, text: `${before.text}\n${one.text}` });
      }
  return [...found.values()].sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}

/** The files that a module exports from: whole files, and some names of others. */
function filesOf(index: string): { readonly file: string; readonly only: ReadonlySet<string> | undefined }[] {
  return parse(index).statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) return [];
    const { text } = statement.moduleSpecifier as ts.StringLiteral;
    const file = join(dirname(index), text.replace(/\.js$/, '.d.ts'));
    const { exportClause } = statement;
    const only =
      exportClause !== undefined && ts.isNamedExports(exportClause)
        ? new Set(exportClause.elements.map(({ name }) => name.text))
        : undefined;
    return [{ file, only }];
  });
}

function declaredIn(file: string): Declared[] {
  const source = parse(file);
  return source.statements.flatMap((statement): Declared[] => {
    if (!ts.canHaveModifiers(statement)) return [];
    const isExported = ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    const name = nameOf(statement);
    if (isExported !== true || name === undefined) return [];
    const text = statement
      .getText(source)
      .replace(/^export (?:declare )?/, '')
      // What is private is no part of the API.
      .replace(/^ *(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/\s*)?(?:#private|private [^;]*);\n/gm, '');
    return [{ name, about: aboutOf(statement), text }];
  });
}

function nameOf(statement: ts.Statement): string | undefined {
  if (ts.isVariableStatement(statement)) {
    const [first] = statement.declarationList.declarations;
    return first !== undefined && ts.isIdentifier(first.name) ? first.name.text : undefined;
  }
  const { name } = statement as ts.Statement & { readonly name?: ts.Identifier };
  return name?.text;
}

/** The description of a comment, and what its tags say. */
function aboutOf(statement: ts.Statement): string {
  const [comment] = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc).slice(-1);
  if (comment === undefined) return '';
  const textOf = (part: ts.JSDoc['comment']): string =>
    (typeof part === 'string' ? part : (ts.getTextOfJSDocComment(part) ?? '')).trim();
  const tags = (comment.tags ?? []).map((tag) => {
    const subject = ts.isJSDocParameterTag(tag) ? ` \`${tag.name.getText()}\`` : '';
    return `- ${tag.tagName.text}${subject}: ${textOf(tag.comment).replace(/\s+/g, ' ')}`;
  });
  return [textOf(comment.comment), tags.join('\n')].filter((part) => part !== '').join('\n\n');
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
}
