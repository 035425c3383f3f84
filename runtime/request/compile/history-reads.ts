import type { InteractionsInput, InteractionsWanted } from '../../ground/api/interactions.js';
import { OptionError } from '../../ground/api/option-error.js';
import type { Input } from '../../ground/api/input.js';
import type { EventKind } from '../../project/config/model/events.js';
import { didYouMean } from '../../ground/core/nearest.js';
import { ANY_SUBJECT, type TrackedFacet } from './tracked-facet.js';
import { historyKey } from '../../state/store/keys.js';
import type { HydrationBuilder, ResolvedPath } from './hydration-builder.js';
import type { HistoryRead } from './plan.js';

/** Events about any entity. */
const ANYTHING = { subject: ANY_SUBJECT, segments: Object.freeze([]), name: ':' };

interface Growing {
  readonly of: string;
  readonly type: string;
  readonly level: number;
  readonly ids: number;
  readonly wants: TrackedFacet[];
}

/** The histories that the components of a pipeline need. Each history is read once per request. */
export class HistoryReads {
  readonly #hydration: HydrationBuilder;
  /** By the slot of the ids. */
  readonly #reads = new Map<number, Growing>();

  /** @param kinds the kinds of feedback of the project */
  constructor(
    hydration: HydrationBuilder,
    private readonly kinds: ReadonlyMap<string, EventKind>,
  ) {
    this.#hydration = hydration;
  }

  /** @throws OptionError with the place `of`, `with` or `value` */
  need({ of, with: by, value, events }: InteractionsWanted): InteractionsInput {
    const owner = this.#ownerOf(of);
    const counted = by === undefined ? ANYTHING : this.#facetOf(by);
    const facet =
      value === undefined ? counted : { ...ANYTHING, subject: counted.subject, name: `:${value.name}` };
    if (value !== undefined) this.#checkValue(value, events);
    const { slot, known } = this.#hydration.want(owner.path);
    const read = this.#reads.get(slot) ?? {
      of: of.text.trim(),
      type: owner.type,
      level: known,
      ids: slot,
      wants: [],
    };
    this.#reads.set(slot, read);
    const unknown = events.find(({ type }) => !this.kinds.has(type));
    if (unknown !== undefined)
      throw new Error(`there is no kind of feedback ${unknown.type}; see BuildContext.eventKinds`);
    for (const { type, window } of events) read.wants.push(Object.freeze({ ...facet, type, window }));
    return Object.freeze({ history: [...this.#reads.keys()].indexOf(slot), ids: slot, facet: facet.name });
  }

  /** The finished reads, in the order of their `index`. */
  build(prefix: string): HistoryRead[] {
    return [...this.#reads.values()].map((read, index) =>
      Object.freeze({ ...read, index, keyPrefix: historyKey(prefix, read.type, '') }),
    );
  }

  #ownerOf({ text }: Input): { readonly path: ResolvedPath; readonly type: string } {
    const path = this.#resolve(text);
    const isOne =
      path !== undefined && !path.list && path.hops.every((hop) => hop.type.kind === 'ref' && !hop.list);
    if (!isOne || path.type.kind !== 'ref' || path.root.scope !== 'request') {
      throw new OptionError(
        ['of'],
        `\`${text}\` is not an entity of the request, such as \`user\``,
        'give the path of one entity that is declared under `request:`',
      );
    }
    return { path, type: path.type.entity };
  }

  #checkValue(
    { name, isNumber }: NonNullable<InteractionsWanted['value']>,
    events: InteractionsWanted['events'],
  ): void {
    if (name === 'position') return;
    const declared = new Map(events.flatMap(({ type }) => [...(this.kinds.get(type)?.values ?? [])]));
    const type = declared.get(name)?.kind;
    const known = [...declared.keys(), 'position'];
    if (type === undefined)
      throw new OptionError(
        ['value'],
        `the events have no value \`${name}\``,
        didYouMean(name, known) ??
          `they have ${known.join(', ')}; \`events:\` in millrace.yaml declares values`,
      );
    if (isNumber && type !== 'int' && type !== 'float')
      throw new OptionError(
        ['value'],
        `\`${name}\` is a value of type ${type}, and only numbers can be summed or be the last`,
        `count its different values: distinct(${name})`,
      );
  }

  #facetOf({ text }: Input): Pick<TrackedFacet, 'subject' | 'segments' | 'name'> {
    const path = this.#resolve(text);
    const { candidates } = this.#hydration;
    const example = `\`${candidates.name}\` itself, or an attribute of it`;
    if (path?.root !== candidates) {
      throw new OptionError(
        ['with'],
        `\`${text}\` is not a path of a candidate`,
        `give ${example}; feedback reads the value from the index`,
      );
    }
    const [first] = path.hops[0]?.path ?? path.path;
    if (first !== undefined && !candidates.entity.attributes.has(first)) {
      throw new OptionError(
        ['with'],
        `\`${text}\` is only sent with rankings, so feedback does not have it`,
        `declare \`${first}\` in the entity type \`${candidates.entity.name}\`, so that feedback can read it from the index`,
      );
    }
    const leaf = path.type.kind === 'list' ? path.type.of.kind : path.type.kind;
    if (leaf !== 'string' && leaf !== 'ref') {
      throw new OptionError(
        ['with'],
        `\`${text}\` is neither an id nor a text`,
        `give ${example} that is an id, a text, or a list of them`,
      );
    }
    const attributes = [...path.hops.flatMap((hop) => hop.path), ...path.path];
    const segments = Object.freeze([candidates.entity.name, ...attributes]);
    return { subject: candidates.entity.name, segments, name: segments.join('.') };
  }

  #resolve(text: string): ResolvedPath | undefined {
    const path = this.#hydration.resolve(text.trim().split('.'));
    return 'problem' in path ? undefined : path;
  }
}
