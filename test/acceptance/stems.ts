/**
 * Compares the stems of 12,000 words of twelve languages with those of snowballstemmer (pip install snowballstemmer):
 *
 *   node dist/test/acceptance/stems.js [--python PYTHON] [--words FOLDER] [--write]
 *
 * With snowballstemmer 2.2 it compares 3,000 words of the three languages whose stemmers are of that version: Dutch, Finnish and
 * French. FOLDER has real words, one a line, in <language>.txt. --write writes every tenth word to the
 * vectors that test/unit/ground/text/stems.test.ts reads. It fails if a stem differs.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Analyzer, languageOf } from '../../runtime/ground/text/index.js';
import { repositoryPath } from '../support/repository.js';

const SCRIPT = repositoryPath('test/acceptance/stem_words.py');
const VECTORS = repositoryPath('test/unit/ground/text/stems.json');
const TENTH = 10;

interface Stemmed {
  readonly words: readonly string[];
  readonly stems: readonly string[];
}

const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    words: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const argv = values.words === undefined ? [SCRIPT] : [SCRIPT, values.words];
const printed = execFileSync(values.python, argv, { encoding: 'utf8', maxBuffer: 1 << 28 });
const expected = JSON.parse(printed) as Readonly<Record<string, Stemmed>>;

let compared = 0;
let wrong = 0;
const vectors: Record<string, Record<string, string>> = {};
for (const [name, { words, stems }] of Object.entries(expected)) {
  const language = languageOf(name);
  const analyzer = new Analyzer({ language, stemming: 'language', accents: 'keep' });
  const different = words.flatMap((word, i) => {
    const stem = analyzer.tokens(word).join(' ');
    return stem === stems[i] ? [] : [`${word}: ${stem}, not ${stems[i] ?? ''}`];
  });
  compared += words.length;
  wrong += different.length;
  console.log(`${name.padEnd(12)} ${words.length} words, ${different.length} differ`);
  for (const line of different.slice(0, 10)) console.log(`  ${line}`);
  vectors[name] = Object.fromEntries(
    words.flatMap((word, i) => (i % TENTH === 0 ? [[word, stems[i] ?? ''] as const] : [])),
  );
}
console.log(`${compared} words of ${Object.keys(expected).length} languages: ${wrong} differ`);
if (values.write) writeFileSync(VECTORS, `${JSON.stringify(vectors, null, 1)}\n`);
process.exitCode = compared >= 1000 && wrong === 0 ? 0 : 1;
