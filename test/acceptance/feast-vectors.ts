/**
 * Checks Millrace's reader with vectors from Feast's own functions (entity keys, hash fields, values, times, a dump
 * of its Redis): `node dist/test/acceptance/feast-vectors.js --vectors FOLDER`. The folder contains
 * feast-redis-vectors.json.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import type { JoinKeyType } from '../../runtime/project/config/model/feast.js';
import { EntityKeyFormat } from '../../runtime/state/feast/entity-key.js';
import {
  decodeTime,
  decodeValue,
  type FeastData,
  type FeastValue,
} from '../../runtime/state/feast/feast-value.js';
import {
  collidingFeatures,
  featureField,
  timeField,
} from '../../runtime/project/config/project/feast-fields.js';
import { murmur3 } from '../../runtime/ground/core/murmur3.js';

interface Vectors {
  readonly entity_keys: readonly {
    readonly project: string;
    readonly join_keys: readonly VectorJoinKey[];
    readonly entity_key_v2_hex: string;
    readonly entity_key_v3_hex: string;
    readonly redis_key_v2_hex: string;
    readonly redis_key_v3_hex: string;
  }[];
  readonly feature_fields: {
    readonly vectors: readonly { ref: string; murmur3_x86_32_unsigned: number; field_hex: string }[];
    readonly timestamp_fields: readonly { view: string; field_hex: string }[];
  };
  readonly collision_example: { readonly a: string; readonly b: string; readonly field_hex: string };
  readonly values: readonly { oneof: string; json: unknown; hex: string }[];
  readonly timestamps: readonly { seconds: number; nanos: number; hex: string }[];
  readonly other_servers_computed_from_their_source: readonly {
    readonly join_keys: readonly VectorJoinKey[];
    readonly python_v2: string;
    readonly python_v3: string;
  }[];
  readonly end_to_end_dump: { readonly dump: Record<string, { readonly fields: Record<string, string> }> };
  readonly null_example: { readonly redis_key_hex: string; readonly fields: Record<string, string> };
}

interface VectorJoinKey {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

const JOIN_KEY_TYPES: Readonly<Record<string, JoinKeyType>> = {
  string_val: 'string',
  int64_val: 'int64',
  int32_val: 'int32',
  bytes_val: 'bytes',
  unix_timestamp_val: 'timestamp',
};

let checks = 0;
let failures = 0;

function check(what: string, found: unknown, expected: unknown): void {
  checks++;
  if (isDeepStrictEqual(found, expected)) return;
  failures++;
  console.error(`${what}\n  expected ${String(expected)}\n  found    ${String(found)}`);
}

const key = (version: 2 | 3, joinKeys: readonly VectorJoinKey[], project: string): string | undefined =>
  new EntityKeyFormat(
    version,
    joinKeys.map(({ name, type }) => ({ name, type: JOIN_KEY_TYPES[type] ?? 'string' })),
    project,
  )
    .encode(joinKeys.map(({ value }) => value))
    ?.toString('hex');

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/**
 * Converts to the notation of the vectors: 64-bit integers and bytes are strings, values that JSON lacks have names.
 */
function spelt(data: FeastData): unknown {
  if (typeof data === 'bigint') return data.toString();
  if (typeof data === 'number') return Number.isFinite(data) ? data : String(data);
  if (data instanceof Uint8Array) return hexOf(data);
  if (data instanceof Map)
    return Object.fromEntries([...data].map(([name, one]: [string, FeastValue]) => [name, spelt(one.value)]));
  if (Array.isArray(data))
    return data.map((one: FeastData | FeastValue) => spelt(isValue(one) ? one.value : one));
  return data;
}

function isValue(data: FeastData | FeastValue): data is FeastValue {
  return typeof data === 'object' && data !== null && 'type' in data;
}

