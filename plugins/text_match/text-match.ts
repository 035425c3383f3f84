import {
  type Advice,
  analyzerText,
  type FeatureComponent,
  type Input,
  inTurns,
  isKnown,
  type Pieces,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
  type WarmNotices,
  type SynonymRule,
} from 'millrace/api';
import type { Bm25Parameters } from './search.js';
import type { FieldGroup } from './fields.js';
import { GroupSearch } from './group-search.js';
import { inverseFrequencies, search, type Part, type SearchedPart } from './search.js';
import { copyOf } from './searched-texts.js';
import type { UsedStatistics } from './used-statistics.js';
import { OUTPUTS, writeMatches, type Found } from './write-matches.js';

/** How long a search runs before its first pause, which copies its inputs, in milliseconds. */
const FIRST_MS = 6;

export interface TextMatchSettings extends Bm25Parameters {
  readonly query: Input<'text'>;
  /** At least one. */
  readonly groups: readonly FieldGroup[];
  readonly synonyms?: readonly SynonymRule[] | undefined;
  /** Undefined: the statistics of the candidates of the request. */
  readonly statistics?: UsedStatistics | undefined;
  readonly advice?: readonly Advice[];
}

/** Computes how well each candidate's texts match the query. */
export class TextMatch implements FeatureComponent {
  readonly outputs = OUTPUTS;
  readonly #settings: TextMatchSettings;
  readonly notes: readonly string[];
  readonly advice: readonly Advice[];
  readonly #groups: readonly GroupSearch[];

  constructor(settings: TextMatchSettings) {
    this.#settings = settings;
    const { groups, statistics, synonyms } = settings;
    this.notes = [
      ...groups.map((group) => wordsNote(group, groups.length)),
      `statistics: ${statistics?.text ?? 'the candidates of each request'}`,
    ];
    this.advice = settings.advice ?? [];
    this.#groups = groups.map(
      (group, g) => new GroupSearch(group, synonyms, statistics?.content.analyzers[g]),
    );
  }

  warm(notices: WarmNotices): void {
    const { warning } = this.#settings.statistics ?? {};
    if (warning !== undefined) notices.warn(warning.message, warning.help);
  }

  compute(input: StepInput, output: StepOutput): void | Promise<void> {
    const found: Found = {
      bm25: output.number('bm25'),
      overlap: output.number('overlap'),
      phrase: output.number('phrase'),
      coverage: output.number('coverage'),
      proximity: output.number('proximity'),
      first: output.number('first'),
    };
    const { values, status } = input.column(this.#settings.query);
    const known = isKnown(status[0]);
    const query = values[0] ?? '';
    const parts = known ? this.#groups.map((group) => group.partOf(query, input)) : [];
    if (parts.every((part) => part.query.length === 0)) {
      // With an empty query the outputs are absent. That is different from a query without matches.
      const without = known ? Status.absent : statusAt(status, 0);
      const columns = Object.values(found);
      for (const row of input.rows) for (const column of columns) column.status[row] = without;
      return;
    }
    const work = this.#match(parts, found);
    if (work.next().done === true) return undefined;
    // The texts are long, so other requests run between the slices. This request therefore copies its inputs, and other
    // requests get new scratch memory.
    for (const group of this.#groups) group.renewMemory();
    for (const { texts } of parts) {
      texts.rows = texts.rows.slice();
      texts.columns = texts.columns.map(copyOf);
    }
    return inTurns(work);
  }

  *#match(parts: readonly Part[], found: Found): Pieces<void> {
    const until = performance.now() + FIRST_MS;
    const searched: SearchedPart[] = [];
    for (const part of parts) {
      const fields = yield* search(part, until);
      searched.push({ part, fields, idf: inverseFrequencies(part, fields) });
    }
    writeMatches(searched, this.#settings, found);
  }
}

function wordsNote({ fields, analyzer }: FieldGroup, groups: number): string {
  const of = groups === 1 ? '' : ` of ${fields.map(({ input }) => input.text).join(', ')}`;
  return `words${of}: ${analyzerText(analyzer)}`;
}
