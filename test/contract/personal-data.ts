import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { loadSchemas } from '../../runtime/project/config/project/load-project.js';
import type { ProjectConfig } from '../../runtime/project/config/model/project.js';
import { EntityIndex } from '../../runtime/state/index/entity-index.js';
import { FeatureStore } from '../../runtime/state/index/feature-store.js';
import { Forget, REMOVED_COUNTS, type ForgetAnswer } from '../../runtime/state/privacy/forget.js';
import { PERSONAL_DATA } from '../../runtime/state/privacy/every-kind.js';
import type { PersonalData, PrivacyParts } from '../../runtime/state/privacy/personal-data.js';
import { recordsOf } from '../../runtime/state/store/backup.js';
import { encodeCounters } from '../../runtime/state/store/codec/counter-record.js';
import { decodeHistory, encodeHistory } from '../../runtime/state/store/codec/history-record.js';
import type { History } from '../../runtime/state/store/codec/history.js';
import { counterKey, historyKey, markKey, partsOf, type KeyKind } from '../../runtime/state/store/keys.js';
import { LayoutRegistry } from '../../runtime/state/store/layout-registry.js';
import type { Store, StoreRecord } from '../../runtime/state/store/store.js';
import { writeProject } from '../support/project.js';
import { rm } from 'node:fs/promises';
import { describeWith } from '../support/needs.js';
import type { StoreHarness } from './store.js';

const PREFIX = 'privacy';

const FILES = {
  'schemas/entities/user.yaml': 'entity: user\nattributes: { email: string, friend: ref(user) }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), maker: ref(user) }\n',
  'schemas/features/user_stats.yaml': 'view: user_stats\nof: [user]\nfeatures: { orders: int }\n',
  'schemas/features/user_own.yaml': 'view: user_own\nof: [user]\ngroup: own\nfeatures: { orders: int }\n',
  'schemas/features/user_brand.yaml':
    'view: user_brand\nof: [user, brand]\nttl: 7d\nfeatures: { clicks: int }\n',
  'schemas/features/brand_user.yaml': 'view: brand_user\nof: [brand, user]\nfeatures: { clicks: int }\n',
};

/** What a sample needs to write records. */
interface Writer {
  readonly parts: PrivacyParts;
  readonly index: EntityIndex;
  readonly features: FeatureStore;
}

/** A history with one event for each list of values of the facet. */
export function historyOf(facet: string, events: readonly (readonly string[])[]): History {
  const texts = [...new Set(events.flat())];
  const offsets = new Int32Array(events.length + 1);
  events.forEach((values, i) => (offsets[i + 1] = (offsets[i] ?? 0) + values.length));
  const values = Int32Array.from(events.flat(), (text) => texts.indexOf(text));
  return {
    count: events.length,
    types: new Uint8Array(events.length),
    times: Float64Array.from(events, (_, i) => Date.now() + i),
    quantities: new Uint16Array(events.length).fill(1),
    identities: new Uint32Array(2 * events.length).map((_, i) => i),
    facets: new Map([[facet, { offsets, values }]]),
    texts,
  };
}

async function storeHistory(
  { store, prefix }: PrivacyParts,
  type: string,
  id: string,
  history: History,
): Promise<void> {
  const record = encodeHistory(history, Date.now() + 60_000);
  await store.swap([{ key: historyKey(prefix, type, id), before: null, after: record }]);
}

/** For each kind of record with ids: writes records about a user, in every way that the kind allows. */
const SAMPLES: Readonly<Record<KeyKind, ((writer: Writer, id: string) => Promise<void>) | undefined>> = {
  async entity({ index }, user_id) {
    await index.upload({ entity_type: 'user', entities: [{ user_id, email: `${user_id}@example.org` }] });
  },
  async features({ features }, user_id) {
    await features.push({ view: 'user_stats', rows: [{ user_id, orders: 1 }] });
    await features.push({ view: 'user_own', rows: [{ user_id, orders: 1 }] });
    await features.push({
      view: 'user_brand',
      rows: [
        { user_id, brand_id: 'b1', clicks: 1 },
        { user_id, brand_id: '4:abcd', clicks: 2 },
      ],
    });
    await features.push({ view: 'brand_user', rows: [{ brand_id: 'b:1', user_id, clicks: 1 }] });
    await features.remove({ view: 'user_stats', rows: [{ user_id }] }); // leaves a tombstone in the key
  },
  async history({ parts }, id) {
    await storeHistory(parts, 'user', id, historyOf('product.brand', [['b1'], ['b2']]));
    await storeHistory(parts, 'user', `fan-${randomBytes(4).toString('hex')}`, {
      ...historyOf('product.maker', [[id], [id, 'another'], ['another']]),
    });
    await storeHistory(parts, 'brand', `b-${randomBytes(4).toString('hex')}`, historyOf('user', [[id]]));
  },
  async counters({ parts: { store, prefix } }, id) {
    const series = [{ low: 1, high: 2, expires: 2 ** 31, kind: 2, width: 0, body: Buffer.alloc(8) }];
    const after = encodeCounters({ marks: Buffer.alloc(0), markedUntil: 0, series }, Date.now() + 60_000);
    for (const key of counterKeysOf(prefix, id)) await store.swap([{ key, before: null, after }]);
  },
  async marks({ parts: { store, prefix } }, id) {
    const expires = Date.now() + 60_000;
    await store.mark(
      counterKeysOf(prefix, id).map((key) => ({ key: markKey(key, 7), ids: Buffer.alloc(8, 7), expires })),
    );
  },
  layout: undefined,
  meta: undefined,
};

