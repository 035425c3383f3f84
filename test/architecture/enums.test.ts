import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { repositoryPath } from '../support/repository.js';
import { importsIn } from './support/imports.js';

/** Lists of so many words are an enum; shorter ones are often the same by chance. */
const FEWEST = 3;

/** The words of a union of texts, or of an array of texts that is no argument; undefined for anything else, as for the names of `Pick`. */
function wordsOf(node: ts.Node): readonly string[] | undefined {
  if (ts.isCallExpression(node.parent) || ts.isTypeReferenceNode(node.parent)) return undefined;
  const parts = ts.isUnionTypeNode(node)
    ? node.types.map((type) => (ts.isLiteralTypeNode(type) ? type.literal : type))
    : ts.isArrayLiteralExpression(node)
      ? [...node.elements]
      : [];
  const words = parts.flatMap((part) => (ts.isStringLiteral(part) ? [part.text] : []));
  const isEnum = words.length === parts.length && new Set(words).size === words.length;
  return isEnum && words.length >= FEWEST ? words : undefined;
}

describe('enums', () => {
  const files = [...new Set([...importsIn('runtime'), ...importsIn('plugins')].map(({ file }) => file))];
  /** The places of each list, by its words. */
  const places = new Map<string, string[]>();
  for (const file of files) {
    // These lists come from a JSON Schema.
    if (file.endsWith('.generated.ts')) continue;
    const text = readFileSync(join(repositoryPath(), file), 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      const words = node === source ? undefined : wordsOf(node);
      if (words !== undefined) {
        const key = [...words].sort().join(' ');
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        places.set(key, [...(places.get(key) ?? []), `${file}:${line + 1}`]);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }

  it('are found in the code', () => {
    expect(places.size).to.be.greaterThan(100);
  });

  it('stand in one place: other code takes the type or the list', () => {
    const twice = [...places].filter(([, at]) => at.length > 1);
    expect(Object.fromEntries(twice)).to.deep.equal({});
  });
});
