import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../runtime/ground/core/random.js';
import type { DecodedRecord } from '../../runtime/state/ledger/record-decoder.js';
import { readRecords } from '../../runtime/state/ledger/record-reader.js';
import { cellsOf } from '../support/memory-ledger.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';

const FILES = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes: { price: float, brand: ref(brand), tags: list(string), cost: { type: float, private: true } }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { quality: float }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nfeatures: { ctr: float, sales: { type: int, default: 0 } }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { text: float }, query: query, device: optional(string) }
features: [stats]
define:
  cheap: product.price < 30
  margin: product.price - product.cost
  quality: coalesce(product.brand.quality, 0)
components:
  - use: filter
    with: { keep: product.price < 90 }
  - use: linear
    as: ltr
    with: { weights: { product.text: 1, stats:ctr: { weight: 3, missing: 0 }, quality: 0.5 } }
  - use: score
    with: { value: "ltr:score + 0.001 * coalesce(margin, 0)" }
  - use: boost
    with: { where: cheap, multiply: 2 }
  - use: boost
    top: 8
    with: { where: "'new' in product.tags", add: 0.5 }
  - use: score
    when: request.device == "kiosk"
    with: { value: score + 1 }
  - use: bury
    with: { where: "'old' in product.tags" }
  - use: pin
    when: request.device != "phone"
    with: { positions: { 2: p3, 4: p5 } }
