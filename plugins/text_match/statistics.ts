import {
  Analyzer,
  analyzerText,
  describeAnalyzer,
  OptionError,
  otherFile,
  PLAIN,
  readAnalyzer,
  termMakers,
  type AnalyzerSettings,
  type ProjectFile,
  type TermMakers,
} from 'millrace/api';
import { groupBy } from './group-by.js';

/** The statistics of a collection for BM25. */
export interface TextStatistics {
  /** One entry for each analyzer of the fields, in the order of the first field that has it. */
  readonly analyzers: readonly TermStatistics[];
  /** The paths of the texts, e.g. product.title; undefined in a file that does not say it. */
  readonly fields?: readonly string[];
  /** Set if the texts are a random sample of the entities of the index. */
  readonly sample?: IndexSample;
}

/** How many texts contain each term, and the mean length of the texts, in the fields that share an analyzer. */
export interface TermStatistics {
  /** How the texts became terms. */
  readonly analyzer: AnalyzerSettings;
  /** What made the terms, besides the settings. Empty in a file that does not say it. */
  readonly makers: TermMakers;
  /** The number of texts. */
  readonly documents: number;
  /** The mean number of tokens of a text, for each of these fields. */
  readonly meanLengths: readonly number[];
  /** By term: the number of texts that contain it, in any of these fields. */
  readonly frequencies: ReadonlyMap<string, number>;
}

export interface IndexSample {
  /** The number of entities of the sample, and of the index. */
  readonly rows: number;
  readonly of: number;
  /** When it was read, ISO 8601. */
  readonly at: string;
}

const FORMAT = 'millrace-text-statistics/1';

/** How texts become terms where nothing else is said. */
export const DEFAULT_ANALYZER: AnalyzerSettings = { ...PLAIN, stemming: 'plural' };

/** The content of one field of a document: a text, or a list of texts; undefined if it lacks the field. */
export type FieldTexts = string | readonly string[] | undefined;

/** A text, or the fields of a document that are searched together. */
type Document = string | readonly FieldTexts[];

/**
 * Reads a collection and computes its statistics.
 * @param documents texts, or lists of fields; all lists have the same length
 * @param settings the analyzer of all fields, or a list with that of each field
 */
export async function buildTextStatistics(
  documents: Iterable<Document> | AsyncIterable<Document>,
  settings: AnalyzerSettings | readonly AnalyzerSettings[] = DEFAULT_ANALYZER,
): Promise<TextStatistics> {
  const counters = isList(settings)
    ? groupBy(settings, analyzerText).map(
        ({ members, items: [first = DEFAULT_ANALYZER] }) => new TermCounter(first, members),
      )
    : [new TermCounter(settings)];
  for await (const document of documents) {
    const fields = typeof document === 'string' ? [document] : document;
    for (const counter of counters) counter.add(fields);
  }
  return { analyzers: counters.map((counter) => counter.statistics) };
}

/** Counts the terms of the fields that share an analyzer. */
class TermCounter {
  readonly #analyzer: Analyzer;
  readonly #members: readonly number[] | undefined;
  readonly #frequencies = new Map<string, number>();
  readonly #totals: { tokens: number; texts: number }[] = [];
  #documents = 0;

  /** @param members the places of these fields in a document; undefined: all */
  constructor(settings: AnalyzerSettings, members?: readonly number[]) {
    this.#analyzer = new Analyzer(settings);
    this.#members = members;
  }

