/**
 * Writes WebAssembly modules in their binary format (WebAssembly core specification 2.0, chapter 5). It supports what
 * the tree programs need.
 */

/** Opcodes without a prefix. */
export const OP = {
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  brIf: 0x0d,
  call: 0x10,
  select: 0x1b,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  i32Load: 0x28,
  i64Load: 0x29,
  f32Load: 0x2a,
  f64Load: 0x2b,
  i32Load8U: 0x2d,
  i32Load16U: 0x2f,
  f32Store: 0x38,
  f64Store: 0x39,
  i32Store: 0x36,
  i32Store8: 0x3a,
  i32Const: 0x41,
  f64Const: 0x44,
  i32Eq: 0x46,
  i32Ne: 0x47,
  i32LtU: 0x49,
  i32LeU: 0x4d,
  i64GtS: 0x55,
  f64Eq: 0x61,
  f64Ne: 0x62,
  f64Lt: 0x63,
  f64Le: 0x65,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i32Mul: 0x6c,
  i32And: 0x71,
  i32Or: 0x72,
  i32Shl: 0x74,
  i32ShrU: 0x76,
  f32Add: 0x92,
  f64Abs: 0x99,
  f64Add: 0xa0,
  f64Mul: 0xa2,
  f32DemoteF64: 0xb6,
  f64PromoteF32: 0xbb,
} as const;

/** Opcodes after the prefix 0xfd. */
export const SIMD = {
  load: 0x00,
  store: 0x0b,
  const: 0x0c,
  not: 0x4d,
  and: 0x4e,
  andnot: 0x4f,
  or: 0x50,
  xor: 0x51,
  bitselect: 0x52,
  i16x8ExtendLowI8x16U: 0x89,
  i16x8ExtendHighI8x16U: 0x8a,
  i16x8Shl: 0x8b,
  i16x8ShrU: 0x8d,
  f64x2Add: 0xf0,
  f64x2Mul: 0xf2,
} as const;

export const TYPE = { i32: 0x7f, f64: 0x7c, v128: 0x7b, empty: 0x40 } as const;
export type ValueTypeCode = (typeof TYPE)['i32' | 'f64' | 'v128'];

/** The logarithm of the size in bytes that each load and store accesses, as its alignment hint. */
const ALIGNMENT: Readonly<Record<number, number>> = {
  [OP.i32Load]: 2,
  [OP.i64Load]: 3,
  [OP.f32Load]: 2,
  [OP.f64Load]: 3,
  [OP.i32Load8U]: 0,
  [OP.i32Load16U]: 1,
  [OP.i32Store]: 2,
  [OP.f32Store]: 2,
  [OP.f64Store]: 3,
  [OP.i32Store8]: 0,
};

/** A growing byte array. */
export class Bytes {
  #bytes = new Uint8Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A view of the written bytes. It is valid until the next write. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  byte(...values: readonly number[]): this {
    for (const value of values) {
      if (this.#length === this.#bytes.length) this.#grow(1);
      this.#bytes[this.#length++] = value;
    }
    return this;
  }

