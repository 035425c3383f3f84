import { expect } from 'chai';
import fc from 'fast-check';
import { plugin } from '../../../../plugins/text_match/index.js';
import type { FeatureComponent } from '../../../../runtime/ground/api/component.js';
import type { JsonObject } from '../../../../runtime/ground/api/types.js';
import { createStep } from '../../../../runtime/cli/testing/create-step.js';
import { absent, compute, FakeStep, type Cell } from '../../../support/step-input.js';

type Found = Readonly<Record<string, readonly Cell<number>[]>>;

interface Given {
  readonly query: string;
  readonly title: readonly Cell<string>[];
  readonly brand?: readonly Cell<string>[];
  readonly with: JsonObject;
}

const EXACT = { weight: 1, analyzer: { stemming: 'none' } } as const;

/** Titles and brands of the candidates. */
async function match({ query, title, brand = title.map(() => absent), with: given }: Given): Promise<Found> {
  const step = new FakeStep(title.length);
  const columns = { query: step.requestText(query), title: step.text(title), brand: step.text(brand) };
  const component = await createStep(plugin, { with: { query: 'query', ...given }, columns });
  return (await compute(component as FeatureComponent, step)) as Found;
}

/** Why the options are refused. */
async function refusal(given: JsonObject): Promise<string> {
  try {
    await match({ query: 'lamp', title: [], with: given });
  } catch (error) {
    return String(error);
  }
  return '';
}

const SUM = (a: Found, b: Found): number[] =>
  (a['bm25'] ?? []).map((one, row) => +one + +(b['bm25']?.[row] ?? 0));

