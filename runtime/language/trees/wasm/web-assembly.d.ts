/**
 * The part of WebAssembly's JavaScript interface that the runtime uses. TypeScript declares it only in its DOM types.
 */
declare namespace WebAssembly {
  class Memory {
    constructor(limits: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
  }
  type Imports = Readonly<Record<string, Readonly<Record<string, Memory>>>>;
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
    readonly [Symbol.toStringTag]: 'WebAssembly.Module';
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
  function instantiate(module: Module, imports: Imports): Promise<Instance>;
}
