/** `init --metarank` of the features that are functions and statistics here. */
import { expect } from 'chai';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
