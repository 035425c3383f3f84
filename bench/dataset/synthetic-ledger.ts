import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Status } from '../../runtime/ground/api/status.js';
import { Random } from '../../runtime/ground/core/random.js';
import {
  recordSchema,
  type JsonObject,
  type RecordColumn,
  type RecordSchema,
} from '../../runtime/state/ledger/record-schema.js';
import { RecordWriter } from '../../runtime/state/ledger/record-writer.js';
import { schemaFrame } from '../../runtime/state/ledger/schema-frame.js';

const DAYS = 30;
const DAY = 86_400_000;
const HOUR = 3_600_000;
const START = Date.UTC(2026, 9, 1);
const SEGMENT_BYTES = 64 * 2 ** 20;
const PRODUCTS = 100_000;
const USERS = 50_000;
const BRANDS = 400;
const CLICKED = 0.4;
/** The arms of the experiment `sizes`, with what they score a price by. */
const ARMS = [
  ['control', 1],
  ['bigger', 2],
] as const;
const ORDERED = 0.1;
const ORPHANED = 0.05;
const REPEATED = 0.05;
/** The share of requests whose second page is asked for. */
const PAGED = 0.03;
/** The candidates of a second page that are only a sample of those that were not shown. */
const SAMPLED = 2;

/** How the features of a candidate are spread: prices in cents, shares, counts, flags, a text, some of them missing. */
const FEATURES = [
  ...['price', 'cost', 'list_price'].map((name) => ({ name: `product.${name}`, of: 'cents', missing: 0 })),
  ...['ctr_1d', 'ctr_7d', 'ctr_30d', 'cr_7d', 'cr_30d'].map((name) => ({
    name: `stats:${name}`,
    of: 'share',
    missing: 0.1,
  })),
  ...['clicks_1d', 'clicks_7d', 'clicks_30d', 'orders_30d'].map((name) => ({
    name: `stats:${name}`,
    of: 'count',
    missing: 0.1,
  })),
  ...['bm25', 'overlap', 'phrase'].map((name) => ({ name: `text:${name}`, of: 'share', missing: 0 })),
  { name: 'product.in_stock', of: 'flag', missing: 0 },
  { name: 'product.brand', of: 'text', missing: 0.02 },
  { name: 'user_brand:ctr', of: 'share', missing: 0.6 },
  { name: 'ltr:score', of: 'share', missing: 0 },
] as const;

/**
 * Writes a ledger of 30 days: rankings of one pipeline by price, in two arms, clicks by request id, orders without one, and
 * histories of three views. Some feedback comes twice or late, or is of no ranking.
 * @param meta what the schema of the rankings says of the pipeline that served them
 * @param excluded a text of each ranking that no data set has; a long one makes a large ledger of few rankings
 * @returns the number of features
 */