const counterKeysOf = (prefix: string, id: string): string[] => [
  counterKey(prefix, ['user'], [id]),
  counterKey(prefix, ['user', 'brand'], [id, 'b}:1']),
  counterKey(prefix, ['brand', 'user'], ['{b', id]),
];

/** What every implementation of PersonalData must do, on each store engine. */
export function personalDataContract(engine: string, harness: StoreHarness): void {
  describeWith(harness.needs ?? [], `the contract of personal data: ${engine}`, function () {
    this.timeout(30_000);
    let store: Store;
    let writer: Writer;
    let root = '';
    before(async function () {
      await harness.start(this);
      store = await harness.open();
      root = await writeProject(FILES);
      const { config } = await loadSchemas(root);
      const { entities: types, views } = config as ProjectConfig;
      const parts = { store, prefix: PREFIX, types, views };
      const common = { ...parts, layouts: new LayoutRegistry(store, PREFIX) };
      const eventTimes = { oldest: 0, ahead: 60_000 };
      writer = {
        parts,
        index: new EntityIndex(common),
        features: new FeatureStore({ ...common, eventTimes }),
      };
    });
    after(async () => {
      await (store as Store | undefined)?.close();
      await harness.stop();
      await rm(root, { recursive: true, force: true });
    });
    beforeEach(async () => {
      for (const { key } of await allRecords())
        if (partsOf(key)?.kind !== 'layout') await store.remove([key]);
    });

    const allRecords = async (): Promise<StoreRecord[]> => {
      const found = new Map<string, StoreRecord>();
      for await (const page of recordsOf(store, PREFIX))
        for (const record of page) found.set(record.key, record);
      // Backups leave remembered ids out, and Redis keeps them as sets.
      const { keys } = await store.scan(`${PREFIX}:marks:`, undefined, 1000);
      for (const key of keys) found.set(key, { key, value: Buffer.alloc(0) });
      return [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    };
    const keysWith = async (text: string): Promise<string[]> =>
      (await allRecords())
        .filter(({ key, value }) => key.includes(text) || value.includes(text))
        .map(({ key }) => key);
    const storedKeys = async (
      kind: string,
    ): Promise<{ key: string; parts: NonNullable<ReturnType<typeof partsOf>> }[]> =>
      (await allRecords()).flatMap(({ key }) => {
        const parts = partsOf(key);
        return parts?.kind === kind ? [{ key, parts }] : [];
      });
    const forgetAll = async (ids: readonly string[], callMs?: number): Promise<ForgetAnswer[]> => {
      const forget = new Forget(writer.parts, callMs);
      const answers: ForgetAnswer[] = [];
      let cursor: string | null = null;
      do {
        const answer: ForgetAnswer = await forget.run({ entity_type: 'user', entity_ids: ids, cursor });
        answers.push(answer);
        ({ cursor } = answer);
      } while (cursor !== null);
      return answers;
    };

    for (const [kind, data] of Object.entries(PERSONAL_DATA) as [KeyKind, PersonalData | undefined][]) {
      if (data === undefined) continue;
      const fill = SAMPLES[kind];
      describe(kind, () => {
        for (const id of ['canary-4711', 'canary:4711', '4:canary4711', 'cänary 47,11', 'canary*[4711]'])
          it(`leaves no byte of ${id}, and every byte of others`, async () => {
            await fill?.(writer, 'somebody');
            const before = await allRecords();
            await fill?.(writer, id);
            expect((await keysWith(id)).length).to.be.greaterThan(0);
            const keys = await storedKeys(kind);
            const removed = await data.forget(keys, { type: 'user', ids: new Set([id]) }, writer.parts);
            expect(await keysWith(id)).to.deep.equal([]);
            expect(Object.keys(removed).sort()).to.deep.equal([...data.counts].sort());
            expect(Object.values(removed).reduce((sum, one) => sum + one)).to.be.greaterThan(0);
            const after = new Map((await allRecords()).map(({ key, value }) => [key, value]));
            for (const { key, value } of before) expect(after.get(key)?.equals(value), key).to.equal(true);
          });

        it('does nothing the second time, and nothing for an entity of another type with the same id', async () => {
          await fill?.(writer, 'u1');
          const brand = { type: 'brand', ids: new Set(['u1']) };
          const before = await allRecords();
          const none = await data.forget(await storedKeys(kind), brand, writer.parts);
          expect(Object.values(none).reduce((sum, one) => sum + one)).to.equal(0);
          expect(await allRecords()).to.deep.equal(before);
          const user = { type: 'user', ids: new Set(['u1']) };
          await data.forget(await storedKeys(kind), user, writer.parts);
          const again = await data.forget(await storedKeys(kind), user, writer.parts);
          expect(Object.values(again).reduce((sum, one) => sum + one)).to.equal(0);
        });

        it('names keys of its own kind only', () => {
          const keys = data.keysOf({ type: 'user', ids: new Set(['u1', 'u2']) }, writer.parts);
          expect(keys.map((key) => partsOf(key)?.kind)).to.deep.equal(keys.map(() => kind));
        });
      });
    }

    it('removes everything in one pass, with counts for each kind, however short the calls are', async () => {
      for (const id of ['u1', 'canary-1', 'canary-2', 'u4'])
        for (const fill of Object.values(SAMPLES)) await fill?.(writer, id);
      const answers = await forgetAll(['canary-1', 'canary-2', 'canary-3'], 0);
      expect(await keysWith('canary')).to.deep.equal([]);
      expect(await keysWith('u1')).to.have.length(15);
      const total = (name: string): number =>
        answers.reduce((sum, { removed }) => sum + (removed[name] ?? 0), 0);
      expect(Object.fromEntries(REMOVED_COUNTS.map((name) => [name, total(name)]))).to.deep.equal({
        entities: 2,
        feature_rows: 8,
        counters: 6,
        remembered_events: 6,
        histories: 2,
        history_values: 6,
        unreadable_histories: 0,
        ledger_records: 0,
        unreadable_ledger_records: 0,
      });
      expect(answers.at(-1)?.files).to.equal(engine === 'embedded' ? 'rewritten' : 'server');
    });

    it('keeps the events of others that have other values, and drops those without', async () => {
      await storeHistory(
        writer.parts,
        'user',
        'fan',
        historyOf('product.maker', [['u1'], ['u1', 'u2'], [], ['u2']]),
      );
      await forgetAll(['u1']);
      const [record = null] = await store.read([historyKey(PREFIX, 'user', 'fan')]);
      const history = record === null ? undefined : decodeHistory(record);
      expect(history?.count).to.equal(3);
      const { offsets = [], values = [] } = history?.facets.get('product.maker') ?? {};
      expect([...offsets]).to.deep.equal([0, 1, 1, 2]);
      expect([...values].map((text) => history?.texts[text])).to.deep.equal(['u2', 'u2']);
      expect(history?.texts).not.to.include('u1');
      expect([...(history?.identities ?? [])]).to.deep.equal([2, 3, 4, 5, 6, 7]);
    });

    it('keeps what others add to a history meanwhile', async () => {
      const { parts } = writer;
      await storeHistory(parts, 'user', 'busy', historyOf('product.maker', [['u1']]));
      const key = historyKey(PREFIX, 'user', 'busy');
      let changes = 3;
      const slow: Store = new Proxy(store, {
        get(target, name) {
          if (name === 'swap' && changes > 0)
            return async (swaps: Parameters<Store['swap']>[0]) => {
              changes--;
              const [before = null] = await target.read([key]);
              const history = historyOf('product.maker', [['u1'], [`added-${changes}`]]);
              await target.swap([{ key, before, after: encodeHistory(history, Date.now() + 60_000) }]);
              return target.swap(swaps);
            };
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
      const forget = new Forget({ ...parts, store: slow });
      await forget.run({ entity_type: 'user', entity_ids: ['u1'] });
      const [record = null] = await store.read([key]);
      const texts = record === null ? undefined : decodeHistory(record)?.texts;
      expect(texts).to.include('added-0').and.not.to.include('u1');
    });
  });
}
