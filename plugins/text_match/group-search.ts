import {
  Analyzer,
  languageOf,
  type AnalyzerSettings,
  type Input,
  isKnown,
  type StepInput,
  Synonyms,
  type SynonymRule,
} from 'millrace/api';
import type { FieldGroup } from './fields.js';
import { QueryTerms } from './query-terms.js';
import type { Part } from './search.js';
import type { TermStatistics } from './statistics.js';
import { TextScan } from './text-scan.js';

/** An analyzer, and the synonyms as its tokens. */
interface Language {
  readonly analyzer: Analyzer;
  readonly synonyms: Synonyms | undefined;
}

/** Searches the fields that share an analyzer, for one request after the other. */
export class GroupSearch {
  readonly #settings: AnalyzerSettings;
  readonly #languageFrom: Input<'text'> | undefined;
  readonly #inputs: readonly Input<'text' | 'texts'>[];
  readonly #weights: readonly number[];
  readonly #rules: readonly SynonymRule[] | undefined;
  readonly #statistics: TermStatistics | undefined;
  /** By language; made when a request has it first. There are as many as there are languages. */
  readonly #languages = new Map<AnalyzerSettings['language'], Language>();
  /** Scratch memory that all requests share. It is filled and read without an await between. */
  #scans: readonly TextScan[] = [];

  constructor(
    { fields, analyzer, languageFrom }: FieldGroup,
    rules: readonly SynonymRule[] | undefined,
    statistics: TermStatistics | undefined,
  ) {
    this.#settings = analyzer;
    this.#languageFrom = languageFrom;
    this.#inputs = fields.map(({ input }) => input);
    this.#weights = fields.map(({ weight }) => weight);
    this.#rules = rules;
    this.#statistics = statistics;
    this.#language(analyzer.language);
    this.renewMemory();
  }

  /** What there is to search for in a request. */
  partOf(query: string, input: StepInput): Part {
    const { analyzer, synonyms } = this.#languageOf(input);
    return {
      query: new QueryTerms(query, analyzer, synonyms),
      analyzer,
      texts: {
        count: input.count,
        rows: input.rows,
        columns: this.#inputs.map((one) => input.column(one)),
      },
      scans: this.#scans,
      weights: this.#weights,
      statistics: this.#statistics,
    };
  }

  /** Leaves the scratch memory to the request that has it. */
  renewMemory(): void {
    this.#scans = this.#inputs.map(() => new TextScan());
  }

  /** The language of the request; the one of the fields if the request has none, or one that is not known. */
  #languageOf(input: StepInput): Language {
    const { language } = this.#settings;
    if (this.#languageFrom === undefined) return this.#language(language);
    const { values, status } = input.column(this.#languageFrom);
    const named = isKnown(status[0]) ? languageOf(values[0] ?? '') : undefined;
    return this.#language(named ?? language);
  }

  #language(language: AnalyzerSettings['language']): Language {
    const made = this.#languages.get(language);
    if (made !== undefined) return made;
    const analyzer = new Analyzer({ ...this.#settings, language });
    const synonyms = this.#rules && new Synonyms(this.#rules, analyzer);
    const one = { analyzer, synonyms };
    this.#languages.set(language, one);
    return one;
  }
}