export function writeSyntheticLedger(
  folder: string,
  rankings: number,
  candidates: number,
  meta: JsonObject = {},
  excluded = '',
): number {
  const random = new Random(7);
  const file = new Segments(folder);
  const ranking = rankingSchema(meta);
  const feedback = feedbackSchema();
  const [brandHistory, productHistory, userHistory] = historySchemas();
  const columns = FEATURES.map(() => new Float64Array(candidates));
  const texts = FEATURES.map(() => new Array<string>(candidates).fill(''));
  const statuses = FEATURES.map(() => new Uint8Array(candidates));
  const places = Int32Array.from({ length: candidates }, (_, at) => at + 1);
  const sent = places.map((place) => place - 1);
  const allShown = new Uint8Array(candidates).fill(1);
  const allOnes = new Float64Array(candidates).fill(1);
  const someShown = allShown.map((_, row) => (row < SAMPLED ? 0 : 1));
  const someSampled = allOnes.map((_, row) => (row < SAMPLED ? 3 : 1));
  for (let at = 0; at < rankings; at++) {
    const time = START + Math.floor((at / rankings) * DAYS * DAY);
    const request = `req-${at.toString(36).padStart(8, '0')}`;
    const user = `u${random.between(1, USERS)}`;
    const ids = Array.from({ length: candidates }, () => `p${random.between(1, PRODUCTS)}`);
    for (const [f, { of, missing }] of FEATURES.entries())
      for (let row = 0; row < candidates; row++) {
        const isMissing = missing > 0 && random.chance(missing);
        const status = statuses[f];
        if (status !== undefined) status[row] = isMissing ? Status.missing_feature : Status.present;
        if (of === 'text') (texts[f] ?? [])[row] = `brand ${random.between(1, BRANDS)}`;
        else (columns[f] ?? [])[row] = valueOf(of, random);
      }
    const [prices = new Float64Array()] = columns;
    prices.sort().reverse();
    const [arm, factor] = ARMS[Number(user.slice(1)) % 2] ?? ARMS[0];
    const scores = prices.map((price) => factor * price);
    const page = (seconds: number, before: number, shown: Uint8Array, weights: Float64Array): void =>
      file.record(ranking, time + seconds * 1000, candidates, (w) => {
        w.text(request);
        w.time(time + seconds * 1000);
        w.text('ok');
        w.int32([before + candidates]);
        w.int32([before]);
        w.int32([candidates]);
        w.float64([2 + 8 * random.next() ** 4]);
        for (const one of [`user=${user}`, 'sizes', arm, user, excluded])
          w.texts({ values: [one], offsets: [0, 1] }, Uint8Array.of(Status.present));
        for (const one of [user, request]) w.text(one);
        w.float64(at % 30, undefined);
        w.text(ids);
        w.int32(sent);
        w.int32(places.map((place) => before + place));
        w.float64(scores);
        w.float64(weights);
        w.bool(shown);
        for (const [f, { of }] of FEATURES.entries())
          if (of === 'text') w.text(texts[f], statuses[f]);
          else w.float64(columns[f], statuses[f]);
      });
    page(0, 0, allShown, allOnes);
    const pushed = time - random.between(0, HOUR);
    // Some rows are stored late, and some before their time.
    const stored = pushed + random.between(-HOUR / 6, HOUR);
    file.row(brandHistory, { keys: [`brand ${random.between(1, BRANDS)}`], time: pushed, stored }, (w) => {
      w.float64(random.chance(0.1) ? undefined : random.next(), undefined);
      w.text(random.chance(0.5) ? 'high' : 'low');
    });
    const owner = {
      keys: [random.chance(0.5) ? (ids[1] ?? '') : `p${random.between(1, PRODUCTS)}`],
      time: pushed,
      stored,
    };
    file.row(productHistory, owner, (w) => {
      w.int32([random.between(0, 9)]);
    });
    file.row(userHistory, { keys: [user], time: pushed, stored }, (w) => {
      w.int32([random.between(0, 99)]);
    });
    if (random.chance(PAGED)) {
      // It has some candidates of the first page again.
      for (let row = SAMPLED + 1; row < candidates; row++) ids[row] = `p${random.between(1, PRODUCTS)}`;
      page(5, candidates, someShown, someSampled);
    }
    if (!random.chance(CLICKED)) continue;
    const clicked = ids[Math.floor(candidates * random.next() ** 2)] ?? '';
    const id = random.chance(ORPHANED) ? `lost-${request}` : request;
    const clickedAt = time + Math.floor(random.next() ** 4 * 2 * DAY);
    // Some visitors have only a session.
    const session = random.chance(0.2) ? `s-${user}` : undefined;
    const click = {
      request: id,
      time: clickedAt,
      event: 'click',
      subject: clicked,
      user: session === undefined ? user : undefined,
      session,
    };
    file.feedback(feedback, click);
    if (random.chance(REPEATED)) file.feedback(feedback, { ...click, time: clickedAt + 10 });
    if (random.chance(ORDERED)) {
      const orderedAt = clickedAt + random.between(1, 20 * 60_000);
      const order = { ...click, request: undefined, event: 'order', id: `order-${at}` };
      file.feedback(feedback, { ...order, time: orderedAt });
      // Sent again without its time.
      if (at % 5 === 0) file.feedback(feedback, { ...order, time: orderedAt + 60_000 });
    }
  }
  file.close();
  return FEATURES.length + 1;
}

function valueOf(of: string, random: Random): number {
  switch (of) {
    case 'cents':
      return random.between(100, 99_999) / 100;
    case 'count':
      return Math.floor(random.next() ** 3 * 500);
    case 'flag':
      return random.between(0, 1);
    default:
      return random.next();
  }
}

function column(
  name: string,
  type: RecordColumn['type'],
  rows: RecordColumn['rows'],
  is: RecordColumn['is'],
  nullable: boolean,
): RecordColumn {
  return { name, is, rows, type, nullable };
}

function rankingSchema(meta: JsonObject): RecordSchema {
  return recordSchema(
    'ranking',
    [
      column('request_id', 'text', 'record', 'field', false),
      column('time', 'time', 'record', 'field', false),
      column('status', 'text', 'record', 'field', false),
      ...['sent', 'page_start', 'page_size'].map((name) => column(name, 'int32', 'record', 'field', false)),
      column('ms', 'float64', 'record', 'field', false),
      ...['entities', 'experiment', 'arm', 'experiment_unit', 'excluded'].map((name) =>
        column(name, 'texts', 'record', 'field', true),
      ),
      ...['user.user_id', 'request.request_id'].map((name) => column(name, 'text', 'record', 'value', true)),
      column('user.orders', 'float64', 'record', 'value', true),
      column('candidate_id', 'text', 'candidate', 'field', false),
      column('sent_at', 'int32', 'candidate', 'field', false),
      column('place', 'int32', 'candidate', 'field', false),
      column('score', 'float64', 'candidate', 'field', false),
      column('weight', 'float64', 'candidate', 'field', false),
      column('on_page', 'bool', 'candidate', 'field', false),
      ...FEATURES.map(({ name, of }) =>
        column(name, of === 'text' ? 'text' : 'float64', 'candidate', 'value', true),
      ),
    ],
    { pipeline: 'search', pipeline_version: '1', project: 'shop', candidate_type: 'product', ...meta },
  );
}

