import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { IdHasher } from '../../ground/core/id-hasher.js';
import { recordedAttributes } from '../../serve/feedback/recorded-attributes.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { fittedEntity } from '../../project/foreign/fitted-entity.js';
import type { ForeignEntity, ForeignFeedback } from '../../project/foreign/foreign-event.js';

/** Longer texts are not brands or categories. */
const LONGEST_TEXT = 100;

/** The latest short texts and references that a log has for the entities that feedback is about. */
export class KnownEntities {
  readonly #config: ProjectConfig;
  readonly #type: string;
  readonly #known = new Map<string, JsonObject>();
  readonly #recorded: readonly string[];

  constructor(config: ProjectConfig, type: string, hasher: IdHasher) {
    this.#config = config;
    this.#type = type;
    this.#recorded = recordedAttributes(config.counters, config.entities, hasher).get(type) ?? [];
  }

  add({ type, id, values }: ForeignEntity): void {
    const declared = this.#config.entities.get(type);
    if (type !== this.#type || declared === undefined) return;
    const short = Object.entries(fittedEntity({ id, values }, declared)).filter(([name, value]) => {
      const attribute = declared.attributes.get(name);
      const isText = attribute?.type.kind === 'ref' || attribute?.type.kind === 'string';
      return isText && typeof value === 'string' && value.length <= LONGEST_TEXT;
    });
    if (short.length > 0) this.#known.set(id, { ...this.#known.get(id), ...Object.fromEntries(short) });
  }

  /** The attributes that an event carries, so that it counts for the brand that its product had at that time. */
  of(id: string): JsonObject {
    return this.#known.get(id) ?? {};
  }

  /** Adds the references that a rebuild of counters follows, as they were at the time of the event. */
  recorded(event: ForeignFeedback): ForeignFeedback {
    const known = this.of(event.candidate);
    const own = this.#recorded.flatMap((name): [string, JsonValue][] => {
      const value = known[name];
      return value === undefined ? [] : [[`${this.#type}.${name}`, value]];
    });
    return own.length === 0 ? event : { ...event, values: { ...event.values, ...Object.fromEntries(own) } };
  }
}
