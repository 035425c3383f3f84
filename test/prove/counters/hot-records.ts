import { loadSchemas } from '../../../runtime/project/config/project/load-project.js';
import type { CounterDefinition } from '../../../runtime/project/config/model/counters.js';
import { addEvents, type KeyedTouch, type Touch } from '../../../runtime/state/counters/apply-touches.js';
import { additionsOf, kindsOf } from '../../../runtime/state/counters/counted-kinds.js';
import { CounterDecoder } from '../../../runtime/state/counters/counter-decoder.js';
import { CounterWriter } from '../../../runtime/state/counters/counter-writer.js';
import { looseColumn } from '../../../runtime/language/frame/frame.js';
import { encodeCounters, NO_COUNTERS } from '../../../runtime/state/store/codec/counter-record.js';
import { counterKey } from '../../../runtime/state/store/keys.js';
import { MemoryStore } from '../../support/memory-store.js';
import { withFiles } from '../../support/temporary-files.js';

export interface HotRecord {
  readonly key: string;
  readonly events: number;
  readonly bytes: number;
  readonly ns: number;
}

const HOUR = 3_600_000;
const SPANS = [HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR];

const FILES = {
  'millrace.yaml': 'project: hot\nevents: { impression: {}, click: {}, order: { revenue: float } }\n',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'schemas/entities/user.yaml': 'entity: user\n',
  'schemas/counters/product_live.yaml': `counter: product_live
of: [product]
features:
  clicks_1h: { event: click, window: 1h }
  clicks_7d: { event: click, window: 7d }
  heat: { event: click, half_life: 12h }
  items_30d: { event: order, window: 30d, value: sum(quantity) }
  revenue_30d: { event: order, window: 30d, value: sum(revenue) }
  ctr: { event: click, over: impression, window: 7d, prior: { weight: 100, mean: 0.05 } }
`,
  'schemas/counters/user_live.yaml': `counter: user_live
of: [user]
features:
  clicks_1h: { event: click, window: 1h }
  clicks_7d: { event: click, window: 7d }
  heat: { event: click, half_life: 12h }
  last_click: { event: click, value: last(time) }
  bought: { event: order, window: 30d, value: distinct(product) }
  revenue_30d: { event: order, window: 30d, value: sum(revenue) }
`,
};

/** Reads records of a product, counted without ids, and of a user, counted with its ids as the service does. */
export function readHotRecords(short: boolean): Promise<HotRecord[]> {
  return withFiles(FILES, async (root) => {
    const { config } = await loadSchemas(root);
    const [product, user] = ['product_live', 'user_live'].map((name) => config?.counters.get(name));
    if (product === undefined || user === undefined) throw new Error('the project has errors');
    const records: HotRecord[] = [];
    for (const events of [10, 1000, 100_000, ...(short ? [] : [10_000_000])])
      records.push({ key: 'product', events, ...reading(product, recordOf(product, events)) });
    for (const events of [10, 1000, 100_000])
      records.push({ key: 'user', events, ...reading(user, await writtenRecord(user, events)) });
    return records;
  });
}

/** The events of the last thirty days, so that every bucket is used, oldest first for the longest window. */
function touchOf(counter: CounterDefinition, number: number, now: number): Touch {
  const [kinds] = [KINDS.get(counter) ?? kindsOf([[counter, 0]])];
  KINDS.set(counter, kinds);
  const event = ['impression', 'click', 'order'][number % 3] ?? '';
  const time = now - ((number * 7919) % 1000) * 0.000999 * (SPANS[Math.floor(number / 3) % 3] ?? HOUR);
  const additions = (kinds.get(event) ?? []).flatMap(({ entity }) =>
    additionsOf(entity, {
      ...{ event, subject: { type: 'product', id: `p${number % 5000}` }, owners: [] },
      ...{ quantity: 1, position: 1 + (number % 24), values: VALUES },
    }),
  );
  return { identity: [number, 1], time, additions };
}

const KINDS = new Map<CounterDefinition, ReturnType<typeof kindsOf>>();
const VALUES = new Map([['revenue', 2.5]]);

function recordOf(counter: CounterDefinition, events: number): Buffer {
  const now = Date.now();
  let record = NO_COUNTERS;
  for (let done = 0; done < events;) {
    const touches: Touch[] = [];
    for (; touches.length < 10_000 && done < events; done++) touches.push(touchOf(counter, done, now));
    ({ record } = addEvents(record, touches, now));
  }
  return encodeCounters(record, now + HOUR);
}

async function writtenRecord(counter: CounterDefinition, events: number): Promise<Buffer> {
  const now = Date.now();
  const store = new MemoryStore();
  const writer = new CounterWriter(10 * 60_000, () => now);
  const key = counterKey('millrace', ['user'], ['u']);
  for (let done = 0; done < events;) {
    const touches: KeyedTouch[] = [];
    for (; touches.length < 1000 && done < events; done++) {
      const touch = touchOf(counter, done, now);
      if (touch.additions.length > 0) touches.push({ key, ...touch });
    }
    await writer.count(touches, store);
  }
  const record = store.records.get(key);
  if (record === undefined) throw new Error('nothing was counted');
  return record;
}

/** The median of several rounds, because other programs use the machine, too. */
function reading(counter: CounterDefinition, record: Buffer): { bytes: number; ns: number } {
  const wanted = [...counter.features.values()].map((feature) => ({ counter, feature }));
  const decoder = new CounterDecoder(wanted);
  const columns = wanted.map(() => looseColumn({ kind: 'number', scope: 'candidate' }, 1));
  const times: number[] = [];
  for (let round = 0; round < 11; round++) {
    const began = performance.now();
    decoder.begin(null, 0, 0, Date.now());
    for (let i = 0; i < READS; i++) decoder.decode(record, 0, record.length, columns, 0);
    times.push(((performance.now() - began) * 1e6) / READS);
  }
  return { bytes: record.length, ns: times.sort((a, b) => a - b)[5] ?? NaN };
}

const READS = 50_000;
