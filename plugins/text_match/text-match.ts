import {
  Analyzer,
  analyzerText,
  languageOf,
  type AnalyzerSettings,
  type FeatureComponent,
  type Input,
  inTurns,
  isKnown,
  type Pieces,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
} from 'millrace/api';
import type { Bm25Parameters } from './bm25.js';
import { QueryTerms } from './query-terms.js';
import { inverseFrequencies, search } from './search.js';
import { copyOf, type Texts } from './searched-texts.js';
import type { TextStatistics } from './statistics.js';
import { Synonyms, type SynonymRule } from './synonyms.js';
import { TextScan } from './text-scan.js';
import { OUTPUTS, writeMatches, type Found } from './write-matches.js';

/** A text, or list of texts, of the candidates to search in. */
export interface SearchedField {
  readonly input: Input<'text' | 'texts'>;
  /** The weight of an occurrence in this field, relative to the other fields. */
  readonly weight: number;
}

export interface TextMatchSettings extends Bm25Parameters {
  readonly query: Input<'text'>;
  readonly fields: readonly SearchedField[];
  /** How texts become words. */
  readonly analyzer: AnalyzerSettings;
  /** A text of the request that names another language, where it is known. */
  readonly languageFrom?: Input<'text'> | undefined;
  readonly synonyms?: readonly SynonymRule[] | undefined;
  /** Undefined: the statistics of the candidates of the request. */
  readonly statistics: TextStatistics | undefined;
  /** Which statistics these are, for `millrace plan`. */
  readonly statisticsText?: string | undefined;
}

/** An analyzer, and the synonyms as its tokens. */
interface Language {
  readonly analyzer: Analyzer;
  readonly synonyms: Synonyms | undefined;
}

/** Computes how well each candidate's texts match the query. */
export class TextMatch implements FeatureComponent {
  readonly outputs = OUTPUTS;
  readonly #settings: TextMatchSettings;
  readonly notes: readonly string[];
  readonly #weights: readonly number[];
  /** By language; made when a request has it first. There are as many as there are languages. */
  readonly #languages = new Map<AnalyzerSettings['language'], Language>();
  /** Scratch memory that all requests share. It is filled and read without an await between. */
  #scans: readonly TextScan[];

  constructor(settings: TextMatchSettings) {
    this.#settings = settings;
    this.notes = [
      `words: ${analyzerText(settings.analyzer)}`,
      `statistics: ${settings.statisticsText ?? 'the candidates of each request'}`,
    ];
    this.#language(settings.analyzer.language);
    this.#weights = settings.fields.map(({ weight }) => weight);
    this.#scans = settings.fields.map(() => new TextScan());
  }

  compute(input: StepInput, output: StepOutput): void | Promise<void> {
    const columns = this.#settings.fields.map((field) => input.column(field.input));
    const found: Found = {
      bm25: output.number('bm25'),
      overlap: output.number('overlap'),
      phrase: output.number('phrase'),
      coverage: output.number('coverage'),
      proximity: output.number('proximity'),
      first: output.number('first'),
    };
    const text = input.column(this.#settings.query);
    const known = isKnown(text.status[0]);
    const { analyzer, synonyms } = this.#languageOf(input);
    const query = known ? new QueryTerms(text.values[0] ?? '', analyzer, synonyms) : undefined;
    if (query === undefined || query.length === 0) {
      // With an empty query the outputs are absent. That is different from a query without matches.
      const status = known ? Status.absent : statusAt(text.status, 0);
      const columns = Object.values(found);
      for (const row of input.rows) for (const column of columns) column.status[row] = status;
      return;
    }
    const texts = { count: input.count, rows: input.rows, columns };
    const work = this.#match(texts, query, analyzer, found);
    if (work.next().done === true) return undefined;
    // The texts are long, so other requests run between the slices. This request therefore copies its inputs, and other
    // requests get new scratch memory.
    this.#scans = this.#settings.fields.map(() => new TextScan());
    texts.rows = texts.rows.slice();
    texts.columns = columns.map(copyOf);
    return inTurns(work);
  }

  /** The language of the request; the one of the step if the request has none, or one that is not known. */
  #languageOf(input: StepInput): Language {
    const { analyzer, languageFrom } = this.#settings;
    if (languageFrom === undefined) return this.#language(analyzer.language);
    const { values, status } = input.column(languageFrom);
    const named = isKnown(status[0]) ? languageOf(values[0] ?? '') : undefined;
    return this.#language(named ?? analyzer.language);
  }

  #language(language: AnalyzerSettings['language']): Language {
    const made = this.#languages.get(language);
    if (made !== undefined) return made;
    const { analyzer: settings, synonyms: rules } = this.#settings;
    const analyzer = new Analyzer({ ...settings, language });
    const synonyms = rules && new Synonyms(rules, analyzer);
    const one = { analyzer, synonyms };
    this.#languages.set(language, one);
    return one;
  }

  *#match(texts: Texts, query: QueryTerms, analyzer: Analyzer, found: Found): Pieces<void> {
    const { statistics } = this.#settings;
    const searched = yield* search(texts, query, analyzer, this.#scans, this.#weights, statistics);
    const idf = inverseFrequencies(texts, searched, query, statistics);
    writeMatches(texts, searched, idf, this.#settings, found);
  }
}
