import {
  Analyzer,
  analyzerText,
  languageOf,
  type AnalyzerSettings,
  type FeatureComponent,
  type Input,
  inTurns,
  isKnown,
  type NumberColumn,
  type Pieces,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
  type TextColumn,
  type TextsColumn,
} from 'millrace/api';
import { inverseDocumentFrequency, type Bm25Parameters } from './bm25.js';
import { QueryTerms } from './query-terms.js';
import type { TextStatistics } from './statistics.js';
import { Synonyms, type SynonymRule } from './synonyms.js';
import { TextScan } from './text-scan.js';

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
}

/** An analyzer, and the synonyms as its tokens. */
interface Language {
  readonly analyzer: Analyzer;
  readonly synonyms: Synonyms | undefined;
}

/** The columns that a step fills. */
type Found = Readonly<Record<keyof TextMatch['outputs'], NumberColumn>>;

/** Computes how well each candidate's texts match the query. */
export class TextMatch implements FeatureComponent {
  readonly outputs = {
    bm25: 'number',
    overlap: 'number',
    phrase: 'number',
    coverage: 'number',
    proximity: 'number',
    first: 'number',
  } as const;
  readonly #settings: TextMatchSettings;
  readonly notes: readonly string[];
  /** By language; made when a request has it first. There are as many as there are languages. */
  readonly #languages = new Map<AnalyzerSettings['language'], Language>();
  /** Scratch memory that all requests share. It is filled and read without an await between. */
  #scans: readonly TextScan[];

  constructor(settings: TextMatchSettings) {
    this.#settings = settings;
    const { statistics } = settings;
    const counted = statistics && `${statistics.documents.toLocaleString('en')} texts of the catalogue`;
    this.notes = [
      `words: ${analyzerText(settings.analyzer)}`,
      `statistics: ${counted ?? 'the candidates of each request'}`,
    ];
    this.#language(settings.analyzer.language);
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
    const searched = yield* this.#search(texts, query, analyzer);
    const idf = this.#inverseFrequencies(texts.count, texts.columns, searched, query);
    this.#write(texts.rows, texts.columns, searched, idf, found);
  }

  /**
   * Scans all candidates, including filtered ones, so that an earlier filter does not change the scores of the others.
   */
  *#search(found: Texts, query: QueryTerms, analyzer: Analyzer): Pieces<Searched[]> {
    const { fields, statistics } = this.#settings;
    const { count } = found;
    const scans = this.#scans;
    let left = FIRST_CHARACTERS;
    const searched: Searched[] = [];
    for (let f = 0; f < found.columns.length; f++) {
      const scan = scans[f];
      if (scan === undefined) continue;
      scan.reset(count, query.terms.length);
      let tokens = 0;
      let texts = 0;
      for (let row = 0; row < count; row++) {
        const column = found.columns[f] as SearchedColumn;
        if (!isKnown(column.status[row * column.stride])) continue;
        left -= lengthOf(column, row);
        if (left < 0) {
          left = CHARACTERS;
          yield;
        }
        scanCell(scan, row, found.columns[f] as SearchedColumn, query, analyzer);
        tokens += scan.lengths[row] ?? 0;
        texts++;
      }
      // A field that no candidate has is not scored.
      if (texts === 0) continue;
      const meanLength = statistics?.meanLengths[f] ?? tokens / texts;
      searched.push({ scan, meanLength, weight: fields[f]?.weight ?? 1 });
    }
    return searched;
  }

  /** The idf of each term, multiplied by its number of occurrences in the query. */
  #inverseFrequencies(
    count: number,
    columns: readonly SearchedColumn[],
    searched: readonly Searched[],
    query: QueryTerms,
  ): number[] {
    const { statistics } = this.#settings;
    if (statistics !== undefined) {
      const { documents, frequencies } = statistics;
      return query.terms.map(
        (term, t) =>
          inverseDocumentFrequency(documents, frequencies.get(term) ?? 0) * (query.repeats[t] ?? 1),
      );
    }
    const terms = query.terms.length;
    const containing = new Float64Array(terms);
    let documents = 0;
    for (let row = 0; row < count; row++) {
      if (statusOf(columns, row) !== Status.present) continue;
      documents++;
      for (let term = 0; term < terms; term++) {
        if (holds(searched, row * terms + term)) containing[term] = (containing[term] ?? 0) + 1;
      }
    }
    return query.repeats.map((times, t) => inverseDocumentFrequency(documents, containing[t] ?? 0) * times);
  }

  /**
   * BM25F (Zaragoza et al., "Microsoft Cambridge at TREC-13", 2004). Occurrences are weighted and scaled by the length
   * of their field. Then their sum saturates. With one field of weight 1 it is BM25.
   */
  #write(
    rows: Int32Array,
    columns: readonly SearchedColumn[],
    searched: readonly Searched[],
    idf: readonly number[],
    { bm25, overlap, phrase, coverage, proximity, first }: Found,
  ): void {
    const { k1, b } = this.#settings;
    const terms = idf.length;
    const scales = new Float64Array(searched.length);
    for (const row of rows) {
      const status = statusOf(columns, row);
      bm25.status[row] = overlap.status[row] = phrase.status[row] = status;
      coverage.status[row] = proximity.status[row] = first.status[row] = status;
      if (status !== Status.present) continue;
      let inRow = 0;
      let covered = 0;
      let close = 0;
      let place = 0;
      for (let f = 0; f < searched.length; f++) {
        const field = searched[f];
        if (field === undefined) continue;
        const { scan, meanLength, weight } = field;
        const relative = meanLength > 0 ? (scan.lengths[row] ?? 0) / meanLength : 1;
        const scale = 1 - b + b * relative;
        scales[f] = scale > 0 ? weight / scale : 0;
        inRow |= scan.phrases[row] ?? 0;
        const length = scan.lengths[row] as number;
        if (length > 0) covered = Math.max(covered, (scan.matched[row] as number) / length);
        close = Math.max(close, scan.proximity[row] as number);
        const at = scan.first[row] as number;
        if (at > 0 && (place === 0 || at < place)) place = at;
      }
      let score = 0;
      let matched = 0;
      for (let term = 0; term < terms; term++) {
        let occurrences = 0;
        for (let f = 0; f < searched.length; f++) {
          occurrences += (searched[f]?.scan.counts[row * terms + term] ?? 0) * (scales[f] ?? 0);
        }
        if (occurrences === 0) continue;
        matched++;
        score += ((idf[term] ?? 0) * occurrences * (k1 + 1)) / (occurrences + k1);
      }
      bm25.values[row] = score;
      overlap.values[row] = matched / terms;
      phrase.values[row] = inRow;
      coverage.values[row] = covered;
      proximity.values[row] = close;
      if (place > 0) first.values[row] = place;
      else first.status[row] = Status.absent;
    }
  }
}

