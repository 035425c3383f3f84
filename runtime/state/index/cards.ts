import { MillraceError } from '../../ground/api/errors.js';
import { storedId } from '../../ground/core/entity-id.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import { timeText, timestampOf } from '../../ground/core/timestamp.js';
import { isJsonList, own } from '../../ground/core/value-fit.js';
import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import type { DisplayPath, EntityType } from '../../project/config/model/entities.js';
import type { AllowedHosts } from '../../project/settings/allowed-hosts.js';
import { MAX_BATCH, type EntitiesAnswer } from './entity-index.js';

/** What people see of an entity, by the `display:` of its type. */
export interface Card {
  /** The id, if the entity has no title. */
  readonly title: string;
  readonly subtitle?: string;
  /** An address at a host of `image_hosts`. */
  readonly image?: string;
  /** The host of an image that is not shown, because `image_hosts` does not name it. */
  readonly blocked_host?: string;
  readonly badges?: readonly { readonly name: string; readonly value: Shown }[];
  /** True if the index has no such entity. */
  readonly missing?: true;
}

/** The cards of entities of one type, by id. */
export type CardsById = ReadonlyMap<string, Card>;
type Shown = string | number | boolean;
type Entity = JsonObject | null;

export const NO_CARDS: CardsById = new Map();

const LONGEST_TEXT = 300;

/** The item with the card of its candidate, if there is one. */
export function withCard<T extends object>(
  item: T,
  id: string,
  cards: CardsById,
): T & { readonly card?: Card } {
  const card = cards.get(id);
  return card === undefined ? item : { ...item, card };
}

/** Makes cards from the records of entities. */
export class Cards {
  /** @param read reads at most 1000 entities of a type; null for those that the index does not have */
  constructor(
    private readonly read: (type: string, ids: readonly string[]) => Promise<EntitiesAnswer['entities']>,
    private readonly types: ReadonlyMap<string, EntityType>,
    private readonly imageHosts: AllowedHosts,
  ) {}

  /**
   * Reads the entities at once, and then at once what a path refers to.
   * @returns no cards if the type has no `display:` @throws as `read`
   */
  async of(type: string, ids: Iterable<string>): Promise<CardsById> {
    const display = this.types.get(type)?.display;
    if (display === undefined) return NO_CARDS;
    const found = new Map<string, Map<string, Entity>>();
    const unique = [...new Set(ids)];
    const entities = await this.#entities(type, unique, found);
    const column = async (
      path: DisplayPath | undefined,
      text = shown,
    ): Promise<readonly (Shown | undefined)[]> => {
      if (path === undefined) return [];
      let holders = entities;
      for (const { attribute, entity } of path.references) {
        const refs = holders.map((holder) => idText(valueOf(holder, attribute)));
        holders = await this.#entities(entity, refs, found);
      }
      const { name, type: valueType } = path.attribute;
      return holders.map((holder) => text(valueOf(holder, name), valueType));
    };
    const titles = await column(display.title);
    const subtitles = await column(display.subtitle);
    const images = await column(display.image, firstShown);
    const badges: (readonly [string, readonly (Shown | undefined)[]])[] = [];
    for (const path of display.badges) badges.push([path.text, await column(path)]);
    return new Map(
      unique.map((id, at): [string, Card] => {
        if (entities[at] === null) return [id, { title: id, missing: true }];
        const subtitle = subtitles[at];
        const known = badges.flatMap(([name, values]) => {
          const value = values[at];
          return value === undefined ? [] : [{ name, value: typeof value === 'string' ? cut(value) : value }];
        });
        const card = {
          title: cut(titles[at] ?? id),
          ...(subtitle === undefined ? {} : { subtitle: cut(subtitle) }),
          ...this.#image(images[at]),
          ...(known.length === 0 ? {} : { badges: known }),
        };
        return [id, card];
      }),
    );
  }

  /** Makes cards, or none and a warning if the store fails: what they stand beside is whole without them. */
  async orNone(type: string, ids: Iterable<string>, warn: (message: string) => void): Promise<CardsById> {
    try {
      return await this.of(type, ids);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      warn(`titles are left out: ${error.message}`);
      return NO_CARDS;
    }
  }

  /** @param found what was read for these cards, by type and id */
  async #entities(
    type: string,
    ids: readonly (string | undefined)[],
    found: Map<string, Map<string, Entity>>,
  ): Promise<readonly Entity[]> {
    const known = found.get(type) ?? new Map<string, Entity>();
    found.set(type, known);
    const rule = this.types.get(type);
    const stored = ids.map((id) =>
      id === undefined || idProblem(id) !== undefined ? undefined : storedId(rule, id),
    );
    const left = [...new Set(stored)].filter((id) => id !== undefined && !known.has(id)) as string[];
    for (let from = 0; from < left.length; from += MAX_BATCH) {
      const batch = left.slice(from, from + MAX_BATCH);
      const read = await this.read(type, batch);
      for (const id of batch) known.set(id, own(read, id) as Entity);
    }
    return stored.map((id) => (id === undefined ? null : (known.get(id) ?? null)));
  }

  /** Only whole addresses of http and https. */
  #image(value: Shown | undefined): Pick<Card, 'image' | 'blocked_host'> {
    if (typeof value !== 'string' || !/^https?:\/\//i.test(value) || !URL.canParse(value)) return {};
    const url = new URL(value);
    if (url.username !== '' || url.password !== '') return {};
    return this.imageHosts.allows(url) ? { image: url.href } : { blocked_host: url.host };
  }
}

/** A reference may be stored as `brand_id`. */
function valueOf(entity: Entity, name: string): JsonValue | undefined {
  return entity === null ? undefined : (own(entity, name) ?? own(entity, `${name}_id`));
}

/** The value as people read it. Undefined if there is none, or if what is stored does not fit the declared type. */
function shown(value: JsonValue | undefined, type: ValueType): Shown | undefined {
  if (isJsonList(value)) {
    const texts = value.map((one) => idText(one) ?? '').filter((text) => text !== '');
    return texts.length === 0 ? undefined : texts.join(', ');
  }
  if (type.kind === 'timestamp') {
    const time = timestampOf(value);
    return Number.isNaN(time) ? undefined : timeText(time);
  }
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** The first of a list. */
function firstShown(value: JsonValue | undefined, type: ValueType): Shown | undefined {
  return shown(isJsonList(value) ? value[0] : value, type);
}

function cut(value: Shown): string {
  const text = String(value);
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT).toWellFormed()}…` : text;
}
