import { expect } from 'chai';
import fc from 'fast-check';
import { RecordBatch } from '../../../../../runtime/state/store/codec/record-batch.js';
import { PendingReply, type ReplyForm } from '../../../../../runtime/state/store/redis/pending-reply.js';
import { GarbledReplyError, ReplyReader } from '../../../../../runtime/state/store/redis/reply-reader.js';

type Value = Buffer | null | Error;

const bulk = (value: Buffer | null): Buffer =>
  value === null
    ? Buffer.from('$-1\r\n')
    : Buffer.concat([Buffer.from(`$${value.length}\r\n`), value, Buffer.from('\r\n')]);

const part = (value: Value): Buffer =>
  value instanceof Error ? Buffer.from(`-${value.message}\r\n`) : bulk(value);

/** A command and the reply of the server. */
interface Exchange {
  readonly form: ReplyForm;
  readonly values: readonly Value[];
  /** An error reply to the whole command. */
  readonly refused?: string | undefined;
}

function bytesOf({ form, values, refused }: Exchange): Buffer {
  if (refused !== undefined) return Buffer.from(`-${refused}\r\n`);
  if (form === 'line') return Buffer.from('+PONG\r\n');
  if (form === 'list') return Buffer.concat([Buffer.from(`*${values.length}\r\n`), ...values.map(part)]);
  return Buffer.concat(
    values.flatMap((value) => (form === 'asked' ? [Buffer.from('+OK\r\n'), part(value)] : [part(value)])),
  );
}

/** Reads chunks; returns the result of each exchange: its values, or the message of its error. */
async function readAll(exchanges: readonly Exchange[], pieces: readonly Buffer[]): Promise<unknown[]> {
  const reader = new ReplyReader();
  const waiting = exchanges.map(async ({ form, values }) => {
    const batch = new RecordBatch();
    const errors: unknown[] = [];
    batch.extend(3); // from an earlier read
    const first = batch.extend(values.length);
    // Positions in reverse order: a request to one node of a cluster has only some of all positions.
    const positions = form === 'list' ? undefined : values.map((_, i) => values.length - 1 - i);
    const places = { batch, first, count: values.length, errors, ...(positions && { positions }) };
    try {
      await reader.expect(new PendingReply(form, form === 'line' ? undefined : places));
    } catch (error) {
      return (error as Error).message;
    }
    return values.map((_, i) => {
      const position = positions?.[i] ?? i;
      return errors[position] ?? batch.record(first + position);
    });
  });
  for (const piece of pieces) reader.read(piece);
  reader.fail(new Error('cut off'));
  return Promise.all(waiting);
}

const expected = ({ values, refused }: Exchange): unknown => refused ?? values;

const comparable = (results: readonly unknown[]): unknown =>
  results.map((result) =>
    Array.isArray(result)
      ? result.map((value: unknown) => (value instanceof Error ? value.message : value))
      : result,
  );

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => Buffer.from(bytes.subarray(at[i], end)));
}

const value = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  // A value with text that looks like the protocol.
  fc.constantFrom('\r\n', '$-1\r\n', '*2\r\n', '-ERR\r\n', '').map((text) => Buffer.from(text)),
);
const refusal = fc.constantFrom('ERR no', 'MOVED 3999 127.0.0.1:6381', 'LOADING Redis is loading');
const exchange: fc.Arbitrary<Exchange> = fc.oneof(
  fc.record({
    form: fc.constant<ReplyForm>('list'),
    values: fc.array(value, { minLength: 1, maxLength: 8 }),
    refused: fc.option(refusal, { nil: undefined, freq: 4 }),
  }),
  fc.record({
    form: fc.constantFrom<ReplyForm>('values', 'asked'),
    values: fc.array(
      fc.oneof(
        value,
        refusal.map((message) => new Error(message)),
      ),
      { minLength: 1, maxLength: 8 },
    ),
  }),
  fc.constant<Exchange>({ form: 'line', values: [] }),
);

