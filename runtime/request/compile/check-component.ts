import type { ComponentKind } from '../../ground/api/plugin.js';
import { OUTPUT_KINDS, type OutputKind, type RuleComponent } from '../../ground/api/component.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { nameHelp } from '../../project/config/project/marks.js';
import { nearest } from '../../ground/core/nearest.js';

/** The method that does the work of a component, by kind. */
const WORK: Readonly<Record<ComponentKind, string>> = {
  feature: 'compute',
  model: 'compute',
  filter: 'select',
  rule: 'apply',
  effect: 'run',
  retriever: 'retrieve',
};

/** The output that the runtime adds to those of a retriever. */
export const PLACE = 'place';

/** The outputs of a component with those that the runtime adds. */
export function allOutputs<O extends Readonly<Record<string, OutputKind>>>(
  outputs: O,
  kind: ComponentKind,
): O | (O & { readonly [PLACE]: 'number' }) {
  return kind === 'retriever' ? { ...outputs, [PLACE]: 'number' } : outputs;
}

/** What `scoring` of a rule says about scores; also for the docs. */
export const RULE_SCORINGS: Readonly<Record<NonNullable<RuleComponent['scoring']>, string>> = {
  sets: 'gives each candidate a new score, and reports those that it left without one',
  changes: 'changes the scores that there are, for example by addition',
  scales: 'multiplies the scores that there are, so a score of 0 stays 0',
  keeps: 'changes no score: only the order, or which candidates are there',
};

export interface ComponentFault {
  readonly message: string;
  readonly help?: string;
}

/** The faults of a value that `create` returned. A component of the kind has none. */
export function componentFaults(created: unknown, kind: ComponentKind): ComponentFault[] {
  const work = WORK[kind];
  if (typeof created !== 'object' || created === null)
    return [
      {
        message: `\`create\` returned ${nameOf(created)}: a ${kind} is an object with \`${work}\``,
        ...(created === undefined ? { help: 'return the component from `create`' } : {}),
      },
    ];
  const component = created as Readonly<Record<string, unknown>>;
  const faults: ComponentFault[] = [];
  const isServed =
    kind === 'effect' && typeof component.served === 'function' && component[work] === undefined;
  if (typeof component[work] !== 'function' && !isServed) faults.push(withoutWork(component, kind));
  if (kind === 'feature' || kind === 'model' || kind === 'retriever')
    faults.push(...outputFaults(component.outputs, kind));
  const { scoring } = component;
  if (
    kind === 'rule' &&
    scoring !== undefined &&
    !Object.keys(RULE_SCORINGS).some((known) => known === scoring)
  ) {
    const guess = typeof scoring === 'string' ? nearest(scoring, Object.keys(RULE_SCORINGS)) : undefined;
    faults.push({
      message: `the component's \`scoring\` is ${nameOf(scoring)}: expected one of ${Object.keys(RULE_SCORINGS).join(', ')}`,
      ...(guess === undefined ? {} : { help: `did you mean \`${guess}\`?` }),
    });
  }
  for (const name of ['warm', 'close'] as const)
    if (component[name] !== undefined && typeof component[name] !== 'function')
      faults.push({
        message: `the component's \`${name}\` is ${nameOf(component[name])}: expected a function`,
      });
  if (component.version !== undefined && typeof component.version !== 'string')
    faults.push({
      message: `the component's \`version\` is ${nameOf(component.version)}: expected a text`,
      help: "use the `version` of the model's file",
    });
  return faults;
}

function withoutWork(component: Readonly<Record<string, unknown>>, kind: ComponentKind): ComponentFault {
  const work = WORK[kind];
  const message = `the component that \`create\` returned has no \`${work}\`: a ${kind} must have it`;
  const others = Object.keys(WORK) as ComponentKind[];
  const other = others.find((one) => typeof component[WORK[one]] === 'function');
  return other === undefined
    ? { message }
    : { message, help: `it has \`${WORK[other]}\`: give the plugin the kind \`${other}\`` };
}

function outputFaults(outputs: unknown, kind: ComponentKind): ComponentFault[] {
  if (typeof outputs !== 'object' || outputs === null || Array.isArray(outputs))
    return [
      {
        message: `the component's \`outputs\` are ${nameOf(outputs)}: a ${kind} must declare the columns that it writes`,
        help: "for example { value: 'number' }",
      },
    ];
  return Object.entries(outputs as Readonly<Record<string, unknown>>).flatMap(([name, is]) => {
    const faults: ComponentFault[] = [];
    if (!NAME_PATTERN.test(name))
      faults.push({ message: `\`${name}\` cannot be the name of an output`, help: nameHelp(name) });
    if (kind === 'retriever' && name === PLACE)
      faults.push({
        message: `the output \`${PLACE}\` is that of the runtime`,
        help: 'give it another name',
      });
    const kinds = kind === 'retriever' ? OUTPUT_KINDS.slice(0, 1) : OUTPUT_KINDS;
    if (!kinds.some((known) => known === is)) {
      const guess = typeof is === 'string' ? nearest(is, kinds) : undefined;
      faults.push({
        message: `the output \`${name}\` has the kind ${nameOf(is)}: expected ${kinds.length > 1 ? 'one of ' : ''}${kinds.join(', ')}`,
        ...(guess === undefined ? {} : { help: `did you mean \`${guess}\`?` }),
      });
    }
    return faults;
  });
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return `\`${String(value)}\``;
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return `a ${typeof value}`;
}
