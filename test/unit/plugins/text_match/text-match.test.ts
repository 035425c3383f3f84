import { expect } from 'chai';
import fc from 'fast-check';
import {
  buildTextStatistics,
  DEFAULT_ANALYZER,
  type TextStatistics,
} from '../../../../plugins/text_match/statistics.js';
import { readSynonyms } from '../../../../runtime/ground/sdk/synonyms.js';
import type { FieldGroup, SearchedField } from '../../../../plugins/text_match/fields.js';
import { TextMatch } from '../../../../plugins/text_match/text-match.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { Analyzer, type AnalyzerSettings } from '../../../../runtime/ground/text/index.js';
import { giveCodes } from '../../../support/give-codes.js';
import { TextCodes } from '../../../../runtime/request/resident/text-codes.js';
import { absent, compute, FakeStep, projectFile, type Cell } from '../../../support/step-input.js';

interface Given {
  readonly query: Cell<string>;
  readonly fields: readonly (readonly Cell<string>[])[];
  readonly weights?: readonly number[];
  readonly rows?: readonly number[];
  readonly statistics?: TextStatistics;
  readonly analyzer?: AnalyzerSettings;
  readonly synonyms?: string;
}

const OUTPUTS = ['bm25', 'overlap', 'phrase', 'coverage', 'proximity', 'first'] as const;
type Outputs = Record<(typeof OUTPUTS)[number], Cell<number>[]>;

const K1 = 1.2;
const B = 0.75;
const SETTINGS = { k1: K1, b: B } as const;

/** Every search is done three times: without codes, and where all and some of the texts have codes. */
async function match({
  query,
  fields,
  weights,
  rows,
  statistics,
  analyzer,
  synonyms,
}: Given): Promise<Outputs> {
  const step = new FakeStep(fields[0]?.length ?? 0, rows);
  const searched = fields.map((cells, f) => ({ input: step.text(cells), weight: weights?.[f] ?? 1 }));
  const component = new TextMatch({
    ...SETTINGS,
    query: step.requestText(query),
    groups: groupsOf(searched, analyzer),
    statistics: statistics && { content: statistics, text: 's.json', warning: undefined },
    ...(synonyms === undefined ? {} : { synonyms: readSynonyms(projectFile('s.txt', synonyms), []) }),
  });
  const found = (await compute(component, step)) as Outputs;
  await sameWithCodes(component, step, searched, found);
  return found;
}

async function sameWithCodes(
  component: TextMatch,
  step: FakeStep,
  searched: readonly SearchedField[],
  found: Record<string, unknown>,
): Promise<void> {
  for (const isCoded of [undefined, (at: number) => at % 3 !== 1]) {
    const dictionary = new TextCodes({ left: 1e7 });
    for (const { input } of searched) giveCodes(step.column(input), dictionary, isCoded);
    expect(await compute(component, step)).to.deep.equal(found);
    // A step of another request finds the tokens of the texts.
    expect(await compute(component, step)).to.deep.equal(found);
  }
}

function groupsOf(fields: readonly SearchedField[], analyzer = DEFAULT_ANALYZER): FieldGroup[] {
  return [{ fields, members: [...fields.keys()], analyzer }];
}

const idf = (documents: number, containing: number): number =>
  Math.log(1 + (documents - containing + 0.5) / (containing + 0.5));

