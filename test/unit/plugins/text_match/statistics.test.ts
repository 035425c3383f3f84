import { expect } from 'chai';
import fc from 'fast-check';
import { plugin } from '../../../../plugins/text_match/index.js';
import {
  buildTextStatistics,
  DEFAULT_ANALYZER,
  readTextStatistics,
  statisticsText,
  writeTextStatistics,
  type TermStatistics,
  type TextStatistics,
} from '../../../../plugins/text_match/statistics.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import { createStep } from '../../../../runtime/cli/testing/create-step.js';
import type { AnalyzerSettings } from '../../../../runtime/ground/text/index.js';
import { createComponent } from '../../../support/create-component.js';
import { FakeStep, projectFile } from '../../../support/step-input.js';

const DEFAULTS = { stop_words: 'keep', accents: 'fold', ngrams: 0, units: false };

/** `create` is asynchronous: the error of a wrong option. */
async function errorOf(options: unknown): Promise<OptionError | undefined> {
  try {
    await createComponent(plugin, options);
    return undefined;
  } catch (error) {
    return error as OptionError;
  }
}

function only({ analyzers: [first, ...more] }: TextStatistics): TermStatistics {
  if (first === undefined || more.length > 0) throw new Error('the statistics have one analyzer');
  return first;
}

describe('text statistics', () => {
  it('count each text once for each word, and compute mean lengths', async () => {
    const statistics = only(await buildTextStatistics(['Red lamps', 'lamp lamp lamp', '']));
    expect(statistics.documents).to.equal(3);
    expect(statistics.meanLengths).to.deep.equal([5 / 3]);
    expect([...statistics.frequencies]).to.have.deep.members([
      ['red', 1],
      ['lamp', 2],
    ]);
  });

  it('read documents with several fields, some of which are missing', async () => {
    const documents = [
      ['lamp', 'a red lamp'],
      [undefined, 'chair'],
      [undefined, undefined],
    ];
    const statistics = only(await buildTextStatistics(documents));
    expect(statistics.documents).to.equal(2);
    expect(statistics.meanLengths).to.deep.equal([1, 2]);
    expect(statistics.frequencies.get('lamp')).to.equal(1);
  });

  it('are the same after writing and reading', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' })), async (texts) => {
        const statistics = await buildTextStatistics([...texts, 'constructor toString']);
        const file = projectFile('s.json', writeTextStatistics(statistics));
        expect(readTextStatistics(file, [])).to.deep.equal(statistics);
      }),
    );
  });

  it('say which texts were counted', async () => {
    const counted = await buildTextStatistics(['lamp', 'chair']);
    expect(statisticsText(counted, 's.json')).to.equal('s.json, 2 texts of the catalogue');
    const sample = { rows: 2, of: 1234, at: '2026-11-22T12:00:00.000Z' };
    const file = projectFile('s.json', writeTextStatistics({ ...counted, sample }));
    const read = readTextStatistics(file, []);
    expect(read).to.deep.equal({ ...counted, sample });
    expect(statisticsText(read, file.path)).to.equal(
      's.json, 2 texts of an index sample of 2 of 1,234 entities at 2026-11-22T12:00:00.000Z',
    );
  });

  it('refuse a sample of no time', async () => {
    const counted = await buildTextStatistics(['lamp']);
    const wrong = { ...counted, sample: { rows: 1, of: 1, at: 'now' } };
    const file = projectFile('s.json', writeTextStatistics(wrong));
    expect(() => readTextStatistics(file, [])).to.throw(OptionError, 'has a sample without rows, of and at');
  });

  const wrongFiles = ['', '[]', '{}', '{"format":"millrace-text-statistics/1"}', '{"format":"other"}'];
  for (const content of wrongFiles) {
    it(`refuse a file that reads ${content || 'nothing'}`, () => {
      const read = (): unknown => readTextStatistics(projectFile('s.json', content), ['statistics', 'file']);
      expect(read)
        .to.throw(OptionError, '`s.json`')
        .with.property('help')
        .that.includes('millrace text-stats');
    });
  }

  it('name the versions of what made their terms, and no others', async () => {
    const versions = async (settings: Partial<AnalyzerSettings>): Promise<unknown> => {
      const analyzer = { ...DEFAULT_ANALYZER, ...settings };
      const written = writeTextStatistics(await buildTextStatistics(['lamp'], analyzer));
      return (JSON.parse(written) as { made_with?: unknown }).made_with;
    };
    const { icu, unicode } = process.versions;
    expect(await versions({})).to.equal(undefined);
    expect(await versions({ language: 'german', stemming: 'none' })).to.equal(undefined);
    expect(await versions({ language: 'german', stemming: 'language' })).to.deep.equal({
      stemmer: 'Snowball 3',
    });
    expect(await versions({ language: 'italian', stemming: 'language' }))
      .to.have.property('stemmer')
      .that.matches(/^@orama\/stemmers \d+\.\d+\.\d+$/);
    expect(await versions({ language: 'thai', stemming: 'language' })).to.deep.equal({ icu, unicode });
  });

  for (const [made, warned] of [
    ['"language":"thai","stemming":"none","made_with":{"icu":"60.1"}', ['60.1', process.versions['icu']]],
    [
      '"language":"german","stemming":"language","made_with":{"stemmer":"Snowball 2"}',
      ['stems of Snowball 2', 'stems of Snowball 3'],
    ],
    ['"language":"german","stemming":"none","made_with":{"icu":"60.1"}', []],
    ['"language":"thai","stemming":"none"', []],
  ] as const)
    it(`of ${made} ${warned.length > 0 ? 'warn' : 'do not warn'} when they are loaded`, async () => {
      const head = `"format":"millrace-text-statistics/1",${made}`;
      const content = `{${head},"documents":1,"mean_lengths":[1],"frequencies":{"tv":1}}`;
      const step = new FakeStep(0);
      const { language, stemming } = JSON.parse(`{${head}}`) as Record<string, string>;
      const component = await createStep(plugin, {
        as: 'text',
        with: { query: 'query', field: 'title', language: language ?? '', stemming: stemming ?? '' },
        columns: { query: step.requestText('tv'), title: step.text([]) },
        files: { 'statistics/text.json': content },
      });
      const told: string[] = [];
      await component.warm?.({ warn: (message, help) => told.push(`${message}; ${help ?? ''}`) });
      expect(told).to.have.length(warned.length > 0 ? 1 : 0);
      for (const part of warned) expect(told[0]).to.include(part);
      if (warned.length > 0) expect(told[0]).to.include('`millrace text-stats test:text --from FILE`');
    });

  it('must fit the step: its stemming and its number of fields', async () => {
    const file = projectFile('s.json', writeTextStatistics(await buildTextStatistics(['lamp'])));
    const step = new FakeStep(0);
    const query = step.requestText('lamp');
    const field = step.text([]);
    const options = { query, k1: 1.2, b: 0.75, ...DEFAULTS, statistics: { file } };
    const fields = [field, field].map((input) => ({ input, value: 1 }));
    const wrong: readonly [unknown, string][] = [
      [
        { ...options, field, stemming: 'none' },
        'made with stemming: plural, but this step has stemming: none',
      ],
      [{ ...options, field, language: 'german' }, 'this step has language: german, stemming: language'],
      [{ ...options, field, language_from: query }, 'has many'],
      [{ ...options, fields }, 'has statistics of 1 fields, but this step searches 2'],
      [{ ...options, field, fields }, 'both given'],
      [options, '`field` is missing'],
      [{ ...options, field, stop_words: 'drop' }, 'needs a language'],
      [{ ...options, field, stemming: 'language' }, 'needs a language'],
      [{ ...options, field, stop_words: 'drop', language: 'korean' }, 'no stop words of korean'],
      [{ ...options, field, ngrams: 1 }, 'one letter'],
    ];
    for (const [given, message] of wrong) {
      const error = await errorOf(given);
      expect(error, message).to.be.instanceOf(OptionError);
      expect(error?.message).to.include(message);
    }
    expect(await errorOf({ ...options, field })).to.equal(undefined);
  });
});
