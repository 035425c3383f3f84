/** Cases of the expression language: each form of each function and operator, on each place of its values. */
import { kindOf, languageForms, type LanguageForm } from '../../support/expression-forms.js';
import { languageEntry, languageOf } from '../../../runtime/ground/text/languages.js';
import { FUNCTIONS } from '../../../runtime/language/expression/functions/registry.js';
import { OPERATORS } from '../../../runtime/language/expression/operator-domains.js';
import {
  type Bound,
  bodyOf,
  type Layout,
  LAYOUTS,
  nameOf,
  pipelineFile,
  type Place,
  RANKING_LIMIT,
} from './columns.js';
import type { GrowingCase } from './load.js';
import { ELEMENT_SIZES, grows, SHAPES } from './values.js';

/** The functions and operators that the cases must cover. */
export function languageToCover(): readonly string[] {
  return [
    ...Array.from(FUNCTIONS.keys(), (name) => `function ${name}`),
    ...Object.keys(OPERATORS).map((op) => `operator ${op}`),
  ];
}

export interface Generated {
  /** The files of the pipelines. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly cases: readonly GrowingCase[];
}

/** The pipelines and cases of all forms. */
export function languageCases(forms: readonly LanguageForm[] = languageForms()): Generated {
  const files: Record<string, string> = {};
  const cases: GrowingCase[] = [];
  let turn = 0;
  for (const form of forms) {
    for (const places of placesOf(form)) {
      const name = `generated_${Object.keys(files).length}`;
      const bounds = form.takes.map((argument, role): Bound => ({
        argument,
        role,
        place: places[role] ?? 'request',
      }));
      const written = bounds.map((bound) => writtenOr(bound, turn));
      const text = form.write(written);
      const perByteNs = written.some(isSegmented) ? SEGMENTED_NS : undefined;
      Object.assign(files, pipelineFile(name, { use: 'score', with: { value: `if(known(${text}), 1, 0)` } }));
      const valued = bounds.filter(({ argument }) => kindOf(argument) !== undefined);
      for (const shape of shapesOf(form)) {
        for (const layout of layoutsOf(valued, turn++)) {
          const elements = ELEMENT_SIZES[turn % ELEMENT_SIZES.length] ?? '';
          cases.push({
            covers: `${form.isOperator ? 'operator' : 'function'} ${form.of}`,
            what: `${text}: ${shape}, ${layout}`,
            file: `pipelines/${name}.yaml`,
            limit: RANKING_LIMIT,
            ...(perByteNs !== undefined && { perByteNs }),
            make: (bytes, seed) =>
              bodyOf(`/api/v1/${name}`, valued, layout, { shape, elements }, bytes, seed),
          });
        }
      }
    }
  }
  for (const form of forms)
    for (const place of form.takes.some(grows)
      ? (['candidate', 'request'] as const)
      : (['candidate'] as const))
      addWide(files, cases, form, place);
  Object.assign(files, pipelineFile('chain', { use: 'score', when: CHAIN, with: { value: '1' } }));
  cases.push({
    covers: 'operator or',
    what: 'a long chain of conditions on a text of the request',
    file: 'pipelines/chain.yaml',
    isBaseline: true,
    limit: RANKING_LIMIT,
    make: (bytes, seed) =>
      bodyOf('/api/v1/chain', CHAINED, 'two candidates', { shape: 'words', elements: '' }, bytes, seed),
  });
  return { files, cases };
}

/** CPU a byte where a dictionary of ICU finds the words: it takes 150 ns itself, and its words are then read as others are. */
const SEGMENTED_NS = 600;

/** Whether an argument is a language whose words have no spaces between them. */
function isSegmented(literal: string): boolean {
  const language = /^"\w+"$/.test(literal) ? languageOf(literal.slice(1, -1)) : undefined;
  return language !== undefined && languageEntry(language).unspaced === true;
}

/** The text of an argument: a literal, or its column. */
function writtenOr(bound: Bound, turn: number): string {
  return typeof bound.argument === 'object' && 'written' in bound.argument
    ? (bound.argument.written[turn % bound.argument.written.length] ?? '')
    : nameOf(bound);
}

/** A case of a form in a long condition: of each candidate, or of the step as a whole. */
function addWide(
  files: Record<string, string>,
  cases: GrowingCase[],
  form: LanguageForm,
  place: 'candidate' | 'request',
): void {
  const name = `wide_${cases.length}`;
  const bounds = form.takes.map((argument, role): Bound => ({ argument, role, place }));
  const text = form.write(bounds.map((bound) => writtenOr(bound, 0)));
  const condition = wide(`known(${text})`);
  const step =
    place === 'request'
      ? { use: 'score', when: condition, with: { value: '1' } }
      : { use: 'score', with: { value: `if(${condition}, 1, 0)` } };
  Object.assign(files, pipelineFile(name, step));
  const valued = bounds.filter(({ argument }) => kindOf(argument) !== undefined);
  const layout = place === 'request' ? 'two candidates' : 'many candidates';
  cases.push({
    covers: `${form.isOperator ? 'operator' : 'function'} ${form.of}`,
    what: `${text}: words, ${layout}, in a wide condition`,
    file: `pipelines/${name}.yaml`,
    isWide: true,
    limit: RANKING_LIMIT,
    make: (bytes, seed) =>
      bodyOf(`/api/v1/${name}`, valued, layout, { shape: 'words', elements: 'short elements' }, bytes, seed),
  });
}

/** A condition of many equal parts: as long as an expression can be, or as deep. */
function wide(part: string): string {
  const count = Math.min(240, Math.floor(9_900 / (part.length + 9)));
  return Array.from({ length: count }, () => `not ${part}`).join(' or ');
}

/** A condition that is about as long as an expression can be: each part takes little, and all together much. */
const CHAIN = Array.from({ length: 240 }, (_, i) => `contains(owner.text_0, "${i}#")`).join(' or ');
const CHAINED: readonly Bound[] = [{ argument: 'text', place: 'request', role: 0 }];

/** Whose values the arguments are. Values that do not grow are the candidates'. */
function placesOf({ takes }: LanguageForm): readonly (readonly Place[])[] {
  const growing = takes.filter(grows).length;
  const all = (place: Place): Place[] => takes.map(() => place);
  if (growing === 0) return [all('candidate')];
  const single = (['candidate', 'request', 'shared'] as const).map(all);
  if (takes.length === 1) return single;
  const mixed = (first: Place, others: Place): Place[] => takes.map((_, i) => (i === 0 ? first : others));
  return [
    ...single,
    mixed('candidate', 'request'),
    mixed('request', 'candidate'),
    mixed('candidate', 'shared'),
    mixed('shared', 'candidate'),
  ];
}

/** Without texts there is one shape. */
function shapesOf({ takes }: LanguageForm): readonly string[] {
  const hasText = takes.some((argument) => ['text', 'texts'].includes(kindOf(argument) ?? ''));
  return hasText ? Object.keys(SHAPES) : ['words'];
}

/** The layouts in turn; one is enough where the candidates have no values that grow. */
function layoutsOf(bounds: readonly Bound[], turn: number): readonly Layout[] {
  const names = Object.keys(LAYOUTS);
  const growing = bounds.filter(({ argument }) => grows(argument));
  if (growing.length === 0) return ['many candidates'];
  return [names[turn % names.length] ?? 'many candidates'];
}
