import { expect } from 'chai';
import type { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { UNDECLARED_EVENT } from '../../../../runtime/ground/api/interactions.js';
import {
  decodeEventCodes,
  DEFAULT_EVENT_CODES,
  mergedEventCodes,
  openEventCodes,
} from '../../../../runtime/state/store/event-codes.js';
import { eventCodesKey } from '../../../../runtime/state/store/keys.js';
import { MemoryStore } from '../../../support/memory-store.js';

const FOUR = ['impression', 'click', 'cart', 'order'];
const KEY = eventCodesKey('t');

const codesIn = (store: MemoryStore): unknown =>
  Object.fromEntries(decodeEventCodes(store.records.get(KEY) ?? Buffer.alloc(0)) ?? []);
const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error as MillraceError).code,
  );

describe('the codes of kinds of feedback', () => {
  it('are 0 to 3 for the kinds of a project that declares none, without a record', async () => {
    const store = new MemoryStore();
    const codes = await openEventCodes(store, 't', ['order', 'click']);
    expect(codes).to.equal(DEFAULT_EVENT_CODES);
    expect(FOUR.map((name) => codes.codeOf(name))).to.deep.equal([0, 1, 2, 3]);
    expect([store.reads, store.records.size]).to.deep.equal([0, 0]);
  });

  it('are the next free ones for new names; a removed name keeps its code', async () => {
    const store = new MemoryStore();
    const first = await openEventCodes(store, 't', [...FOUR, 'wish', 'share']);
    expect(['wish', 'share'].map((name) => first.codeOf(name))).to.deep.equal([4, 5]);
    const second = await openEventCodes(store, 't', ['click', 'rate', 'share']);
    expect(['rate', 'share'].map((name) => second.codeOf(name))).to.deep.equal([6, 5]);
    expect((await openEventCodes(store, 't', ['wish'])).codeOf('wish')).to.equal(4);
    expect(codesIn(store)).to.deep.equal({ wish: 4, share: 5, rate: 6 });
  });

  it('agree between services that declare names at the same time', async () => {
    const store = new MemoryStore();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const all = await Promise.all(
      names.map((_, i) => openEventCodes(store, 't', [...names.slice(i), ...names.slice(0, i)])),
    );
    const lists = all.map((codes) => names.map((name) => codes.codeOf(name)));
    for (const list of lists) expect(list).to.deep.equal(lists[0]);
    expect(new Set(lists[0]).size).to.equal(5);
  });

  it('become the numbers of the project, and other codes are undeclared', async () => {
    const store = new MemoryStore();
    await openEventCodes(store, 't', ['wish']);
    const codes = await openEventCodes(store, 't', ['click', 'share']);
    const numbers = codes.numbersOf(
      new Map([
        ['click', 1],
        ['share', 4],
      ]),
    );
    expect([...numbers.subarray(0, 7)]).to.deep.equal([
      UNDECLARED_EVENT,
      1,
      UNDECLARED_EVENT,
      UNDECLARED_EVENT,
      UNDECLARED_EVENT,
      4,
      UNDECLARED_EVENT,
    ]);
  });

  it('are written again if the store lost them, and refused if the store gave others', async () => {
    const store = new MemoryStore();
    const codes = await openEventCodes(store, 't', ['wish', 'share']);
    store.records.clear();
    await codes.confirm(null, 't', store);
    expect(codesIn(store)).to.deep.equal({ wish: 4, share: 5 });
    store.records.clear();
    await openEventCodes(store, 't', ['share']);
    const other = store.records.get(KEY) ?? null;
    expect(await refusal(codes.confirm(other, 't', store))).to.equal('event_codes_conflict');
    store.records.clear();
    await openEventCodes(store, 't', ['rate']);
    const taken = store.records.get(KEY) ?? null;
    expect(await refusal(codes.confirm(taken, 't', store))).to.equal('event_codes_conflict');
    expect(codesIn(store)).to.deep.equal({ rate: 4 });
  });

  it('are an error if the record is damaged, or if all codes are given', async () => {
    const store = new MemoryStore();
    await openEventCodes(store, 't', ['wish']);
    store.records.set(KEY, (store.records.get(KEY) ?? Buffer.alloc(0)).subarray(0, 30));
    expect(await refusal(openEventCodes(store, 't', ['wish']))).to.equal('event_codes_conflict');
    store.records.clear();
    const names = Array.from({ length: 252 }, (_, i) => `k${i}`);
    expect((await openEventCodes(store, 't', names)).codeOf('k251')).to.equal(255);
    expect(await refusal(openEventCodes(store, 't', ['more']))).to.equal('event_codes_conflict');
  });

  it('of a backup are added to those of the store, unless they differ', async () => {
    const [here, there] = [new MemoryStore(), new MemoryStore()];
    await openEventCodes(here, 't', ['wish', 'share']);
    await openEventCodes(there, 't', ['wish']);
    const [ours, theirs] = [here, there].map((store) => store.records.get(KEY) ?? Buffer.alloc(0));
    const merged = mergedEventCodes(theirs ?? null, ours ?? Buffer.alloc(0));
    expect(Object.fromEntries(decodeEventCodes(merged) ?? [])).to.deep.equal({ wish: 4, share: 5 });
    there.records.clear();
    await openEventCodes(there, 't', ['share']);
    const other = there.records.get(KEY) ?? null;
    expect(() => mergedEventCodes(other, ours ?? Buffer.alloc(0))).to.throw('give other codes to the kind');
  });
});
