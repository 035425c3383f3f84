import { didYouMean, endingIn, nearest } from '../../ground/core/nearest.js';
import type { NameProblem } from '../../language/expression/environment.js';

/** The names that a pipeline knows at one place. */
export interface KnownNames {
  /** Entities of the request. */
  readonly roots: readonly string[];
  /** Definitions and params. */
  readonly definitions: readonly string[];
  /** Views that the pipeline requires. */
  readonly views: readonly string[];
  /** Steps that compute something. */
  readonly steps: readonly string[];
  /** Features and outputs, e.g. `view:feature`. */
  readonly features: readonly string[];
  /** Attributes one step away from a root, e.g. `product.price`. */
  readonly attributes: readonly string[];
  /** Features of views that the project has and the pipeline does not require. */
  readonly unrequired: readonly string[];
}

/** The problem of a bare name that has no value. */
export function unknownName(name: string, known: KnownNames): NameProblem {
  const isView = known.views.includes(name);
  if (isView || known.steps.includes(name)) {
    return {
      problem: 'unknown_name',
      message: `\`${name}\` is ${isView ? 'a feature view' : 'a step'}, not a value`,
      help: helpForProducer(name, known),
    };
  }
  const guess = nearestValue(name, known) ?? nearestUnrequired(name, known) ?? nearestProducer(name, known);
  return {
    problem: 'unknown_name',
    message: `nothing here is called \`${name}\``,
    help: guess ?? all(known),
    ...(guess === undefined ? { isPerhapsText: true } : {}),
  };
}

/** The problem of a path whose first segment is unknown. */
export function unknownRoot(name: string, known: KnownNames): NameProblem {
  return {
    problem: 'unknown_name',
    segment: 0,
    message: `nothing here is called \`${name}\``,
    help: didYouMean(name, valuesOf(known)) ?? nearestProducer(name, known) ?? all(known),
  };
}

/** The problem of `name:feature` if neither a view nor a step has the name. */
export function unknownProducer(name: string, feature: string, known: KnownNames): NameProblem {
  const names = [...known.views, ...known.steps];
  return {
    problem: 'unknown_feature',
    message: `no view or step is called \`${name}\``,
    help:
      didYouMean(name, names, (guess) => `\`${guess}:${feature}\``) ??
      (names.length === 0
        ? 'require a feature view under `features:`'
        : `the views and steps are ${names.join(', ')}`),
  };
}

/** The names that have a value by themselves. */
function valuesOf({ roots, definitions }: KnownNames): string[] {
  return [...roots, ...definitions, 'score'];
}

function all(known: KnownNames): string {
  return `the known names are ${valuesOf(known).join(', ')}`;
}

function nearestValue(name: string, known: KnownNames): string | undefined {
  const guess = nearest(name, valuesOf(known));
  if (guess !== undefined) return `did you mean \`${guess}\`?`;
  const values = [...known.features, ...known.attributes];
  const ending = endingIn(name, values);
  if (ending.length > 1) return `did you mean ${oneOf(ending)}?`;
  const value = ending[0] ?? nearest(name, values);
  return value && `did you mean \`${value}\`?`;
}

function nearestUnrequired(name: string, { unrequired }: KnownNames): string | undefined {
  const feature = endingIn(name, unrequired)[0] ?? nearest(name, unrequired);
  const [view = ''] = feature?.split(':', 1) ?? [];
  return feature && `did you mean \`${feature}\`? Add \`- ${view}\` under \`features:\` to use it`;
}

function nearestProducer(name: string, known: KnownNames): string | undefined {
  const producer = nearest(name, [...known.views, ...known.steps]);
  return producer && helpForProducer(producer, known);
}

/** For a view or step that stands where one of its values is wanted. */
function helpForProducer(producer: string, { features }: KnownNames): string {
  const own = features.filter((feature) => feature.startsWith(`${producer}:`));
  return own.length === 0
    ? `write \`${producer}:OUTPUT\`, with the name of an output of that step`
    : `did you mean ${oneOf(own)}?`;
}

const MOST_OFFERED = 4;

function oneOf(names: readonly string[]): string {
  const quoted = names.slice(0, MOST_OFFERED).map((name) => `\`${name}\``);
  const more = names.length > MOST_OFFERED ? ', …' : '';
  const last = quoted.length > 1 && more === '' ? ` or ${quoted.pop() ?? ''}` : '';
  return quoted.join(', ') + last + more;
}