describe('the reply reader', () => {
  it('reads the same values wherever a reply is split', async () => {
    const exchanges: Exchange[] = [
      { form: 'list', values: [Buffer.from('one'), null, Buffer.alloc(0), Buffer.from('\r\n$-1\r\n')] },
      { form: 'list', values: [null], refused: 'ERR no' },
      { form: 'asked', values: [Buffer.from('two'), new Error('MOVED 1 h:2'), null] },
      { form: 'line', values: [] },
      { form: 'values', values: [new Error('ASK 1 h:2'), Buffer.alloc(123, 7)] },
    ];
    const bytes = Buffer.concat(exchanges.map(bytesOf));
    const whole = comparable(exchanges.map(expected));
    for (let at = 0; at <= bytes.length; at++)
      expect(comparable(await readAll(exchanges, cut(bytes, [at]))), String(at)).to.deep.equal(whole);
    const each = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(comparable(await readAll(exchanges, each))).to.deep.equal(whole);
  });

  it('reads any replies in any chunks', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(exchange, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (exchanges, places) => {
          const bytes = Buffer.concat(exchanges.map(bytesOf));
          expect(comparable(await readAll(exchanges, cut(bytes, places)))).to.deep.equal(
            comparable(exchanges.map(expected)),
          );
        },
      ),
      { numRuns: 300 },
    ));

  it('reads values of megabytes in small chunks, and many replies', async () => {
    const large = Buffer.alloc(5_000_003, 1);
    large.write('end', large.length - 3);
    const exchanges: Exchange[] = [
      { form: 'list', values: [large, Buffer.from('next'), large] },
      ...Array.from({ length: 1000 }, (_, i): Exchange => ({
        form: 'list',
        values: [Buffer.from(String(i))],
      })),
    ];
    const bytes = Buffer.concat(exchanges.map(bytesOf));
    const pieces = cut(
      bytes,
      Array.from({ length: Math.floor(bytes.length / 16_000) }, (_, i) => i * 16_000),
    );
    const found = await readAll(exchanges, pieces);
    expect(found.length).to.equal(1001);
    found.forEach((values, i) => {
      (values as Buffer[]).forEach((record, v) => {
        const wanted = exchanges[i]?.values[v] as Buffer;
        expect(record.equals(wanted), `${String(i)} ${String(v)}`).to.equal(true);
      });
    });
  });

  it('rejects every pending read when the connection ends', async () => {
    const whole: Exchange = { form: 'list', values: [Buffer.from('one'), Buffer.from('two')] };
    const bytes = bytesOf(whole);
    for (let length = 0; length < bytes.length; length++) {
      const found = await readAll([whole, whole], [bytes.subarray(0, length)]);
      expect(found, String(length)).to.deep.equal(['cut off', 'cut off']);
    }
  });

  describe('rejects', () => {
    const list: Exchange = { form: 'list', values: [null, null] };
    const one: Exchange = { form: 'values', values: [null] };
    const line: Exchange = { form: 'line', values: [] };
    const asked: Exchange = { form: 'asked', values: [null] };
    const cases: readonly (readonly [string, readonly Exchange[], string])[] = [
      ['an unexpected reply', [], '+OK\r\n'],
      ['a reply after the last', [line], '+PONG\r\n+PONG\r\n'],
      ['a list that is too short', [list], '*1\r\n$1\r\na\r\n'],
      ['a list that is too long', [list], '*3\r\n$1\r\na\r\n'],
      ['no list', [list], '*-1\r\n'],
      ['a list within a list', [list], '*2\r\n*2\r\n'],
      ['an error within a list', [list], '*2\r\n$1\r\na\r\n-ERR\r\n'],
      ['a line within a list', [list], '*2\r\n+OK\r\n'],
      ['a value instead of a list', [list], '$1\r\na\r\n'],
      ['a list instead of a value', [one], '*1\r\n'],
      ['a line instead of a value', [one], '+OK\r\n'],
      ['a value instead of a line', [line], '$2\r\nOK\r\n'],
      ['a value without ASKING', [asked], '$1\r\na\r\n'],
      ['a number', [one], ':1\r\n'],
      ['a type of RESP3', [list], '_\r\n'],
      ['another protocol', [list], 'HTTP/1.1 400 Bad Request\r\n'],
      ['an invalid length', [one], '$x\r\n'],
      ['an empty length', [one], '$\r\n'],
      ['another negative length', [one], '$-2\r\n'],
      ['an incomplete negative length', [one], '$-\r\n'],
      ['a length followed by text', [one], '$1x\r\n'],
      ['a length above the limit', [one], '$99999999999\r\n'],
      ['a length with too many digits', [one], '$00000000000000000000'],
      ['a header with a wrong line end', [one], '$1\rxa\r\n'],
      ['a value that is longer than its length', [one], '$1\r\nab\r\n'],
      ['a line with a wrong end', [line], '+PONG\n'],
      ['a line without an end', [line], `+${'x'.repeat(70_000)}`],
    ];
    for (const [what, exchanges, text] of cases) {
      it(what, () => {
        const bytes = Buffer.from(text);
        const at = Math.floor(bytes.length / 2);
        for (const pieces of [[bytes], cut(bytes, [at]), Array.from(bytes, (byte) => Buffer.from([byte]))]) {
          const reader = new ReplyReader();
          for (const { form, values } of exchanges) {
            const batch = new RecordBatch();
            const places = { batch, first: batch.extend(values.length), count: values.length };
            void reader.expect(new PendingReply(form, form === 'line' ? undefined : places));
          }
          expect(() => {
            for (const piece of pieces) reader.read(piece);
          }).to.throw(GarbledReplyError);
        }
      });
    }
  });

  it('never overreads random bytes, and never hangs', () => {
    const alphabet = fc.constantFrom(
      ...'$*+-:0123\r\na'.split(''),
      '\r\n',
      '$1\r\na\r\n',
      '*2\r\n',
      '$-1\r\n',
    );
    fc.assert(
      fc.property(
        fc.array(alphabet, { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (parts, places) => {
          const bytes = Buffer.from(parts.join(''));
          const outcome = (pieces: readonly Buffer[]): unknown => {
            const reader = new ReplyReader();
            const batch = new RecordBatch();
            for (let i = 0; i < 3; i++)
              void reader
                .expect(new PendingReply('list', { batch, first: batch.extend(2), count: 2 }))
                .catch(() => 0);
            try {
              for (const piece of pieces) reader.read(piece);
            } catch (error) {
              if (!(error instanceof GarbledReplyError)) throw error;
              return 'refused';
            }
            return Array.from({ length: 6 }, (_, i) => batch.record(i)?.toString('latin1') ?? null);
          };
          expect(outcome(cut(bytes, places))).to.deep.equal(outcome([bytes]));
        },
      ),
      { numRuns: 1000 },
    );
  });
});
