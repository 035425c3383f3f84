import { Redis } from 'ioredis';
import protobuf from 'protobufjs/minimal.js';
import { FIELDS, type FeastType } from '../../runtime/state/feast/feast-value.js';
import { EntityKeyFormat } from '../../runtime/state/feast/entity-key.js';
import { featureField, timeField } from '../../runtime/project/config/project/feast-fields.js';
import type { JoinKeyType } from '../../runtime/project/config/model/feast.js';

/** Encodes a map of names to encoded values, as the message of field 20 without its tag. */
function mapBytes(map: Readonly<Record<string, Buffer>>): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const [name, value] of Object.entries(map))
    writer.uint32(10).fork().uint32(10).string(name).uint32(18).bytes(value).ldelim();
  return writer.finish();
}

/**
 * Encodes a `Value` message with one field. Lists are packed as in protobuf. A map is given as an object of encoded
 * values, and a nested list as a list of them.
 */
export function feastValue(type: FeastType, value: unknown): Buffer {
  const writer = protobuf.Writer.create();
  const [number, shape] = FIELDS[type];
  const write = (kind: string, field: number, one: unknown): void => {
    if (kind === 'string') writer.uint32((field << 3) | 2).string(one as string);
    else if (kind === 'bytes') writer.uint32((field << 3) | 2).bytes(one as Uint8Array);
    else if (kind === 'int32') writer.uint32(field << 3).int32(one as number);
    else if (kind === 'int64') writer.uint32(field << 3).int64(one as number);
    else if (kind === 'double') writer.uint32((field << 3) | 1).double(one as number);
    else if (kind === 'float') writer.uint32((field << 3) | 5).float(one as number);
    else if (kind === 'bool') writer.uint32(field << 3).bool(one as boolean);
    else if (kind === 'map')
      writer.uint32((field << 3) | 2).bytes(mapBytes(one as Readonly<Record<string, Buffer>>));
    else if (kind === 'maps' || kind === 'values') {
      writer.uint32((field << 3) | 2).fork();
      for (const each of one as readonly never[]) write(kind === 'maps' ? 'map' : 'bytes', 1, each);
      writer.ldelim();
    } else throw new Error(`there is no writer for ${kind}`);
  };
  if (typeof shape === 'string') write(shape, number, value);
  else {
    writer.uint32((number << 3) | 2).fork();
    for (const one of value as readonly unknown[]) write(shape.list, 1, one);
    writer.ldelim();
  }
  return Buffer.from(writer.finish());
}

/** Encodes epoch milliseconds as a protobuf Timestamp. */
export function feastTime(time: number): Buffer {
  const writer = protobuf.Writer.create();
  const seconds = Math.floor(time / 1000);
  const nanos = Math.round((time - seconds * 1000) * 1e6);
  if (seconds !== 0) writer.uint32(8).int64(seconds);
  if (nanos !== 0) writer.uint32(16).int32(nanos);
  return Buffer.from(writer.finish());
}

export interface FeastRow {
  readonly project?: string;
  readonly version?: 2 | 3;
  readonly keys: readonly (readonly [name: string, type: JoinKeyType, id: string])[];
  readonly view: string;
  /** Epoch milliseconds; undefined means no time field. */
  readonly time: number | undefined;
  readonly features: Readonly<Record<string, Buffer>>;
}

/** Writes rows into Redis like `feast materialize`. */
export async function materialise(url: string, rows: readonly FeastRow[]): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true });
  await redis.connect();
  try {
    for (const { project = 'shop', version = 3, keys, view, time, features } of rows) {
      const format = new EntityKeyFormat(
        version,
        keys.map(([name, type]) => ({ name, type })),
        project,
      );
      const key = format.encode(keys.map(([, , id]) => id));
      if (key === undefined) throw new Error('the id does not have the declared type');
      if (time !== undefined) await redis.hset(key, timeField(view), feastTime(time));
      for (const [name, value] of Object.entries(features))
        await redis.hset(key, featureField(view, name), value);
    }
  } finally {
    redis.disconnect();
  }
}
