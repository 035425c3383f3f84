import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { Analyzer, languageOf } from '../../../../runtime/ground/text/index.js';
import { repositoryPath } from '../../../support/repository.js';

/** By language: words and their stems by snowballstemmer 3.1.1. `test/acceptance/stems.ts --write` writes them. */
const VECTORS = JSON.parse(
  readFileSync(repositoryPath('test/unit/ground/text/stems.json'), 'utf8'),
) as Readonly<Record<string, Readonly<Record<string, string>>>>;

describe('the stemmers', () => {
  for (const [name, stems] of Object.entries(VECTORS)) {
    it(`give the stems of snowballstemmer for words of ${name}`, () => {
      const language = languageOf(name);
      expect(language).to.equal(name);
      const analyzer = new Analyzer({ language, stemming: 'language', accents: 'keep' });
      const found = Object.fromEntries(
        Object.keys(stems).map((word) => [word, analyzer.tokens(word).join(' ')]),
      );
      expect(Object.keys(stems).length).to.be.at.least(50);
      expect(found).to.deep.equal(stems);
    });
  }
});