function main(): boolean {
  const { values: flags } = parseArgs({ options: { vectors: { type: 'string' } } });
  if (flags.vectors === undefined) throw new Error('--vectors FOLDER is missing');
  const file = join(flags.vectors, 'feast-redis-vectors.json');
  const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors;

  for (const one of vectors.entity_keys) {
    const name = one.join_keys.map((joinKey) => `${joinKey.name}=${joinKey.value}`).join(', ');
    check(`entity key, version 2, ${name}`, key(2, one.join_keys, ''), one.entity_key_v2_hex);
    check(`entity key, version 3, ${name}`, key(3, one.join_keys, ''), one.entity_key_v3_hex);
    check(`redis key, version 2, ${name}`, key(2, one.join_keys, one.project), one.redis_key_v2_hex);
    check(`redis key, version 3, ${name}`, key(3, one.join_keys, one.project), one.redis_key_v3_hex);
  }
  for (const one of vectors.other_servers_computed_from_their_source) {
    check('another entity key, version 2', key(2, one.join_keys, ''), one.python_v2);
    check('another entity key, version 3', key(3, one.join_keys, ''), one.python_v3);
  }
  for (const { ref, murmur3_x86_32_unsigned: hash, field_hex: field } of vectors.feature_fields.vectors) {
    check(`hash of ${ref}`, murmur3(Buffer.from(ref)), hash);
    check(`field of ${ref}`, hexOf(featureField(...split(ref))), field);
  }
  for (const { view, field_hex: field } of vectors.feature_fields.timestamp_fields)
    check(`time field of ${view}`, hexOf(timeField(view)), field);

  const { a, b, field_hex: shared } = vectors.collision_example;
  const pair = [a, b].map((ref) => ({ view: split(ref)[0], feature: split(ref)[1] }));
  check('the collision, one', hexOf(featureField(...split(a))), shared);
  check('the collision, other', hexOf(featureField(...split(b))), shared);
  check('the collision, reported', collidingFeatures(pair).length, 1);

  for (const { oneof, json, hex } of vectors.values) {
    const { type, value } = decodeValue(Buffer.from(hex, 'hex'));
    check(`type of ${oneof} ${hex}`, type ?? '(unset)', oneof);
    check(`value of ${oneof} ${hex}`, JSON.stringify(spelt(value)), JSON.stringify(json));
  }
  for (const { seconds, nanos, hex } of vectors.timestamps)
    check(`time ${seconds} s ${nanos} ns`, decodeTime(Buffer.from(hex, 'hex')), seconds * 1000 + nanos / 1e6);

  checkDump(vectors);
  console.log(`${checks} checks of Feast's vectors, ${failures} failed`);
  return failures === 0;
}

/** Checks that Millrace's own functions produce every key, field and value of the dump. */
function checkDump({ end_to_end_dump: { dump }, null_example: nulls }: Vectors): void {
  const user: VectorJoinKey = { name: 'user_id', type: 'int64_val', value: '1001' };
  const product = (value: string): VectorJoinKey => ({ name: 'product_id', type: 'string_val', value });
  const keys = [[user], [product('SKU-1')], [product('товар-Ω')], [user, product('SKU-1')]];
  const expected = Object.keys(dump).sort();
  check(
    'keys of the dump',
    keys
      .map((one) => key(3, one, 'shop'))
      .sort()
      .join(),
    expected.join(),
  );
  for (const { fields } of Object.values(dump)) {
    for (const [field, hex] of Object.entries(fields)) {
      if (field.startsWith('_ts:'))
        check(
          `${field} of the dump`,
          decodeTime(Buffer.from(hex, 'hex')),
          Date.UTC(2026, 0, 2, 3, 4, 5) + 678.9,
        );
      else check(`${field} of the dump`, decodeValue(Buffer.from(hex, 'hex')).type !== null, true);
    }
  }
  check('key of the null', key(3, [{ ...user, value: '7' }], 'shop'), nulls.redis_key_hex);
  const ctr = nulls.fields[hexOf(featureField('user_stats', 'ctr'))] ?? 'no such field';
  check('the null', decodeValue(Buffer.from(ctr, 'hex')).type, null);
}

function split(ref: string): [view: string, feature: string] {
  const at = ref.indexOf(':');
  return [ref.slice(0, at), ref.slice(at + 1)];
}

process.exitCode = main() ? 0 : 1;
