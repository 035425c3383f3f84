/** `init --metarank` of the features that are functions, statistics and counters here. */
import { expect } from 'chai';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { millrace } from '../../../support/command-line.js';
import { writeProject } from '../../../support/project.js';

const CONFIG = `models:
  shop:
    type: lambdamart
    backend: { type: lightgbm }
    weights: { click: 1 }
    features: [hour, device, bot, from, place, price, colour, scores, three]
features:
  - { name: hour, type: local_time, source: ranking.localts, parse: time_of_day }
  - { name: device, type: ua, field: platform, source: ranking.agent }
  - { name: bot, type: ua, field: bot, source: ranking.agent }
  - { name: from, type: referer, source: ranking.ref, scope: session }
  - { name: place, type: position, position: 5 }
  - { name: price, type: diversity, source: item.price }
  - { name: colour, type: diversity, source: item.colour }
  - { name: scores, type: vector, field: item.scores, scope: item }
  - { name: three, type: vector, field: item.scores, scope: item, reduce: [vector3, euclidean_distance] }
state: { type: memory }
`;
const EVENTS = `{"event":"item","id":"e1","item":"p1","timestamp":"1769850000000","fields":[{"name":"price","value":9.5},{"name":"colour","value":"red"},{"name":"scores","value":[1,2.5]}]}
{"event":"ranking","id":"r1","timestamp":"1769853600000","user":"u1","session":"s1","fields":[{"name":"agent","value":"x"},{"name":"ref","value":"y"}],"items":[{"id":"p1"}]}
`;

describe('millrace init --metarank with features of the context', () => {
  let root = '';
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('makes a project without errors that has a column for each', async () => {
    root = await writeProject({});
    await writeFile(join(root, 'config.yml'), CONFIG);
    await writeFile(join(root, 'events.jsonl'), EVENTS);
    const shop = join(root, 'shop');
    const made = await millrace([
      ...['init', shop, '--metarank', join(root, 'config.yml')],
      ...['--events', join(root, 'events.jsonl')],
    ]);
    expect(made.code, made.stderr).to.equal(0);
    const pipeline = await readFile(join(shop, 'pipelines/shop.yaml'), 'utf8');
    for (const line of [
      'device_mobile: coalesce(if(platform(request.agent) == "mobile", 1, 0), 0)',
      'bot: coalesce(if(is_bot(request.agent), 1, 0), 0)',
      'from_search: coalesce(if(referrer_medium(request.ref) == "search", 1, 0), 0)',
      'place: position(6)',
      'price: product.price - price:median',
      'colour: colour:share',
      'scores_avg: mean(product.scores)',
      'three_2: product.scores[2]',
      'three_euclidean_distance: norm(product.scores)',
    ])
      expect(pipeline).to.contain(`        ${line}\n`);
    expect(await readFile(join(shop, 'schemas/entities/product.yaml'), 'utf8')).to.contain(
      'scores: list(float)',
    );
    const checked = await millrace(['validate', '--project', shop]);
    expect(checked.code, checked.stderr).to.equal(0);
    expect(checked.stderr).to.not.contain('error');
  });

  it('writes the expressions and the counters that docs/features.md names', async () => {
    root = await writeProject({});
    const config = `models:
  shop: { type: lambdamart, features: [words, price, log, terms, grams, bm25, liked, sold, seen, ctr, asked, visits] }
features:
  - { name: words, type: word_count, source: item.title, scope: item }
  - { name: price, type: relative_number, field: item.price, method: { type: minmax, min: -5, max: 100 } }
  - { name: log, type: relative_number, field: item.price, method: { type: log_minmax, min: 1, max: 100 } }
  - { name: terms, type: field_match, rankingField: ranking.query, itemField: item.title, method: { type: term, language: de } }
  - { name: grams, type: field_match, rankingField: ranking.query, itemField: item.title, method: { type: ngram, n: 4 } }
  - { name: bm25, type: field_match, rankingField: ranking.query, itemField: item.title, method: { type: bm25, language: english } }
  - { name: liked, type: interacted_with, interaction: click, field: item.title, scope: user, ttl: 60d }
  - { name: sold, type: interaction_count, interaction: purchase, scope: item }
  - { name: seen, type: window_count, interaction: impression, scope: user, bucket: 90m, periods: [2, 16] }
  - { name: ctr, type: rate, top: click, bottom: impression, scope: item, bucket: 24 hours, periods: [7], normalize: { weight: 5 } }
  - { name: asked, type: rate, top: click, bottom: impression, scope: ranking.query, bucket: 1d, periods: [30] }
  - { name: visits, type: window_count, interaction: click, scope: session, bucket: 1d, periods: [1] }
`;
    await writeFile(join(root, 'config.yml'), config);
    const shop = join(root, 'shop');
    const made = await millrace(['init', shop, '--metarank', join(root, 'config.yml')]);
    expect(made.code, made.stderr).to.equal(0);
    const pipeline = await readFile(join(shop, 'pipelines/shop.yaml'), 'utf8');
    for (const line of [
      'words: words(product.title)',
      'price: (product.price - -5) / (100 - -5)',
      'terms: term_overlap(query.query, product.title, "german")',
      'grams: ngram_overlap(query.query, product.title, 4)',
      'sold: item_counters:sold',
      'seen_16: user_counters:seen_16',
      'asked_30: query_counters:asked_30',
      'language: english',
      'window: 24h',
    ])
      expect(pipeline).to.match(new RegExp(`^ +${line.replaceAll(/[-()]/g, '\\$&')}$`, 'm'));
    const counters = await Promise.all(
      ['item', 'user', 'query'].map((name) =>
        readFile(join(shop, `schemas/counters/${name}_counters.yaml`), 'utf8'),
      ),
    );
    expect(counters.map((text): unknown => parse(text))).to.deep.equal([
      {
        counter: 'item_counters',
        of: ['product'],
        features: {
          sold: { event: 'order', window: '366d' },
          ctr_7: { event: 'click', over: 'impression', prior: { weight: 5 }, window: '7d' },
        },
      },
      {
        counter: 'user_counters',
        of: ['user'],
        features: {
          seen_2: { event: 'impression', window: '3h' },
          seen_16: { event: 'impression', window: '1d' },
        },
      },
      {
        counter: 'query_counters',
        of: ['query', 'product'],
        features: { asked_30: { event: 'click', over: 'impression', window: '30d' } },
      },
    ]);
    const text = await readFile(join(shop, 'MIGRATION.md'), 'utf8');
    for (const reason of ['the method log_minmax has no equal', 'counters by session need an entity type'])
      expect(text).to.contain(reason);
    const checked = await millrace(['validate', '--project', shop]);
    expect(checked.code, checked.stderr).to.equal(0);
  });

  it('says which reducer and which part it does not know', async () => {
    root = await writeProject({});
    const config = CONFIG.replace('vector3', 'random')
      .replace('time_of_day', 'fortnight')
      .replace('field: bot', 'field: engine');
    await writeFile(join(root, 'config.yml'), config);
    await millrace(['init', join(root, 'shop'), '--metarank', join(root, 'config.yml')]);
    const text = await readFile(join(root, 'shop/MIGRATION.md'), 'utf8');
    for (const reason of ['the reducer random', 'no function for fortnight', 'no function for engine'])
      expect(text).to.contain(reason);
  });
});
