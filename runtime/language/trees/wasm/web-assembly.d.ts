/**
 * The part of WebAssembly's JavaScript interface that the runtime uses. TypeScript declares it only in its DOM types.
 */
declare namespace WebAssembly {
  class Memory {
    constructor(limits: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
  }
  interface Module {
    readonly [Symbol.toStringTag]: 'WebAssembly.Module';
  }
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>;
  }
  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
  function instantiate(
    module: Module,
    imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
  ): Promise<Instance>;
}
