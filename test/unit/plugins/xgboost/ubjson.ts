/** Writes UBJSON like XGBoost: lists with one type of number as typed arrays, and integers as int64. */
export function writeUbjson(value: unknown): Buffer {
  if (value === null) return Buffer.from('Z');
  if (typeof value === 'boolean') return Buffer.from(value ? 'T' : 'F');
  if (typeof value === 'string') return Buffer.concat([Buffer.from('S'), text(value)]);
  if (typeof value === 'number') return Buffer.concat([Buffer.from('D'), float64(value)]);
  if (Array.isArray(value)) {
    const list = value as readonly unknown[];
    if (list.length > 0 && list.every((one) => typeof one === 'number')) {
      const parts = list.map((one) => {
        const bytes = Buffer.alloc(4);
        bytes.writeFloatBE(one);
        return bytes;
      });
      return Buffer.concat([Buffer.from('[$d#'), length(list.length), ...parts]);
    }
    return Buffer.concat([Buffer.from('[#'), length(list.length), ...list.map(writeUbjson)]);
  }
  const entries = Object.entries(value as object).flatMap(([key, one]) => [text(key), writeUbjson(one)]);
  return Buffer.concat([Buffer.from('{'), ...entries, Buffer.from('}')]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([length(bytes.length), bytes]);
}

function length(value: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.write('L');
  bytes.writeBigInt64BE(BigInt(value), 1);
  return bytes;
}

function float64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