  add(document: readonly FieldTexts[]): void {
    const fields = this.#members?.map((member) => document[member]) ?? document;
    const terms = new Set<string>();
    for (const [index, field] of fields.entries()) {
      const total = (this.#totals[index] ??= { tokens: 0, texts: 0 });
      if (field === undefined) continue;
      total.texts++;
      for (const text of typeof field === 'string' ? [field] : field) {
        const tokens = this.#analyzer.tokens(text);
        total.tokens += tokens.length;
        for (const token of tokens) terms.add(token);
      }
    }
    if (fields.some((field) => field !== undefined)) this.#documents++;
    for (const term of terms) this.#frequencies.set(term, (this.#frequencies.get(term) ?? 0) + 1);
  }

  get statistics(): TermStatistics {
    const { settings } = this.#analyzer;
    return {
      analyzer: settings,
      makers: termMakers(settings),
      documents: this.#documents,
      meanLengths: this.#totals.map(({ tokens, texts }) => (texts > 0 ? tokens / texts : 0)),
      frequencies: this.#frequencies,
    };
  }
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** The content of a statistics file. Equal statistics give equal bytes. */
export function writeTextStatistics({ analyzers, fields, sample }: TextStatistics): string {
  const head = { format: FORMAT, ...(fields && { fields }), ...(sample && { sample }) };
  const [only] = analyzers;
  // A file of one analyzer has no list, as older versions read it.
  if (analyzers.length === 1 && only !== undefined) return `${termsText(only, head)}\n`;
  const parts = analyzers.map((terms) => termsText(terms, {}));
  return `${JSON.stringify(head).slice(0, -1)},"analyzers":[\n${parts.join(',\n')}\n]}\n`;
}

/** @param head what stands before the statistics in the same object */
function termsText(statistics: TermStatistics, head: object): string {
  const { analyzer, makers, documents, meanLengths, frequencies } = statistics;
  const made = {
    ...head,
    ...describeAnalyzer(analyzer),
    ...(Object.keys(makers).length === 0 ? {} : { made_with: makers }),
    documents,
    mean_lengths: meanLengths,
  };
  const terms = [...frequencies].sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = terms.map(([term, frequency]) => `${JSON.stringify(term)}:${String(frequency)}`);
  return `${JSON.stringify(made).slice(0, -1)},"frequencies":{\n${lines.join(',\n')}\n}}`;
}

/** The number of texts; a text may lack the fields of one analyzer. */
export function documentsIn({ analyzers }: TextStatistics): number {
  return analyzers.reduce((most, { documents }) => Math.max(most, documents), 0);
}

/** One line: which texts were counted, and where the statistics come from. */
export function statisticsText(statistics: TextStatistics, path: string): string {
  const { sample } = statistics;
  const texts = `${documentsIn(statistics).toLocaleString('en')} texts`;
  if (sample === undefined) return `${path}, ${texts} of the catalogue`;
  const { rows, of, at } = sample;
  const share = `${rows.toLocaleString('en')} of ${of.toLocaleString('en')} entities`;
  return `${path}, ${texts} of an index sample of ${share} at ${at}`;
}

/**
 * Reads a statistics file that `writeTextStatistics` wrote.
 * @throws OptionError at `path` if the file is not a statistics file
 */
export function readTextStatistics(file: ProjectFile, path: readonly (string | number)[]): TextStatistics {
  const wrong = (what: string, help?: string): OptionError =>
    new OptionError(
      path,
      `\`${file.path}\` ${what}`,
      help ??
        'make the file with `millrace text-stats`, e.g. `millrace text-stats product.title --from FILE --out FILE`',
    );
  let content: unknown;
  try {
    content = JSON.parse(file.content.toString('utf8'));
  } catch {
    const other = otherFile(file);
    if (other !== undefined) throw wrong(`is ${other.what}`, other.help);
    throw wrong('is not JSON');
  }
  if (!isRecord(content) || content['format'] !== FORMAT)
    throw wrong(`is not a file of the format ${FORMAT}`);
  const { analyzers, fields, sample } = content;
  if (fields !== undefined && !isTexts(fields)) throw wrong('has no list of fields');
  if (sample !== undefined && !isSample(sample)) throw wrong('has a sample without rows, of and at');
  if (analyzers !== undefined && !(Array.isArray(analyzers) && analyzers.length > 0))
    throw wrong('has no list of analyzers');
  const parts: readonly unknown[] = analyzers ?? [content];
  return {
    analyzers: parts.map((part) => readTerms(part, wrong)),
    ...(fields && { fields }),
    ...(sample && { sample }),
  };
}

function readTerms(content: unknown, wrong: (what: string) => OptionError): TermStatistics {
  if (!isRecord(content)) throw wrong('has no statistics of an analyzer');
  const { made_with: makers = {}, documents, mean_lengths: meanLengths, frequencies } = content;
  const analyzer = readAnalyzer(content);
  if (analyzer === undefined) throw wrong('was made with an analyzer that this version does not know');
  if (!isMakers(makers)) throw wrong('does not name the versions it was made with');
  if (!isCount(documents)) throw wrong('has no number of documents');
  if (!Array.isArray(meanLengths) || !meanLengths.every(isCount)) throw wrong('has no mean lengths');
  if (!isRecord(frequencies)) throw wrong('has no frequencies');
  const counts = new Map<string, number>();
  for (const [term, frequency] of Object.entries(frequencies)) {
    if (!isCount(frequency)) throw wrong(`has no number for the term ${JSON.stringify(term)}`);
    counts.set(term, frequency);
  }
  return { analyzer, makers, documents, meanLengths, frequencies: counts };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isMakers(value: unknown): value is TermMakers {
  return isRecord(value) && Object.values(value).every((version) => typeof version === 'string');
}

function isSample(value: unknown): value is IndexSample {
  return (
    isRecord(value) && isCount(value['rows']) && isCount(value['of']) && !Number.isNaN(timeOf(value['at']))
  );
}

function timeOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : NaN;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
