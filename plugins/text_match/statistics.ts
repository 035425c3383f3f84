import {
  Analyzer,
  describeAnalyzer,
  OptionError,
  otherFile,
  PLAIN,
  readAnalyzer,
  type AnalyzerSettings,
  type ProjectFile,
} from 'millrace/api';

/** The statistics of a collection for BM25: how many texts contain each term, and the mean length of the texts. */
export interface TextStatistics {
  /** How the texts became terms. */
  readonly analyzer: AnalyzerSettings;
  /** The number of texts. */
  readonly documents: number;
  /** The mean number of tokens of a text, for each field. */
  readonly meanLengths: readonly number[];
  /** By term: the number of texts that contain it, in any field. */
  readonly frequencies: ReadonlyMap<string, number>;
  /** Set if the texts are a random sample of the entities of the index. */
  readonly sample?: IndexSample;
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
 */
export async function buildTextStatistics(
  documents: Iterable<Document> | AsyncIterable<Document>,
  settings: AnalyzerSettings = DEFAULT_ANALYZER,
): Promise<TextStatistics> {
  const analyzer = new Analyzer(settings);
  const frequencies = new Map<string, number>();
  const totals: { tokens: number; texts: number }[] = [];
  let count = 0;
  for await (const document of documents) {
    const fields = typeof document === 'string' ? [document] : document;
    const terms = new Set<string>();
    for (const [index, field] of fields.entries()) {
      const total = (totals[index] ??= { tokens: 0, texts: 0 });
      if (field === undefined) continue;
      total.texts++;
      for (const text of typeof field === 'string' ? [field] : field) {
        const tokens = analyzer.tokens(text);
        total.tokens += tokens.length;
        for (const token of tokens) terms.add(token);
      }
    }
    if (fields.some((field) => field !== undefined)) count++;
    for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  }
  const meanLengths = totals.map(({ tokens, texts }) => (texts > 0 ? tokens / texts : 0));
  return { analyzer: settings, documents: count, meanLengths, frequencies };
}

/** The content of a statistics file. Equal statistics give equal bytes. */
export function writeTextStatistics(statistics: TextStatistics): string {
  const { analyzer, documents, meanLengths, sample } = statistics;
  const terms = [...statistics.frequencies].sort(([a], [b]) => (a < b ? -1 : 1));
  const made = {
    format: FORMAT,
    ...describeAnalyzer(analyzer),
    ...(sample === undefined ? {} : { sample }),
    documents,
    mean_lengths: meanLengths,
  };
  const head = JSON.stringify(made).slice(0, -1);
  const lines = terms.map(([term, frequency]) => `${JSON.stringify(term)}:${String(frequency)}`);
  return `${head},"frequencies":{\n${lines.join(',\n')}\n}}\n`;
}

/** One line: which texts were counted, and where the statistics come from. */
export function statisticsText({ documents, sample }: TextStatistics, path: string): string {
  const texts = `${documents.toLocaleString('en')} texts`;
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
  const { documents, mean_lengths: meanLengths, frequencies, sample } = content;
  const analyzer = readAnalyzer(content);
  if (analyzer === undefined) throw wrong('was made with an analyzer that this version does not know');
  if (!isCount(documents)) throw wrong('has no number of documents');
  if (!Array.isArray(meanLengths) || !meanLengths.every(isCount)) throw wrong('has no mean lengths');
  if (!isRecord(frequencies)) throw wrong('has no frequencies');
  if (sample !== undefined && !isSample(sample)) throw wrong('has a sample without rows, of and at');
  const counts = new Map<string, number>();
  for (const [term, frequency] of Object.entries(frequencies)) {
    if (!isCount(frequency)) throw wrong(`has no number for the term ${JSON.stringify(term)}`);
    counts.set(term, frequency);
  }
  return { analyzer, documents, meanLengths, frequencies: counts, ...(sample && { sample }) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
