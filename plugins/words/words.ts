import {
  Analyzer,
  analyzerText,
  Synonyms,
  type AnalyzerSettings,
  type BuildContext,
  type Column,
  type Found,
  type Input,
  type KeptEntities,
  type Pieces,
  type RetrieverComponent,
  type RetrieverInput,
  type SynonymRule,
  isKnown,
  soon,
  Status,
} from 'millrace/api';
import { Compounds } from './compounds.js';
import { search, type Scoring } from './search.js';
import { MOST_ENTITIES, WordIndex, type FieldText } from './word-index.js';
import { queryWords } from './word-query.js';

export interface WordsSettings {
  readonly query: Input<'text'>;
  /** By attribute, its weight. */
  readonly fields: ReadonlyMap<string, number>;
  readonly size: number;
  readonly where: string | undefined;
  readonly scoring: Scoring;
  readonly analyzer: AnalyzerSettings;
  readonly synonyms: readonly SynonymRule[] | undefined;
  readonly compounds: boolean;
}

/** Finds the entities whose words fit the query. */
export class Words implements RetrieverComponent {
  readonly outputs = { score: 'number' } as const;
  readonly notes: readonly string[];
  readonly #settings: WordsSettings;
  readonly #kept: KeptEntities<KeptWords>;
  readonly #analyzer: Analyzer;
  readonly #bare: Analyzer;
  readonly #synonyms: Synonyms | undefined;

  constructor(settings: WordsSettings, build: Pick<BuildContext, 'needEntities'>) {
    const { analyzer, fields, synonyms, compounds, where } = settings;
    this.#settings = settings;
    this.#analyzer = new Analyzer(analyzer);
    this.#bare = new Analyzer({ ...analyzer, stemming: 'none', stopWords: 'keep' });
    this.#synonyms = synonyms && new Synonyms(synonyms, this.#analyzer);
    this.#kept = build.needEntities({
      attributes: [...fields.keys()].map((path) => ({
        path,
        kinds: ['text', 'texts'] as const,
        option: ['fields', path],
        part: 'key' as const,
      })),
      where: where === undefined ? undefined : { text: where, option: ['where'] },
      most: MOST_ENTITIES,
      remedy: 'use `opensearch` or another retriever',
      key: `words ${analyzerText(analyzer)} ${compounds}`,
      open: () => new KeptWords(new Analyzer(analyzer), fields.size, compounds),
    });
    this.notes = [`analyzer: ${analyzerText(analyzer)}; compounds: ${compounds ? 'yes' : 'no'}`];
  }

  async retrieve(input: RetrieverInput): Promise<Found> {
    const { query, size, scoring } = this.#settings;
    const column = input.column(query);
    if (column.status[0] === Status.failed) throw new Error(`\`${query.text}\` could not be read`);
    if (!isKnown(column.status[0])) return { ids: [], columns: {} };
    const { index, compounds } = this.#kept.keeper();
    const filter = this.#kept.filter(input);
    const asked = queryWords(column.values[0] ?? '', {
      index,
      analyzer: this.#analyzer,
      bare: this.#bare,
      synonyms: this.#synonyms,
      compounds,
    });
    const most = Math.min(size, input.most);
    const hits = await soon(
      (function* () {
        return yield* search(index, yield* asked, scoring, most, filter);
      })(),
      () => input.signal.throwIfAborted(),
    );
    const problem = this.#kept.lag();
    return {
      ids: hits.map(({ id }) => id),
      columns: { score: Float64Array.from(hits, ({ score }) => score) },
      ...(problem === undefined ? {} : { problem }),
    };
  }
}

/** The words of all entities, as long as the service runs. */
class KeptWords {
  readonly index: WordIndex;
  /** Undefined if compounds are whole words. */
  readonly compounds: Compounds | undefined;

  constructor(analyzer: Analyzer, fieldCount: number, hasCompounds: boolean) {
    this.index = new WordIndex(analyzer, fieldCount, hasCompounds);
    this.compounds = hasCompounds ? new Compounds(this.index, analyzer) : undefined;
  }

  get size(): number {
    return this.index.size;
  }

  ids(): Iterable<string> {
    return this.index.entityIds();
  }

  put(id: string, columns: readonly Column[]): Pieces<void> {
    return this.index.put(id, columns.map(textOf));
  }

  remove(id: string): void {
    this.index.remove(id);
  }
}

function textOf(column: Column): FieldText {
  if (!isKnown(column.status[0])) return undefined;
  if (column.kind === 'text') return column.values[0];
  return column.kind === 'texts' ? column.values.slice(column.offsets[0], column.offsets[1]) : undefined;
}
