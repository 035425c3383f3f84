import type { ErrorObject } from 'ajv/dist/2020.js';
import { isMap, type Node } from 'yaml';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import type { DiagnosticCode } from '../diagnostics/diagnostic-codes.js';
import type { OptionPath, Places } from './materialise.js';
import type { ParamOptions } from './param-options.js';
import { pointerPath } from './schema-walk.js';
import { foundWords } from './shape-words.js';
import type { Span } from '../yaml/source.js';
import { textOf } from '../yaml/tree.js';

/** The parameters of an ajv error. Each keyword sets its own ones. */
export interface Params {
  readonly additionalProperty?: string;
  readonly unevaluatedProperty?: string;
  readonly missingProperty?: string;
  readonly allowedValues?: readonly JsonValue[];
  readonly limit?: number;
  readonly multipleOf?: number;
  readonly i?: number;
  readonly j?: number;
}

/** What is reported about an error. */
export interface Told {
  readonly code: DiagnosticCode;
  readonly at: Span;
  readonly message: string;
  readonly help?: string | undefined;
}

/** The place of an error, and how messages name it. */
export class Place {
  readonly path: OptionPath;
  readonly node: Node | undefined;
  readonly schema: JsonObject;

  constructor(
    readonly error: ErrorObject,
    readonly places: Places,
    readonly params: ParamOptions | undefined,
  ) {
    this.path = pointerPath(error.instancePath);
    this.node = places.node(this.path);
    this.schema = error.parentSchema ?? {};
  }

  get at(): Span {
    return this.places.value(this.path);
  }

  /** Returns `` `size`: `` and so on; an empty string for the root. */
  get label(): string {
    const last = this.path.at(-1);
    if (last === undefined) return '';
    const isItem = /^\d+$/.test(String(last)) && !isMap(this.places.node(this.path.slice(0, -1)));
    return isItem ? `item ${Number(last) + 1}${this.#ofList()}: ` : `\`${last}\`: `;
  }

  #ofList(): string {
    const list = this.path.at(-2);
    return list === undefined ? '' : ` of \`${list}\``;
  }

  get found(): string {
    const words = foundWords(this.places.file, this.node);
    return this.param === undefined
      ? words
      : `\`${this.param}\`, which ${this.params?.isRange === true ? 'may be' : 'is'} ${String(this.error.data)}`;
  }

  /** The param whose value stands here. */
  get param(): string | undefined {
    const text = textOf(this.node);
    return typeof this.error.data === 'number' && text !== undefined && this.params?.used.has(text) === true
      ? text
      : undefined;
  }
}

/** The report of a value that does not fit. */
export function wrong(place: Place, message: string, help?: string): Told {
  return { code: 'wrong_type', at: place.at, message: place.label + message, help };
}
