import type { RecordLayout } from './record-layout.js';

/** The layouts that this process has met, by id. */
export class KnownLayouts {
  readonly #byHex = new Map<string, RecordLayout>();

  add(layout: RecordLayout): RecordLayout {
    const known = this.#byHex.get(layout.hex);
    if (known !== undefined) return known;
    this.#byHex.set(layout.hex, layout);
    return layout;
  }

  get(hex: string): RecordLayout | undefined {
    return this.#byHex.get(hex);
  }
}

/**
 * Shared by the whole process: a layout's id says what it holds, so that one store's layouts cannot be wrong for
 * another, and decoders can be built before there is a store.
 */
export const knownLayouts = new KnownLayouts();