type SearchedColumn = TextColumn | TextsColumn;

function scanCell(
  scan: TextScan,
  row: number,
  column: SearchedColumn,
  query: QueryTerms,
  analyzer: Analyzer,
): void {
  const cell = row * column.stride;
  if (column.kind === 'text') {
    scan.scan(row, column.values[cell] ?? '', query, analyzer);
    return;
  }
  const end = column.offsets[cell + 1] ?? 0;
  for (let i = column.offsets[cell] ?? 0; i < end; i++) {
    scan.scan(row, column.values[i] ?? '', query, analyzer);
  }
}

/** Characters that one slice scans before it yields to other requests: in the first slice, and in each later slice. */
const FIRST_CHARACTERS = 256 * 1024;
const CHARACTERS = 128 * 1024;

/** The inputs of a step. After the first yield they are copies. */
interface Texts {
  readonly count: number;
  rows: Int32Array;
  columns: readonly SearchedColumn[];
}

function copyOf(column: SearchedColumn): SearchedColumn {
  const { stride } = column;
  const status = column.status.slice();
  if (column.kind === 'text') return { kind: 'text', stride, status, values: column.values.slice() };
  return { kind: 'texts', stride, status, values: column.values.slice(), offsets: column.offsets.slice() };
}

/** The length of a row's texts, in characters. */
function lengthOf(column: SearchedColumn, row: number): number {
  const cell = row * column.stride;
  if (column.kind === 'text') return column.values[cell]?.length ?? 0;
  let length = 0;
  const end = column.offsets[cell + 1] ?? 0;
  for (let i = column.offsets[cell] ?? 0; i < end; i++) length += column.values[i]?.length ?? 0;
  return length;
}

/** A field for which at least one candidate has a text. */
interface Searched {
  readonly scan: TextScan;
  /** The mean length in tokens. */
  readonly meanLength: number;
  readonly weight: number;
}

/** Whether any field contains the term; `cell` is row · terms + term. */
function holds(searched: readonly Searched[], cell: number): boolean {
  for (const { scan } of searched) if ((scan.counts[cell] ?? 0) > 0) return true;
  return false;
}

/** Present if any of the fields is known, otherwise the status of the first field. */
function statusOf(columns: readonly SearchedColumn[], row: number): number {
  for (const column of columns) {
    if (isKnown(column.status[row * column.stride])) return Status.present;
  }
  const [first] = columns;
  return first === undefined ? Status.absent : statusAt(first.status, row * first.stride);
}
