/**
 * The elements of a list are parsed together in groups of up to this many bytes. For the slowest JSON, JSON.parse takes
 * about 3 ms per group.
 */
const GROUP_BYTES = 32 * 1024;

/** A part of a body: an element of its list, or everything outside the list. */
export interface JsonUnit {
  /** The position in the list; undefined for the part outside the list. */
  readonly element: number | undefined;
  readonly bytes: number;
  /** The number of names, lists and objects in it. They cost the most time to parse, check and store. */
  readonly parts: number;
  /** The number of values of any kind in it. */
  readonly values: number;
  /** The number of strings among its values. */
  readonly texts: number;
}

/** A list in the outermost object, and the offsets of its elements. */
export interface ListSpan {
  /** The offset of the opening bracket, and the offset after the closing bracket. */
  readonly start: number;
  end: number;
  length: number;
  /** The start and end of each group of elements, and the number of elements before it. */
  readonly starts: number[];
  readonly ends: number[];
  readonly firsts: number[];
}

/** The maximum bytes of an escaped ASCII character: `\u0061` is six bytes. A longer name cannot be the list's name. */
const BYTES_OF_CHARACTER = 6;
const BACKSLASH = 0x5c;

/**
 * Divides a body into parts and measures them. The scanner counts and reports where names, lists and elements begin and
 * end. All offsets are in bytes.
 */
export class JsonUnits {
  /** The totals of the body up to here. */
  parts = 0;
  values = 0;
  texts = 0;
  readonly #bytes: Buffer;
  readonly #listName: string | undefined;
  readonly #unit: (unit: JsonUnit) => void;
  /** The offset of the current or last name in the outermost object. */
  #nameAt = 0;
  /** True if the current field of the outermost object has the list's name. */
  #isNamed = false;
  /** The list that is being read. */
  #span: ListSpan | undefined;
  readonly #spans: ListSpan[] = [];
  #list: ListSpan | undefined;
  #elementAt = 0;
  #elementParts = 0;
  #elementValues = 0;
  #elementTexts = 0;
  /** The totals of all lists that were split. */
  #listParts = 0;
  #listValues = 0;
  #listTexts = 0;
  #listBytes = 0;

  /**
   * @param listName the field of the outermost object whose value is split into elements if it is a list; ASCII
   * @param unit called with each part
   */
  constructor(bytes: Buffer, listName: string | undefined, unit: (unit: JsonUnit) => void) {
    this.#bytes = bytes;
    this.#listName = listName;
    this.#unit = unit;
  }

  /** True inside a list that is split. */
  get isInList(): boolean {
    return this.#span !== undefined;
  }

  /** Call it at the opening quote of a name in the outermost object. */
  startName(at: number): void {
    this.#nameAt = at;
  }

  /** An earlier list is dropped if its field has the same name as this one. */
  endName(end: number): void {
    this.#isNamed = this.#isListName(end);
    if (this.#isNamed) this.#list = undefined;
  }

  /** Call it at the opening bracket of a list that is the value of a field of the outermost object. */
  openList(at: number): void {
    if (!this.#isNamed) return;
    this.#span = { start: at, end: at, length: 0, starts: [], ends: [], firsts: [] };
    this.#listParts -= this.parts;
    this.#listValues -= this.values;
    this.#listTexts -= this.texts;
  }

  endList(end: number): void {
    const span = this.#span as ListSpan;
    span.end = end;
    this.#listParts += this.parts;
    this.#listValues += this.values;
    this.#listTexts += this.texts;
    this.#listBytes += end - span.start;
    this.#spans.push(span);
    this.#list = span;
    this.#span = undefined;
  }

  startElement(at: number): void {
    this.#elementAt = at;
    this.#elementParts = this.parts;
    this.#elementValues = this.values;
    this.#elementTexts = this.texts;
  }

  endElement(end: number): void {
    const span = this.#span as ListSpan;
    const start = this.#elementAt;
    const last = span.starts.length - 1;
    if (last >= 0 && end - (span.starts[last] as number) <= GROUP_BYTES) span.ends[last] = end;
    else {
      span.starts.push(start);
      span.ends.push(end);
      span.firsts.push(span.length);
    }
    this.#unit({
      element: span.length,
      bytes: end - start,
      parts: this.parts - this.#elementParts,
      values: this.values - this.#elementValues,
      texts: this.texts - this.#elementTexts,
    });
    span.length++;
  }

  /**
   * Measures the part outside the lists.
   * @returns all lists with the name, in order, and the one that JSON.parse would keep
   */
  end(): { readonly spans: readonly ListSpan[]; readonly list: ListSpan | undefined } {
    this.#unit({
      element: undefined,
      bytes: this.#bytes.length - this.#listBytes,
      parts: this.parts - this.#listParts,
      values: this.values - this.#listValues,
      texts: this.texts - this.#listTexts,
    });
    return { spans: this.#spans, list: this.#list };
  }

  #isListName(end: number): boolean {
    const wanted = this.#listName;
    if (wanted === undefined) return false;
    const bytes = this.#bytes;
    const start = this.#nameAt + 1;
    const length = end - 1 - start;
    if (length < wanted.length || length > BYTES_OF_CHARACTER * wanted.length) return false;
    let isSame = length === wanted.length;
    for (let i = 0; isSame && i < length; i++) isSame = bytes[start + i] === wanted.charCodeAt(i);
    if (isSame) return true;
    // Only a name with an escape can equal the list's name with different bytes.
    const escape = bytes.subarray(start, end - 1).indexOf(BACKSLASH);
    return escape >= 0 && JSON.parse(bytes.toString('utf8', start - 1, end)) === wanted;
  }
}