page: { size: 5 }
log: { candidates: all, features: all }
`,
};

interface Event {
  readonly event_type: string;
  readonly event_data: Readonly<Record<string, unknown>>;
}

const random = new Random(5);
const tags = (): string[] => random.pick([[], ['new'], ['old'], ['new', 'old']]);
const PRODUCTS = Array.from({ length: 40 }, (_, n) => ({
  product_id: `p${n}`,
  price: Math.floor(random.next() * 100),
  cost: 5,
  tags: tags(),
  brand: `b${n % 5}`,
}));

const bodyOf = (n: number): Record<string, unknown> => {
  const ids = new Set(Array.from({ length: random.between(1, 30) }, () => random.between(0, 45)));
  return {
    request_id: `r${n}`,
    query: { query: 'shoe' },
    ...random.pick<object>([{ device: 'kiosk' }, { device: 'phone' }, {}]),
    candidates: Array.from(ids, (id) => ({
      product_id: `p${id}`,
      ...(random.chance(0.8) ? { text: random.next() } : {}),
      ...(random.chance(0.2) ? { price: random.next() * 99 } : {}),
    })),
    user_page: random.between(0, 2),
    user_page_size: 5,
  };
};

describe('the ledger of a served pipeline', () => {
  let folder: string;
  let served: ServedProject;
  const answers = new Map<
    string,
    { candidates: object[]; events: Event[]; explained: Record<string, unknown> }
  >();
  const records: DecodedRecord[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-ledger-'));
    served = await serveFiles(FILES, undefined, { MILLRACE_LEDGER_DIR: folder });
    const send = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const { status, json } = await served.post(path, body);
      expect(status, JSON.stringify(json)).to.equal(200);
      return json;
    };
    await send('/api/v1/entities/upload', { entity_type: 'product', entities: PRODUCTS });
    await send('/api/v1/entities/upload', {
      entity_type: 'brand',
      entities: [{ brand_id: 'b1', quality: 2 }],
    });
    const rows = PRODUCTS.slice(0, 30).map(({ product_id }, n) => ({ product_id, ctr: n / 100, sales: n }));
    await send('/api/v1/features/push', { view: 'stats', rows });
    for (let n = 0; n < 40; n++) {
      const body = bodyOf(n);
      const explained = await send('/api/v1/search/explain', body);
      const answer = await send('/api/v1/search', { ...body, include_events: true });
      answers.set(`r${n}`, {
        candidates: answer['ranked_candidates'] as object[],
        events: answer['events'] as Event[],
        explained,
      });
    }
    await served.close();
    for await (const record of readRecords(folder)) records.push(record);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const each = (
    check: (record: DecodedRecord, answer: NonNullable<ReturnType<typeof answers.get>>) => void,
  ): void => {
    for (const record of records) {
      const answer = answers.get(String(cellsOf(record, 'request_id')[0]));
      if (answer === undefined) throw new Error('there is no such request');
      check(record, answer);
    }
  };
  const eventsOf = (events: readonly Event[], type: string): Event['event_data'][] =>
    events.filter(({ event_type }) => event_type === type).map(({ event_data }) => event_data);

  it('has one record for each request, and none for an explanation', () => {
    expect(records.map((record) => cellsOf(record, 'request_id')[0])).to.deep.equal([...answers.keys()]);
    expect(records.map(({ sequence }) => sequence)).to.deep.equal(records.map((_, n) => n + 1));
  });

  it('has the page of the answer', () => {
    each((record, { candidates }) => {
      const rows = cellsOf(record, 'on_page').flatMap((on, row) => (on === true ? [row] : []));
      const places = cellsOf(record, 'place') as number[];
      rows.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
      const page = rows.map((row) => ({
        candidate_id: cellsOf(record, 'candidate_id')[row],
        ranked_score: cellsOf(record, 'score')[row],
      }));
      expect(page).to.deep.equal(candidates);
    });
  });

  it('has the order and the scores of the CANDIDATE events', () => {
    each((record, { events }) => {
      const ids = cellsOf(record, 'candidate_id') as string[];
      const logged = ids.flatMap((id, row) => {
        const place = Number(cellsOf(record, 'place')[row]);
        return place === 0 ? [] : [[id, place - 1, cellsOf(record, 'score')[row]]];
      });
      const told = eventsOf(events, 'CANDIDATE').map((data) => [
        data['entity_identifier'],
        data['candidate_order'],
        data['candidate_score'],
      ]);
      expect(logged).to.have.deep.members(told);
    });
  });

  it('has the BUSINESS_LOGIC events of the rules after the score', () => {
    each((record, { events }) => {
      const ids = cellsOf(record, 'candidate_id') as string[];
      const logged = cellsOf(record, 'step').flatMap((step, at) => {
        const after = cellsOf(record, 'after')[at];
        if (after === undefined) return [];
        return [[step, ids[Number(cellsOf(record, 'row')[at])], cellsOf(record, 'before')[at], after]];
      });
      const told = eventsOf(events, 'BUSINESS_LOGIC')
        .filter((data) => Number(data['business_logic_pipeline_order']) > 3)
        .map((data) => [
          data['business_logic_pipeline_order'],
          data['entity_identifier'],
          data['old_score'],
          data['new_score'],
        ]);
      expect(logged).to.deep.equal(told);
    });
  });

  it('has the moves of the explanation', () => {
    each((record, { explained }) => {
      const ids = cellsOf(record, 'candidate_id') as string[];
      for (const one of explained['page'] as Record<string, unknown>[]) {
        const changes = (one['changes'] ?? []) as Record<string, unknown>[];
        const told = changes.flatMap(({ step, pinned_to, put_below }) =>
          pinned_to !== undefined || put_below !== undefined ? [[step, pinned_to ?? -1]] : [],
        );
        const logged = cellsOf(record, 'position').flatMap((position, at) =>
          position !== 0 && ids[Number(cellsOf(record, 'row')[at])] === one['candidate_id']
            ? [[cellsOf(record, 'step')[at], position]]
            : [],
        );
        expect(logged).to.deep.equal(told);
      }
    });
  });

  it('has the values and statuses of the FEATURE and MODEL events', () => {
    let compared = 0;
    each((record, { events }) => {
      const ids = cellsOf(record, 'candidate_id') as string[];
      const told = [
        ...eventsOf(events, 'FEATURE').map((data) => [
          data['feature_name'],
          data['feature_identifier'],
          data['feature_value'],
        ]),
        ...eventsOf(events, 'MODEL').map((data) => [
          'ltr:score',
          data['entity_identifier'],
          data['model_output'],
        ]),
      ];
      for (const [name, id, value] of told) {
        const row = ids.indexOf(String(id));
        if (row < 0 || name === 'product.cost') continue;
        expect(cellsOf(record, String(name))[row] ?? null, String(name)).to.deep.equal(value);
        compared++;
      }
      expect(record.value('product.cost')).to.equal(undefined);
    });
    expect(compared).to.be.above(1000);
  });
});
