import { expect } from 'chai';
import fc from 'fast-check';
import type { QueryMatch } from '../../../../runtime/project/config/model/curation.js';
import { normalizeQuery } from '../../../../runtime/ground/core/normalize-query.js';
import { RuleIndex } from '../../../../runtime/state/curation/rule-index.js';

const word = fc.constantFrom('red', 'shoe', 'shoes', 'tv', 'é', 'Ü', 'x');
const query = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
const match = fc.constantFrom<QueryMatch>('equals', 'prefix', 'contains');

/** What the documentation says of `match`, tried for each rule. */
function agrees(rule: string, how: QueryMatch, asked: string): boolean {
  const [wanted, found] = [normalizeQuery(rule), normalizeQuery(asked)];
  if (how === 'equals') return found === wanted;
  return how === 'prefix' ? found.startsWith(wanted) : ` ${found} `.includes(` ${wanted} `);
}

describe('the index of rules by query', () => {
  it('finds the rules that a scan finds', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(query, match), { maxLength: 30 }), query, (rules, asked) => {
        const index = new RuleIndex<{ readonly order: number }>();
        for (const [order, [text, how]] of rules.entries())
          index.add({ query: normalizeQuery(text), match: how }, { order });
        const found = index.find(asked).map(({ order }) => order);
        const scanned = rules.flatMap(([text, how], order) => (agrees(text, how, asked) ? [order] : []));
        expect(found.sort((a, b) => a - b)).to.deep.equal(scanned);
      }),
    );
  });

  it('ignores case, accents, width, punctuation and spaces of a query', () => {
    for (const text of ['Café au lait', '  CAFE  au-lait!', 'cafe\u0301 AU lait', 'ｃａｆé au lait'])
      expect(normalizeQuery(text.replace('-', ' ')), text).to.equal('cafe au lait');
    for (const [text, other] of [
      ['Straße', 'STRASSE'],
      ['kadın', 'KADIN'],
      ['İpek', 'ipek'],
      ['ΟΔΟΣ', 'οδός'],
    ] as const)
      expect(normalizeQuery(text), text).to.equal(normalizeQuery(other));
    expect(normalizeQuery('C++')).to.equal('c++');
    expect(normalizeQuery('?!')).to.equal('');
    expect(normalizeQuery('東京 タワー')).to.equal('東京 タワー');
  });
});
