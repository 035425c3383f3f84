import type { RecordLayout } from './record-layout.js';

/** The layouts that this process knows, by id. */
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
 * Shared by the whole process. The id of a layout is a hash of its content, so it is valid for every store. Decoders
 * can be built before a store is open.
 */
export const knownLayouts = new KnownLayouts();