function feedbackSchema(): RecordSchema {
  return recordSchema(
    'feedback',
    [
      column('request_id', 'text', 'record', 'field', true),
      column('time', 'time', 'record', 'field', false),
      column('received', 'time', 'record', 'field', false),
      column('event', 'text', 'record', 'field', false),
      column('subject_type', 'text', 'record', 'field', false),
      column('subject_id', 'text', 'record', 'field', false),
      column('event_id', 'text', 'record', 'field', true),
      column('session', 'text', 'record', 'value', true),
      column('user', 'text', 'record', 'value', true),
    ],
    { subject_type: 'product', owners: ['session', 'user'] },
  );
}

/** The histories of the views brand_stats of [brand], product_stats of [product] and user_stats of [user]. */
function historySchemas(): readonly [RecordSchema, RecordSchema, RecordSchema] {
  const fields = [
    column('keys', 'texts', 'record', 'field', false),
    column('time', 'time', 'record', 'field', false),
    column('stored', 'time', 'record', 'field', false),
  ];
  return [
    recordSchema(
      'history',
      [
        ...fields,
        column('ctr', 'float64', 'record', 'value', true),
        column('tier', 'text', 'record', 'value', true),
      ],
      { view: 'brand_stats', keys: ['brand'], ttl: 2 * DAY },
    ),
    recordSchema('history', [...fields, column('stock', 'int32', 'record', 'value', true)], {
      ...{ view: 'product_stats', keys: ['product'], ttl: null },
    }),
    recordSchema('history', [...fields, column('visits', 'int32', 'record', 'value', true)], {
      ...{ view: 'user_stats', keys: ['user'], ttl: null },
    }),
  ];
}

interface Event {
  readonly request: string | undefined;
  readonly time: number;
  readonly event: string;
  readonly subject: string;
  readonly user: string | undefined;
  readonly session: string | undefined;
  readonly id?: string;
}

interface Pushed {
  readonly keys: readonly string[];
  readonly time: number;
  readonly stored: number;
}

/** Segments that are written one after the other. */
class Segments {
  readonly #folder: string;
  readonly #writer = new RecordWriter();
  readonly #instance = Buffer.alloc(16, 1);
  #file: number | undefined;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #bytes = 0;
  #number = 0;
  #sequence = 0;
  readonly #schemas = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  feedback(schema: RecordSchema, { request, time, event, subject, user, session, id }: Event): void {
    this.record(schema, time, 0, (w) => {
      w.text(request);
      w.time(time);
      w.time(time);
      w.text(event);
      w.text('product');
      w.text(subject);
      w.text(id);
      w.text(session);
      w.text(user);
    });
  }

  row(schema: RecordSchema, { keys, time, stored }: Pushed, values: (writer: RecordWriter) => void): void {
    this.record(schema, stored, 0, (w) => {
      w.texts({ values: keys, offsets: [0, keys.length] }, Uint8Array.of(Status.present));
      w.time(time);
      w.time(stored);
      values(w);
    });
  }

  record(schema: RecordSchema, time: number, candidate: number, write: (writer: RecordWriter) => void): void {
    if (!this.#schemas.has(schema.id)) this.#push(schemaFrame(schema));
    this.#schemas.add(schema.id);
    this.#sequence += 1;
    this.#writer.begin(
      schema,
      { candidate, change: 0 },
      { instance: this.#instance, sequence: this.#sequence, time },
    );
    write(this.#writer);
    this.#push(Uint8Array.from(this.#writer.finish()));
    if (this.#bytes > SEGMENT_BYTES) this.close();
  }

  close(): void {
    this.#flush();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#bytes = 0;
    this.#schemas.clear();
  }

  #push(frame: Uint8Array): void {
    this.#pending.push(frame);
    this.#pendingBytes += frame.length;
    this.#bytes += frame.length;
    if (this.#pendingBytes > 1 << 20) this.#flush();
  }

  #flush(): void {
    if (this.#pendingBytes === 0) return;
    this.#file ??= openSync(
      join(this.#folder, `bench-${String((this.#number += 1)).padStart(6, '0')}.mlr`),
      'w',
    );
    const bytes = Buffer.concat(this.#pending);
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}