describe('text_match with an analyzer for each field', () => {
  const title = ['red lamps', 'a lamp of Lumens', 'chairs'];
  const brand = ['Lumens', 'Lumen', 'Lamps'];

  it('finds stems in one field and exact words in another', async () => {
    const fields = { title: 1, brand: EXACT };
    const { overlap, phrase, first } = await match({ query: 'lumens lamp', title, brand, with: { fields } });
    // The third brand is Lamps, which is not the word lamp.
    expect(overlap).to.deep.equal([1, 1, 0]);
    expect(phrase).to.deep.equal([0, 0, 0]);
    expect(first).to.deep.equal([1, 2, absent]);
    const same = await match({
      query: 'lumens lamp',
      title,
      brand,
      with: { fields: { title: 1, brand: 1 } },
    });
    expect(same['overlap']).to.deep.equal([1, 1, 0.5]);
  });

  it('adds the scores of the analyzers', async () => {
    const given = { query: 'lumens lamp', title, brand };
    const both = await match({ ...given, with: { fields: { title: 2, brand: EXACT } } });
    const titles = await match({ ...given, with: { fields: { title: 2 } } });
    const brands = await match({ ...given, with: { fields: { brand: EXACT } } });
    SUM(titles, brands).forEach((sum, row) => expect(both['bm25']?.[row]).to.be.closeTo(sum, 1e-12));
  });

  it('treats an analyzer that is equal to that of the step as that of the step', async () => {
    const word = fc.constantFrom('red', 'lamps', 'lamp', 'lumen');
    const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: 4 }), text, async (texts, query) => {
        const given = { query, title: texts.map(([one]) => one), brand: texts.map(([, other]) => other) };
        const plain = await match({ ...given, with: { fields: { title: 2, brand: 1 } } });
        const equal = { weight: 1, analyzer: { stemming: 'plural' } };
        expect(await match({ ...given, with: { fields: { title: 2, brand: equal } } })).to.deep.equal(plain);
      }),
    );
  });

  it('counts the largest share where analyzers see other words in the query', async () => {
    const analyzer = { language: 'japanese' };
    const given = { query: '赤いランプ', title: ['赤いランプ', '赤い椅子'] };
    const { overlap } = await match({
      ...given,
      brand: ['赤', '赤'],
      with: { fields: { title: { weight: 1, analyzer }, brand: 1 } },
    });
    expect(overlap?.[0]).to.equal(1);
    expect(overlap?.[1]).to.be.within(0.5, 0.99);
  });

  it('takes options that a field leaves out from the step, and its language from nowhere else', async () => {
    const given = { query: 'der Häuser', title: ['Haus der Kunst'], brand: ['Haus der Kunst'] };
    const options = { language: 'german', stop_words: 'drop' };
    const inherits = { weight: 1, analyzer: { accents: 'keep' } };
    const { overlap } = await match({ ...given, with: { ...options, fields: { brand: inherits } } });
    expect(overlap).to.deep.equal([1]);
    const keeps = { weight: 1, analyzer: { stop_words: 'keep' } };
    const kept = await match({ ...given, with: { ...options, fields: { title: 1, brand: keeps } } });
    expect(kept['overlap']).to.deep.equal([1]);
  });

  it('follows the language of the request in the fields that name none', async () => {
    const step = new FakeStep(1);
    const columns = {
      query: step.requestText('Häuser chairs'),
      title: step.text(['Haus']),
      brand: step.text(['chair']),
      language: step.requestText('de'),
    };
    const own = { weight: 1, analyzer: { language: 'english' } };
    const component = await createStep(plugin, {
      with: { query: 'query', language_from: 'language', fields: { title: 1, brand: own } },
      columns,
    });
    const { overlap } = (await compute(component as FeatureComponent, step)) as Found;
    expect(overlap).to.deep.equal([1]);
    expect(component.notes?.slice(0, 2)).to.deep.equal([
      'words of text: stemming: language',
      'words of text: language: english, stemming: language',
    ]);
  });

  it('is absent if no analyzer leaves a word of the query, and 0 if one does and finds nothing', async () => {
    const german = { weight: 1, analyzer: { language: 'german', stop_words: 'drop' } };
    const given = { query: 'der', title: ['der Stuhl'], brand: ['Lumen'] };
    const none = await match({ ...given, with: { fields: { title: german } } });
    expect(none['bm25']).to.deep.equal([absent]);
    const one = await match({ ...given, with: { fields: { title: german, brand: 1 } } });
    expect([one['bm25'], one['overlap']]).to.deep.equal([[0], [0]]);
  });

  it('has the status of the first field for a candidate without texts', async () => {
    const given = { query: 'lamp', title: [absent, 'lamp'], brand: [absent, absent] };
    const { bm25, overlap } = await match({ ...given, with: { fields: { title: 1, brand: EXACT } } });
    expect(bm25?.[0]).to.deep.equal(absent);
    expect(overlap).to.deep.equal([absent, 1]);
  });

  it('scans long texts of several analyzers in slices, and mixes up no requests', async () => {
    const words = ['red', 'blue', 'lamp', 'stand'];
    const step = new FakeStep(40);
    const textOf = (seed: number): string[] =>
      Array.from({ length: 40 }, (_, row) =>
        Array.from({ length: 4000 }, (_word, i) => words[(seed + i * (row + 1)) % (seed + 3)] ?? 'x').join(
          ' ',
        ),
      );
    const [titles, brands] = [textOf(1), textOf(2)];
    const columns = {
      query: step.requestText('red lamp'),
      title: step.text(titles),
      brand: step.text(brands),
    };
    const component = (await createStep(plugin, {
      with: { query: 'query', fields: { title: 1, brand: EXACT } },
      columns,
    })) as FeatureComponent;
    const [one, two] = await Promise.all([compute(component, step), compute(component, step)]);
    expect(one).to.deep.equal(two);
    const single = await match({ query: 'red lamp', title: titles, with: { fields: { title: 1 } } });
    const other = await match({
      query: 'red lamp',
      title: titles,
      brand: brands,
      with: { fields: { brand: EXACT } },
    });
    SUM(single, other).forEach((sum, row) => expect((one as Found)['bm25']?.[row]).to.be.closeTo(sum, 1e-9));
  });

  it('refuses an analyzer that cannot work', async () => {
    const of = (analyzer: JsonObject, more: JsonObject = {}): Promise<string> =>
      refusal({ ...more, fields: { title: { weight: 1, analyzer } } });
    expect(await of({ language: 'germn' }))
      .to.include('did you mean')
      .and.include('german');
    expect(await of({ stemmin: 'none' })).to.include('stemming');
    expect(await of({ stemming: 'language' })).to.include('needs a language');
    expect(await of({ stop_words: 'drop' })).to.include('needs a language');
    expect(await of({ ngrams: 1 })).to.include('one letter');
    expect(await of({})).to.not.equal('');
    const dropping = { language: 'german', stop_words: 'drop' };
    expect(await of({ language: 'korean' }, dropping)).to.include('no stop words of korean');
  });

  it('shares the file of its field with other steps, unless it has another analyzer', async () => {
    const { buildTextStatistics, writeTextStatistics } =
      await import('../../../../plugins/text_match/index.js');
    const step = new FakeStep(0);
    const columns = {
      query: step.requestText('lamp'),
      'product.title': { ...step.text([]), text: 'product.title' },
      'product.brand': { ...step.text([]), text: 'product.brand' },
    };
    const counted = writeTextStatistics(await buildTextStatistics(['red lamp']));
    const noteOf = async (
      as: string,
      options: JsonObject,
      files: Record<string, string> = { 'statistics/product.title.json': counted },
    ): Promise<string | undefined> => {
      const given = { as, with: { query: 'query', ...options }, columns, files };
      return (await createStep(plugin, given)).notes?.at(-1);
    };
    const shared = 'statistics: statistics/product.title.json, 1 texts of the catalogue';
    const none = 'statistics: the candidates of each request';
    expect(await noteOf('one', { field: 'product.title' })).to.equal(shared);
    expect(await noteOf('two', { fields: { 'product.title': 3 } })).to.equal(shared);
    expect(await noteOf('exact', { field: 'product.title', stemming: 'none' })).to.equal(none);
    expect(await noteOf('both', { fields: { 'product.title': 3, 'product.brand': 1 } })).to.equal(none);
    expect(await noteOf('brand', { field: 'product.brand' })).to.equal(none);
    const own = { 'statistics/product.title.json': counted, 'statistics/one.json': counted };
    expect(await noteOf('one', { field: 'product.title' }, own)).to.contain('statistics/one.json');
    const broken = { 'statistics/product.title.json': 'nothing' };
    expect(await noteOf('one', { field: 'product.title' }, broken).catch(String)).to.contain('is not JSON');
  });

  it('reads a statistics file of its analyzers, and refuses one of others', async () => {
    const { buildTextStatistics, DEFAULT_ANALYZER, writeTextStatistics } =
      await import('../../../../plugins/text_match/index.js');
    const exact = { ...DEFAULT_ANALYZER, stemming: 'none' } as const;
    const documents = title.map((one, row) => [one, brand[row]]);
    const file = async (...analyzers: (typeof DEFAULT_ANALYZER)[]): Promise<Record<string, string>> => ({
      'statistics/text.json': writeTextStatistics(await buildTextStatistics(documents, analyzers)),
    });
    const create = async (files: Record<string, string>, rows = title): Promise<Found> => {
      const step = new FakeStep(rows.length);
      const columns = {
        query: step.requestText('lumens lamp'),
        title: step.text(rows),
        brand: step.text(brand.slice(0, rows.length)),
      };
      const options = { query: 'query', fields: { title: 1, brand: EXACT } };
      const component = await createStep(plugin, { as: 'text', with: options, columns, files });
      return (await compute(component as FeatureComponent, step)) as Found;
    };
    const [whole, alone] = [
      await create({}),
      await create(await file(DEFAULT_ANALYZER, exact), title.slice(0, 1)),
    ];
    expect(alone['bm25']?.[0]).to.be.closeTo(Number(whole['bm25']?.[0]), 1e-12);
    const error = await create(await file(exact, DEFAULT_ANALYZER)).then(() => '', String);
    expect(error).to.include('was made with stemming: none and stemming: plural');
    expect(await create(await file(exact, exact)).then(() => '', String)).to.include(
      'was made with stemming: none,',
    );
  });
});