  append(bytes: Uint8Array): this {
    if (this.#length + bytes.length > this.#bytes.length) this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** LEB128, unsigned, below 2^32. */
  u32(value: number): this {
    let rest = value;
    while (rest > 0x7f) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    return this.byte(rest);
  }

  /** LEB128, signed. */
  i32(value: number): this {
    let rest = value;
    while (rest < -64 || rest > 63) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>= 7;
    }
    return this.byte(rest & 0x7f);
  }

  text(value: string): this {
    const bytes = new TextEncoder().encode(value);
    return this.u32(bytes.length).append(bytes);
  }

  #grow(by: number): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + by));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** One function. Its parameters are the first locals. */
export class FunctionWriter {
  readonly #code = new Bytes();
  readonly #locals: ValueTypeCode[] = [];

  /** @param parameters the number of i32 parameters */
  constructor(readonly parameters: number) {}

  local(type: ValueTypeCode): number {
    this.#locals.push(type);
    return this.parameters + this.#locals.length - 1;
  }

  op(...codes: readonly number[]): this {
    this.#code.byte(...codes);
    return this;
  }

  get(local: number): this {
    return this.#with(OP.localGet, local);
  }

  set(local: number): this {
    return this.#with(OP.localSet, local);
  }

  tee(local: number): this {
    return this.#with(OP.localTee, local);
  }

  call(index: number): this {
    return this.#with(OP.call, index);
  }

  i32(value: number): this {
    this.#code.byte(OP.i32Const).i32(value);
    return this;
  }

  /** `local += value` */
  increase(local: number, value: number): this {
    return this.get(local).i32(value).op(OP.i32Add).set(local);
  }

  f64(value: number): this {
    this.#code.byte(OP.f64Const).append(new Uint8Array(Float64Array.of(value).buffer));
    return this;
  }

  /** A scalar load or store at the address on the stack plus `offset`. */
  memory(code: number, offset: number): this {
    this.#code
      .byte(code)
      .u32(ALIGNMENT[code] ?? 0)
      .u32(offset);
    return this;
  }

  simd(code: number): this {
    this.#code.byte(0xfd).u32(code);
    return this;
  }

  simdLoad(offset: number): this {
    this.#code.byte(0xfd).u32(SIMD.load).u32(4).u32(offset);
    return this;
  }

  simdStore(offset: number): this {
    this.#code.byte(0xfd).u32(SIMD.store).u32(4).u32(offset);
    return this;
  }

  /** 16 bytes with the same value. */
  splat(byte: number): this {
    this.#code.byte(0xfd).u32(SIMD.const).append(new Uint8Array(16).fill(byte));
    return this;
  }

  /** memory.fill */
  fill(): this {
    this.#code.byte(0xfc, 0x0b, 0x00);
    return this;
  }

  /** A loop. `body` leaves the condition for the next round on the stack. */
  loopWhile(body: () => void): this {
    this.op(OP.loop, TYPE.empty);
    body();
    return this.op(OP.brIf, 0, OP.end);
  }

  #with(code: number, index: number): this {
    this.#code.byte(code).u32(index);
    return this;
  }

  /** Local declarations and code, preceded by their length. */
  encode(): Bytes {
    const body = new Bytes();
    const runs: { type: number; count: number }[] = [];
    for (const type of this.#locals) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    body.u32(runs.length);
    for (const { type, count } of runs) body.u32(count).byte(type);
    body.append(this.#code.written).byte(OP.end);
    return new Bytes().u32(body.length).append(body.written);
  }
}

/**
 * A module that imports its memory as `env.memory` and exports some of its functions. They return nothing.
 * @param functions in the order of their indexes
 * @param exported function indexes by name
 */
export function encodeModule(
  functions: readonly FunctionWriter[],
  exported: Readonly<Record<string, number>>,
): Uint8Array<ArrayBuffer> {
  const most = Math.max(0, ...functions.map(({ parameters }) => parameters));
  const types = new Bytes().u32(most + 1);
  for (let parameters = 0; parameters <= most; parameters++) {
    types.byte(0x60).u32(parameters);
    for (let i = 0; i < parameters; i++) types.byte(TYPE.i32);
    types.u32(0);
  }
  const imports = new Bytes().u32(1).text('env').text('memory').byte(0x02, 0x00).u32(1);
  const declared = new Bytes().u32(functions.length);
  for (const { parameters } of functions) declared.u32(parameters);
  const exports = new Bytes().u32(Object.keys(exported).length);
  for (const [name, index] of Object.entries(exported)) exports.text(name).byte(0x00).u32(index);
  const code = new Bytes().u32(functions.length);
  for (const one of functions) code.append(one.encode().written);
  const module = new Bytes().byte(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);
  const sections: readonly (readonly [number, Bytes])[] = [
    [1, types],
    [2, imports],
    [3, declared],
    [7, exports],
    [10, code],
  ];
  for (const [id, section] of sections) module.byte(id).u32(section.length).append(section.written);
  return module.written.slice();
}
