import { expect } from 'chai';
import { EVENT_TYPES, type EventType } from '../../runtime/ground/core/event-types.js';
import { eventsOfRecord } from '../../runtime/state/ledger/events.js';
import { recordSchema } from '../../runtime/state/ledger/record-schema.js';
import type { DecodedRecord } from '../../runtime/state/ledger/record-decoder.js';
import { memoryLedger, type MemoryLedger } from '../support/memory-ledger.js';
import { pluginFiles, startProject, type TestProject } from '../support/project.js';

interface Event {
  readonly event_type: EventType;
  readonly event_data: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

const FILES = {
  ...pluginFiles(
    'tell',
    'effect',
    `return { run(input) {
      input.emit({ data: { note: 'asked' } });
      input.emit({ row: 2, data: { note: 'seen', entity_identifier: 'forged' } });
    } };`,
  ),
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, brand: ref(brand), tags: list(string), live: bool }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { age: int }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nttl: 7d\nfeatures: { ctr: { type: float, default: 0.5 }, note: string }\n',
  'schemas/features/liking.yaml': 'view: liking\nof: [user, product]\nfeatures: { clicks: int }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: { search_score: float }
  user: user
  device: optional(string)
features: [stats, "liking(user, product)"]
define: { cheap: product.price < 20 }
components:
  - use: filter
    with: { keep: product.live }
  - use: linear
    as: model
    with: { weights: { product.price: 1, "stats:ctr": 2, "liking:clicks": 1 } }
  - use: score
    with: { value: "model:score + product.search_score + user.age" }
  - use: boost
    when: request.device != "kiosk"
    with: { where: cheap, add: 1 }
  - use: tell
  - use: pin
    with: { positions: { 1: p4 } }
page: { size: 2 }
log: { candidates: all, features: all }
`,
};

function eventsOf(record: DecodedRecord): Event[] {
  return Array.from(eventsOfRecord(record), (text) => JSON.parse(text) as Event);
}

const ofType = (events: readonly Event[], type: EventType): Event[] =>
  events.filter(({ event_type: found }) => found === type);

describe('events of the ledger', () => {
  let project: TestProject;
  let log: MemoryLedger;
  let answered: Event[];
  let logged: Event[];

  before(async () => {
    log = memoryLedger();
    project = await startProject(FILES, {
      now: () => Date.parse('2026-03-01T12:00:00Z'),
      ledger: log.ledger,
    });
    const ids = ['p0', 'p1', 'p2', 'p3', 'p4'];
    await project.upload(
      'product',
      ...ids.map((product_id, i) => ({ product_id, brand: 'b', price: i * 10, tags: ['x'], live: i !== 1 })),
    );
    await project.upload('user', { user_id: 'u', age: 40 });
    await project.push('stats', { product_id: 'p0', ctr: 0.25, note: '' });
    await project.push('liking', { user_id: 'u', product_id: 'p2', clicks: 3 });
    const ran = await project.run({
      request_id: 'r1',
      include_events: true,
      user: { user_id: 'u' },
      candidates: ids.map((product_id, search_score) => ({ product_id, search_score })),
    });
    answered = JSON.parse(JSON.stringify(ran.events)) as Event[];
    const [record] = await log.records();
    logged = eventsOf(record ?? expect.fail('nothing was logged'));
  });
  after(() => project.close());

  for (const type of ['MODEL', 'BUSINESS_LOGIC', 'CANDIDATE', 'IMPRESSION'] as const) {
    it(`are the ${type} events of include_events`, () => {
      expect(ofType(answered, type)).not.to.have.length(0);
      const byText = (a: Event, b: Event): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
      const left = new Set(ofType(answered, 'CANDIDATE').map((one) => one.event_data['entity_identifier']));
      // A record also has the values of candidates that a filter removed later.
      const mine = ofType(logged, type).filter((one) => left.has(one.event_data['entity_identifier']));
      expect(mine.sort(byText)).to.deep.equal(ofType(answered, type).sort(byText));
    });
  }

  it('are the CUSTOM events that a plugin emits', () => {
    expect(ofType(logged, 'CUSTOM').map(({ event_data: data }) => data)).to.deep.equal([
      { entity_identifier: 'r1', entity_identifier_type: 'request', note: 'asked' },
      { entity_identifier: 'p2', entity_identifier_type: 'product', note: 'seen' },
    ]);
    expect(ofType(answered, 'CUSTOM')).to.deep.equal(ofType(logged, 'CUSTOM'));
  });

  it('have a FEATURE event of include_events for every value of an entity', () => {
    const texts = new Set(ofType(answered, 'FEATURE').map((one) => JSON.stringify(one)));
    const told = new Set(ofType(answered, 'FEATURE').map((one) => one.event_data['feature_name']));
    const names = new Set<unknown>();
    for (const one of ofType(logged, 'FEATURE')) {
      const { feature_name: name, feature_status: status } = one.event_data;
      names.add(name);
      // include_events leaves out ids, and the outputs and expressions of removed candidates.
      if (status === 'absent' || !told.has(name)) continue;
      expect(texts.has(JSON.stringify(one)), JSON.stringify(one)).to.equal(true);
    }
    expect([...names]).to.include.members([
      'product.price',
      'product.search_score',
      'user.age',
      'stats:ctr',
      'liking:clicks',
      'cheap',
    ]);
    const liking = ofType(logged, 'FEATURE').find(
      ({ event_data: data }) => data['feature_name'] === 'liking:clicks' && data['feature_value'] === 3,
    );
    expect(liking?.event_data).to.include({
      feature_identifier: 'u:p2',
      feature_identifier_type: 'user:product',
    });
    const defaulted = ofType(logged, 'FEATURE').find(
      ({ event_data: data }) => data['feature_name'] === 'stats:ctr' && data['feature_identifier'] === 'p2',
    );
    expect(defaulted?.event_data).to.include({
      feature_value: 0.5,
      feature_status: 'defaulted',
      feature_status_cause: 'missing_feature',
    });
  });

  it('have the members of the event table, in order', () => {
    for (const { event_type: type, event_data: data } of logged) {
      const members = Object.keys(data);
      if (type === 'CUSTOM') continue; // further members follow
      const known: readonly string[] = EVENT_TYPES[type].data;
      expect(members).to.deep.equal(known.filter((member) => members.includes(member)));
    }
  });

  it('are one CUSTOM event for feedback, and a FEATURE event for each feature of a pushed row', async () => {
    const other = memoryLedger();
    const { ledger } = other;
    const text = (name: string, is: 'field' | 'value' = 'field') =>
      ({ name, is, rows: 'record', type: 'text', nullable: true }) as const;
    const number = (name: string, type: 'time' | 'int32' | 'float64', is: 'field' | 'value' = 'field') =>
      ({ name, is, rows: 'record', type, nullable: true }) as const;
    const none = { candidate: 0, change: 0 };
    ledger.add(
      recordSchema(
        'feedback',
        [
          ...[
            text('request_id'),
            number('time', 'time'),
            text('event'),
            text('subject_type'),
            text('subject_id'),
          ],
          ...[number('quantity', 'int32'), number('revenue', 'float64', 'value'), text('user', 'value')],
        ],
        { event: 'order' },
      ),
      none,
      (w) => {
        w.text('r1');
        w.time(Date.parse('2026-03-01T12:00:05Z'));
        w.text('order');
        w.text('product');
        w.text('p4');
        w.int32(2);
        w.float64(19.5);
        w.text('u');
      },
    );
    ledger.add(
      recordSchema(
        'history',
        [
          { name: 'keys', is: 'field', rows: 'record', type: 'texts', nullable: false },
          number('time', 'time'),
          number('clicks', 'float64', 'value'),
        ],
        { view: 'liking', keys: ['user', 'product'], ttl: null },
      ),
      none,
      (w) => {
        w.texts({ values: ['u', 'p2'], offsets: [0, 2] });
        w.time(Date.parse('2026-03-01T12:00:06Z'));
        w.float64(undefined);
      },
    );
    const events = (await other.records()).flatMap(eventsOf);
    expect(events).to.deep.equal([
      {
        request_id: 'r1',
        run_id: null,
        api_source: 'feedback',
        event_timestamp: '2026-03-01T12:00:05.000Z',
        event_type: 'CUSTOM',
        event_data: {
          entity_identifier: 'p4',
          entity_identifier_type: 'product',
          event: 'order',
          quantity: 2,
          revenue: 19.5,
          user: 'u',
        },
      },
      {
        request_id: null,
        run_id: null,
        api_source: 'history',
        event_timestamp: '2026-03-01T12:00:06.000Z',
        event_type: 'FEATURE',
        event_data: {
          feature_identifier: 'u:p2',
          feature_identifier_type: 'user:product',
          feature_name: 'liking:clicks',
          feature_value: null,
          feature_status: 'absent',
        },
      },
    ]);
  });
});
