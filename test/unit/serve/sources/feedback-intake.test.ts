import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import type { SourceMessage } from '../../../../runtime/ground/api/source.js';
import type { JsonObject } from '../../../../runtime/ground/api/types.js';
import { FeedbackIntake } from '../../../../runtime/serve/sources/feedback-intake.js';
import type { SourceTarget, Stored } from '../../../../runtime/serve/sources/intake.js';
import { Pace } from '../../../../runtime/serve/sources/pace.js';

const native = {
  ...{ into: { kind: 'feedback', name: undefined }, map: undefined, about: 'product' },
  ...{ event: undefined, values: {}, where: {}, positionsFrom: 1 },
} as const;

describe('feedback of a source', () => {
  const message = (id: number, body: JsonObject): SourceMessage => ({
    ...{ partition: 'p', id: String(id), time: 1000 + id, headers: {} },
    content: Buffer.from(JSON.stringify(body)),
  });
  const click = (more: JsonObject): JsonObject => ({
    user: { user_id: 'u' },
    events: [{ type: 'click', product: { product_id: 'a' }, ...more }],
  });
  const store = (messages: readonly SourceMessage[], feedback: SourceTarget['feedback']): Promise<Stored> =>
    new FeedbackIntake(native as never, { entities: new Map(), events: new Map() }, { feedback }).store(
      messages,
      new Pace(),
    );
  const eventsOf = (body: JsonObject): readonly JsonObject[] => body.events as unknown as JsonObject[];

  it('happened when its message was added, if it has an id and no time', async () => {
    const bodies: JsonObject[] = [];
    await store(
      [
        message(1, click({ event_id: 'e1' })),
        message(2, click({ event_id: 'e2', time: 5 })),
        message(3, click({})),
        message(4, { request_id: 'r', ...click({}) }),
      ],
      (body) => {
        bodies.push(body);
        return Promise.resolve({ stored: eventsOf(body).length, duplicates: 0, too_old: 0, unused: 0 });
      },
    );
    expect(bodies.flatMap(eventsOf).map(({ time }) => time)).to.deep.equal([1001, 5, undefined, 1004]);
  });

  it('loses only the messages that a service refuses as too old for counters', async () => {
    const { totals, rejected } = await store(
      [message(1, click({ event_id: 'new', time: 9 })), message(2, click({ event_id: 'old', time: 1 }))],
      (body) => {
        const violations = eventsOf(body).flatMap(({ time }, i) =>
          time === 1
            ? [{ pointer: `/events/${i}/time`, code: 'event_too_old', detail: 'the event is old' }]
            : [],
        );
        if (violations.length > 0) throw new MillraceError('event_too_old', 'old', { violations });
        return Promise.resolve({ stored: eventsOf(body).length, duplicates: 0, too_old: 0, unused: 0 });
      },
    );
    expect(totals).to.deep.equal({ stored: 1, rejected: 1 });
    expect(rejected.map(({ message: { id }, reason }) => [id, reason])).to.deep.equal([
      ['2', '/time: the event is old'],
    ]);
  });

  it('has at most 1 MB in a message', async () => {
    const { rejected } = await store([message(1, { x: 'x'.repeat(2 ** 20) })], () => expect.fail('stored'));
    expect(rejected[0]?.reason).to.equal(`expected at most 1048576 bytes, found ${2 ** 20 + 8}`);
  });
});
