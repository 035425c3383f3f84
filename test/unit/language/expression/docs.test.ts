import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parseDocument, visit } from 'yaml';
import { compileExpression } from '../../../../runtime/language/expression/compile.js';
import type { ElementType } from '../../../../runtime/language/expression/environment.js';
import { functionTable } from '../../../../runtime/language/expression/function-table.js';
import { FUNCTIONS } from '../../../../runtime/language/expression/functions/registry.js';
import { cellValue } from '../../../../runtime/ground/core/cell-value.js';
import { parseExpression } from '../../../../runtime/language/expression/parser.js';
import { timestampOf } from '../../../../runtime/ground/core/timestamp.js';
import { repositoryPath } from '../../../support/repository.js';
import { run } from './shop.js';
import { Table } from './table.js';

const NUMBER: ElementType = { kind: 'number' };
const BRAND: ElementType = { kind: 'ref', entity: 'brand' };

const names = new Table({
  'product.price': { type: NUMBER, scope: 'candidate' },
  'product.cost': { type: NUMBER, scope: 'candidate' },
  'product.number_in_stock': { type: NUMBER, scope: 'candidate' },
  'product.brand': { type: BRAND, scope: 'candidate' },
  'product.tags': { type: { kind: 'list', of: { kind: 'text' } }, scope: 'candidate' },
  'product.variants.price': { type: { kind: 'list', of: NUMBER }, scope: 'candidate' },
  'user.favourite_brand': { type: BRAND, scope: 'request' },
  'title:bm25': { type: NUMBER, scope: 'candidate' },
  'product_stats:orders_30d': { type: NUMBER, scope: 'candidate' },
  loves_brand: { type: { kind: 'bool' }, scope: 'candidate' },
});

/** The expressions in code blocks of docs/expressions.md. */
function documented(): string[] {
  const page = readFileSync(repositoryPath('docs/expressions.md'), 'utf8');
  const found: string[] = [];
  for (const [, language = '', text = ''] of page.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    if (language === 'expression') found.push(...text.trim().split('\n'));
    else {
      visit(parseDocument(text), {
        Scalar: (key, node) => {
          if (key === 'value' && typeof node.value === 'string' && /\W/.test(node.value))
            found.push(node.value);
        },
      });
    }
  }
  return found;
}

/** The forms of a time in docs/expressions.md. */
function documentedTimes(): string[] {
  const page = readFileSync(repositoryPath('docs/expressions.md'), 'utf8');
  const table = page.slice(page.indexOf('| form '), page.indexOf('A time without `Z`'));
  return [...table.matchAll(/`(\d{4}-[^`]*)`/g)].flatMap(([, text]) => text ?? []);
}

describe('docs/expressions.md', () => {
  const all = documented();

  it('shows expressions', () => {
    expect(all).to.have.length.above(5);
  });

  for (const text of all) {
    it(`shows one that compiles: ${text}`, () => {
      const result = compileExpression(text, names, { type: 'any', scope: 'candidate' });
      expect(result.ok ? [] : result.problems).to.deep.equal([]);
    });
  }

  it('lists forms of a time that expressions, bodies and CSV files all accept', () => {
    const forms = documentedTimes();
    expect(forms).to.have.length.above(9);
    for (const text of forms) {
      const time = timestampOf(text);
      expect(Math.abs(time - Date.UTC(2026, 0, 31)), text).to.be.at.most(86_400_000);
      expect(run(`time("${text}") - time("1970-01-01")`, {}, 0), text).to.deep.equal([time]);
      expect(timestampOf(cellValue(text, { kind: 'timestamp' })), text).to.equal(time);
    }
  });

  it('has a row for every function, written as a call of it', () => {
    const table = functionTable();
    for (const { name, signature } of FUNCTIONS.values()) {
      expect(table).to.contain(`\`${signature}\``);
      const parsed = parseExpression(signature.replace(', …', '').replace('else', 'otherwise'));
      expect(parsed.ok && parsed.ast.kind === 'call' && parsed.ast.name, signature).to.equal(name);
    }
  });

  it('shows a bar within a signature or a summary as a bar', () => {
    const row = { signature: 'either("a|b")', summary: 'A text: a|b.', group: 'text' } as const;
    expect(functionTable([row]).split('\n').at(-1)).to.equal('| `either("a\\|b")` | text | A text: a\\|b. |');
  });
});
