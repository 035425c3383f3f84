import type { FeatureDefinition, FeatureView } from '../../project/config/model/views.js';
import { MillraceError } from '../../ground/api/errors.js';
import { unknownName } from '../../ground/core/body-fields.js';

type Views = ReadonlyMap<string, FeatureView>;

/** What a caller of Feast's endpoints named, and the project does not have. */
export type FeastObject = 'view' | 'service' | 'push source';

/** The project has nothing with the name that a caller used. */
export class UnknownFeastName extends MillraceError {
  constructor(
    readonly kind: FeastObject,
    detail: string,
  ) {
    super('unknown_view', detail);
  }
}

/**
 * Feature views by their names: those of the project, and those that Feast's clients use. A name of the project comes
 * first.
 */
export class ViewNames {
  readonly #views: Views;
  readonly #byFeast = new Map<string, FeatureView>();
  readonly #services = new Map<string, readonly string[]>();
  readonly #pushed = new Map<string, readonly FeatureView[]>();

  constructor(views: Views) {
    this.#views = views;
    for (const view of views.values()) {
      const { source, feast } = view;
      this.#byFeast.set(source?.view ?? feast?.view ?? view.name, view);
      for (const [service, features] of feast?.services ?? [])
        add(
          this.#services,
          service,
          features.map((feature) => `${feastViewName(view)}:${feastFeatureName(view, feature)}`),
        );
      for (const source of feast?.push ?? []) add(this.#pushed, source, [view]);
    }
  }

  find(name: string): FeatureView | undefined {
    return this.#views.get(name) ?? this.#byFeast.get(name);
  }

  /** @throws MillraceError unknown_view */
  view(name: string, field: string): FeatureView {
    return (
      this.find(name) ??
      unknown('view', field, 'feature view', name, new Set([...this.#views.keys(), ...this.#byFeast.keys()]))
    );
  }

  /** The features of a feature service as `view:feature`, by Feast's names. @throws MillraceError unknown_view */
  service(name: string): readonly string[] {
    return (
      this.#services.get(name) ??
      unknown('service', 'feature_service', 'feature service', name, this.#services.keys())
    );
  }

  /** The views that a push source writes to. @throws MillraceError unknown_view */
  pushed(name: string): readonly FeatureView[] {
    return (
      this.#pushed.get(name) ??
      unknown('push source', 'push_source_name', 'push source', name, this.#pushed.keys())
    );
  }
}

const known = new WeakMap<Views, ViewNames>();

/** The names of a project's views. They are collected once for each project. */
export function viewNames(views: Views): ViewNames {
  let names = known.get(views);
  if (names === undefined) known.set(views, (names = new ViewNames(views)));
  return names;
}

/** Returns the feature with a name of the project, or with a name of Feast. */
export function featureNamed(view: FeatureView, name: string): FeatureDefinition | undefined {
  const own = view.features.get(name);
  if (own !== undefined) return own;
  for (const [feature, feast] of (view.source ?? view.feast)?.fields ?? [])
    if (feast === name) return view.features.get(feature);
  return undefined;
}

export function feastViewName({ source, feast, name }: FeatureView): string {
  return source?.view ?? feast?.view ?? name;
}

export function feastFeatureName({ source, feast }: FeatureView, feature: string): string {
  return (source ?? feast)?.fields.get(feature) ?? feature;
}

/** Feast's name of the join key at a position in the view; undefined if it is the key of the entity type. */
export function joinKeyName({ source, feast }: FeatureView, position: number): string | undefined {
  return source?.joinKeys[position]?.name ?? feast?.joinKeys?.[position];
}

function add<T>(lists: Map<string, readonly T[]>, name: string, more: readonly T[]): void {
  lists.set(name, [...(lists.get(name) ?? []), ...more]);
}

function unknown(
  kind: FeastObject,
  field: string,
  what: string,
  name: string,
  names: Iterable<string>,
): never {
  const none = 'schemas/features declares none';
  throw new UnknownFeastName(kind, unknownName(field, what, name, names, none));
}