describe('text_match', () => {
  it('computes BM25 over the candidates, by its formula', async () => {
    const titles = ['red lamp', 'blue lamp lamp stand', 'green chair'];
    const { bm25 } = await match({ query: 'red lamp', fields: [titles] });
    const weight = (count: number, length: number): number =>
      (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / (8 / 3)));
    expect(bm25[0]).to.be.closeTo(idf(3, 1) * weight(1, 2) + idf(3, 2) * weight(1, 2), 1e-12);
    expect(bm25[1]).to.be.closeTo(idf(3, 2) * weight(2, 4), 1e-12);
    expect(bm25[2]).to.equal(0);
  });

  it('equals a plain BM25 for any texts', async () => {
    const word = fc.constantFrom('red', 'blue', 'lamp', 'stand', 'xylophone');
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
    const texts = fc.array(text, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(texts, fc.array(word, { minLength: 1, maxLength: 4 }), async (titles, query) => {
        const { bm25, overlap, phrase } = await match({ query: query.join(' '), fields: [titles] });
        const expected = plainBm25(titles, query);
        titles.forEach((title, row) => {
          const words = title.split(' ');
          const distinct = [...new Set(query)];
          expect(bm25[row]).to.be.closeTo(expected[row] ?? NaN, 1e-9);
          expect(overlap[row]).to.equal(
            distinct.filter((one) => words.includes(one)).length / distinct.length,
          );
          expect(phrase[row]).to.equal(Number(` ${title} `.includes(` ${query.join(' ')} `)));
        });
      }),
    );
  });

  it('gives other requests their turn while it scans long texts, and mixes up none of them', async () => {
    const words = ['red', 'blue', 'lamp', 'stand'];
    const titlesOf = (seed: number): string[] =>
      Array.from({ length: 60 }, (_, row) =>
        [
          `title-${row}`,
          ...Array.from(
            { length: 4000 },
            (_word, i) => words[(seed + i * (row + 1)) % (seed + 3)] ?? 'chair',
          ),
        ].join(' '),
      );
    const requests = [1, 2, 3].map((seed) => {
      const titles = titlesOf(seed);
      const step = new FakeStep(titles.length);
      return { titles, step, query: step.requestText('red lamp'), field: step.text(titles) };
    });
    const [first] = requests;
    if (first === undefined) throw new Error('there are three');
    // All requests have the same columns, so that one component serves them.
    const { query, field } = first;
    const component = new TextMatch({ ...SETTINGS, query, groups: groupsOf([{ input: field, weight: 1 }]) });
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    const results = await Promise.all(requests.map(({ step }) => compute(component, step)));
    clearImmediate(next);
    expect(turns).to.be.above(3);
    for (const [i, { titles }] of requests.entries()) {
      const expected = plainBm25(titles, ['red', 'lamp']);
      titles.forEach((_, row) => expect(results[i]?.bm25?.[row]).to.be.closeTo(expected[row] ?? NaN, 1e-9));
    }
  });

  it('gives candidates that share long texts what each of them gets', async () => {
    const shared = ['red lamp ', 'blue stand ', 'lamp chair red '].map((words) => words.repeat(40));
    const titles = Array.from({ length: 30 }, (_, row) => shared[(row * row) % 3] ?? '');
    const expected = plainBm25(titles, ['red', 'lamp']);
    const { bm25, first } = await match({ query: 'red lamp', fields: [titles] });
    titles.forEach((title, row) => {
      expect(bm25[row]).to.be.closeTo(expected[row] ?? NaN, 1e-9);
      expect(first[row]).to.deep.equal(title.startsWith('blue') ? absent : 1);
    });
  });

  it('computes statistics over all candidates, including filtered ones', async () => {
    const fields = [['red lamp', 'lamp', 'lamp shade', 'chair']];
    const all = await match({ query: 'lamp', fields });
    const some = await match({ query: 'lamp', fields, rows: [0, 3] });
    expect(some.bm25).to.deep.equal([all.bm25[0], absent, absent, all.bm25[3]]);
  });

  it('has no outputs without a query, or for a query without words', async () => {
    const fields = [['red lamp']];
    for (const query of ['', ' !! ']) {
      const found = await match({ query, fields });
      for (const output of OUTPUTS) expect(found[output], output).to.deep.equal([absent]);
    }
    const missing = { status: Status.null };
    const { bm25 } = await match({ query: missing, fields });
    expect(bm25).to.deep.equal([missing]);
  });

  it('gives a candidate without a text the status of the text; an empty text matches nothing', async () => {
    const lost = { status: Status.missing_entity };
    const { bm25, overlap, phrase } = await match({ query: 'lamp', fields: [[lost, '', 'lamp']] });
    expect(bm25.slice(0, 2)).to.deep.equal([lost, 0]);
    expect(overlap).to.deep.equal([lost, 0, 1]);
    expect(phrase).to.deep.equal([lost, 0, 1]);
  });

  it('searches several texts together, and skips missing ones', async () => {
    const titles = ['lamp', 'chair', absent, absent];
    const descriptions = ['a chair', 'a lamp', 'a lamp', absent];
    const { bm25, overlap } = await match({ query: 'lamp', fields: [titles, descriptions], weights: [3, 1] });
    const numbers = bm25.slice(0, 3) as number[];
    expect(numbers[0]).to.be.greaterThan(numbers[1] ?? NaN);
    expect(numbers[1]).to.be.greaterThan(0);
    expect(overlap).to.deep.equal([1, 1, 1, absent]);
  });

  it('searches lists of texts, each text by itself', async () => {
    const step = new FakeStep(3);
    const query = step.requestText('desk lamp');
    const input = step.texts([['lamp', 'desk lamps'], ['desk', 'lamp'], []]);
    const searched = [{ input, weight: 1 }];
    const component = new TextMatch({ ...SETTINGS, query, groups: groupsOf(searched) });
    const found = await compute(component, step);
    await sameWithCodes(component, step, searched, found);
    const { overlap, phrase } = found;
    expect(overlap).to.deep.equal([1, 1, 0]);
    expect(phrase).to.deep.equal([1, 0, 0]);
  });

  it('finds words written as one, and one word written as two', async () => {
    const one = await match({ query: 'gaming head set', fields: [['gaming headset', 'gaming chair']] });
    expect(one.overlap).to.deep.equal([1, 1 / 3]);
    expect(one.phrase).to.deep.equal([1, 0]);
    const two = await match({ query: 'gaming headset', fields: [['gaming head set', 'set head gaming']] });
    expect(two.overlap).to.deep.equal([1, 0.5]);
    expect(two.phrase).to.deep.equal([1, 0]);
  });

  it('finds a phrase with repeated words, even if it starts inside a false start', async () => {
    const { phrase } = await match({
      query: 'new new york',
      fields: [['new new new york', 'new york new', 'a new new york b']],
    });
    expect(phrase).to.deep.equal([1, 0, 1]);
  });

  it('limits the length of a query', async () => {
    const words = Array.from({ length: 5000 }, (_, i) => `word${String(i)}x`);
    const { overlap, phrase } = await match({
      query: words.join(' '),
      fields: [[words.join(' '), 'word40x']],
    });
    expect(overlap).to.deep.equal([1, 0]);
    expect(phrase).to.deep.equal([1, 0]);
  });

  it('reuses its scratch memory without data of earlier requests', async () => {
    const step = new FakeStep(3);
    const small = new FakeStep(1);
    const query = step.requestText('red lamp');
    const field = step.text(['red lamp', 'red lamp', 'red lamp']);
    small.requestText('blue');
    small.text(['red']);
    const component = new TextMatch({ ...SETTINGS, query, groups: groupsOf([{ input: field, weight: 1 }]) });
    await compute(component, step);
    const { overlap, phrase } = await compute(component, small);
    expect([overlap, phrase]).to.deep.equal([[0], [0]]);
  });

  it('works on no candidates', async () => {
    const found = await match({ query: 'lamp', fields: [[]] });
    for (const output of OUTPUTS) expect(found[output], output).to.deep.equal([]);
  });

  it('says what share of a text the query covers, where it begins and how close its words are', async () => {
    const titles = ['red desk lamp', 'lamp for a red desk', 'a desk', 'chair', 'desk lamps desk', ''];
    const { coverage, first, proximity } = await match({ query: 'red desk lamp', fields: [titles] });
    expect(coverage).to.deep.equal([1, 3 / 5, 1 / 2, 0, 1, 0]);
    expect(first).to.deep.equal([1, 1, 2, absent, 1, absent]);
    expect(proximity).to.deep.equal([1, 3 / 5, 0, 0, 1 / 2, 0]);
    const one = await match({ query: 'lamp', fields: [titles] });
    expect(one.proximity).to.deep.equal([1, 1, 0, 0, 1, 0]);
  });

  it('takes the best of several texts for coverage, proximity and the first place', async () => {
    const fields = [['a lamp on a desk'], ['desk lamp']];
    const { coverage, first, proximity } = await match({ query: 'desk lamp', fields });
    expect([coverage, first, proximity]).to.deep.equal([[1], [1], [1]]);
  });

  it('equals a plain search of the shortest stretch', async () => {
    const word = fc.constantFrom('red', 'blue', 'lamp', 'x', 'y');
    const query = fc.uniqueArray(fc.constantFrom('red', 'blue', 'lamp'), { minLength: 2 });
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 9 }), query, async (title, terms) => {
        const { proximity } = await match({ query: terms.join(' '), fields: [[title.join(' ')]] });
        expect(proximity[0]).to.be.closeTo(plainProximity(title, terms), 1e-9);
      }),
    );
  });

  it('finds words of a language by their stems', async () => {
    const analyzer = { ...DEFAULT_ANALYZER, language: 'german', stemming: 'language' } as const;
    const fields = [['Häuser aus Holz', 'Wasser Kocher', 'Wasserkocher', 'Kocher']];
    expect((await match({ query: 'Haus', fields, analyzer })).overlap).to.deep.equal([1, 0, 0, 0]);
    expect((await match({ query: 'Wasser-Kocher', fields, analyzer })).overlap).to.deep.equal([0, 1, 1, 0.5]);
  });

  it('uses the language of the request, and its own for a language that it does not know', async () => {
    const step = new FakeStep(1);
    const query = step.requestText('Häusern');
    const input = step.text(['haus']);
    const languages = ['de-AT', 'klingon', absent];
    const found = [];
    for (const language of languages) {
      const languageFrom = step.requestText(language);
      const [group] = groupsOf([{ input, weight: 1 }], { ...DEFAULT_ANALYZER, stemming: 'language' });
      if (group === undefined) throw new Error('there is one');
      const component = new TextMatch({
        ...SETTINGS,
        query,
        groups: [{ ...group, languageFrom }],
      });
      found.push((await compute(component, step))['overlap']?.[0]);
    }
    expect(found).to.deep.equal([1, 0, 0]);
  });

  it('finds synonyms, also of several words, in the direction of their rule', async () => {
    const synonyms = 'tv, television, television set\nlaptop => notebook # not back';
    const titles = ['television', 'a television set', 'tv', 'notebook', 'laptop'];
    const of = async (query: string): Promise<unknown> =>
      (await match({ query, fields: [titles], synonyms })).overlap;
    expect(await of('TV')).to.deep.equal([1, 1, 1, 0, 0]);
    expect(await of('television sets')).to.deep.equal([1, 1, 1, 0, 0]);
    expect(await of('laptop')).to.deep.equal([0, 0, 0, 1, 1]);
    expect(await of('notebook')).to.deep.equal([0, 0, 0, 1, 0]);
  });

  it('uses statistics from a file', async () => {
    const titles = ['red lamp', 'blue lamp', 'green chair'];
    const statistics = await buildTextStatistics(titles);
    const whole = await match({ query: 'red lamps', fields: [titles] });
    const alone = await match({ query: 'red lamps', fields: [titles.slice(0, 1)], statistics });
    expect(alone.bm25[0]).to.equal(whole.bm25[0]);
  });

  it('gives an unknown word the weight of the rarest word', async () => {
    const statistics = await buildTextStatistics(['red lamp', 'red chair']);
    const { bm25 } = await match({ query: 'constructor', fields: [['constructor lamp']], statistics });
    expect(bm25[0]).to.be.closeTo(idf(2, 0), 1e-12);
  });
});

/** The textbook formula of BM25. */
function plainBm25(titles: readonly string[], query: readonly string[]): number[] {
  const analyzer = new Analyzer();
  const documents = titles.map((title) => analyzer.tokens(title));
  const mean = documents.reduce((sum, words) => sum + words.length, 0) / documents.length;
  return documents.map((words) =>
    query.reduce((score, term) => {
      const count = words.filter((word) => word === term).length;
      const containing = documents.filter((other) => other.includes(term)).length;
      if (count === 0) return score;
      const norm = 1 - B + (B * words.length) / mean;
      return score + (idf(documents.length, containing) * count * (K1 + 1)) / (count + K1 * norm);
    }, 0),
  );
}

/** Tries every stretch of the text. */
function plainProximity(title: readonly string[], terms: readonly string[]): number {
  const found = terms.filter((term) => title.includes(term));
  if (found.length < 2) return 0;
  let shortest = Infinity;
  for (let from = 0; from < title.length; from++) {
    for (let to = from + 1; to <= title.length; to++) {
      const stretch = title.slice(from, to);
      if (found.every((term) => stretch.includes(term))) shortest = Math.min(shortest, stretch.length);
    }
  }
  return ((found.length / shortest) * (found.length - 1)) / (terms.length - 1);
}
