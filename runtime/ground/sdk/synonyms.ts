import type { ProjectFile } from '../api/build-context.js';
import { OptionError } from '../api/option-error.js';
import type { Analyzer } from '../text/analyzer.js';

/** Other words for a part of a query. */
export interface SynonymUse {
  /** The first token of the part, and the number of its tokens. */
  readonly start: number;
  readonly length: number;
  readonly words: readonly string[];
}

/** The synonyms of a file, as tokens of one analyzer. */
export class Synonyms {
  /** By part of a query, its tokens joined by spaces. */
  readonly #words = new Map<string, (readonly string[])[]>();
  #longest = 1;

  constructor(rules: readonly SynonymRule[], analyzer: Analyzer) {
    for (const { from, to } of rules) {
      const targets = to.map((text) => analyzer.tokens(text)).filter((tokens) => tokens.length > 0);
      for (const text of from) {
        const tokens = analyzer.tokens(text);
        if (tokens.length === 0) continue;
        const key = tokens.join(' ');
        const others = this.#words.get(key) ?? [];
        others.push(...targets.filter((target) => target.join(' ') !== key));
        this.#words.set(key, others);
        this.#longest = Math.max(this.#longest, tokens.length);
      }
    }
  }

  of(tokens: readonly string[]): SynonymUse[] {
    const found: SynonymUse[] = [];
    for (let start = 0; start < tokens.length; start++) {
      for (let length = 1; length <= this.#longest && start + length <= tokens.length; length++) {
        const others = this.#words.get(tokens.slice(start, start + length).join(' ')) ?? [];
        for (const words of others) found.push({ start, length, words });
      }
    }
    return found;
  }
}

/** A text of `from` in a query is also found by any text of `to`. */
export interface SynonymRule {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

const HELP = 'write one rule a line: `tv, television` for both directions, or `laptop => notebook` for one';

/**
 * Reads a file of synonyms, in the form that Solr and Elasticsearch read: `a, b, c` or `a, b => c`; `#` starts a comment.
 * @throws OptionError at `path` if a line is no rule
 */
export function readSynonyms(file: ProjectFile, path: readonly string[]): readonly SynonymRule[] {
  const rules = file.content
    .toString('utf8')
    .split(/\r?\n/u)
    .flatMap((line, index): SynonymRule[] => {
      const text = line.replace(/#.*$/u, '').trim();
      if (text === '') return [];
      const sides = text.split('=>').map((side) => side.split(',').map((word) => word.trim()));
      const [from = [], to = from, ...more] = sides;
      const isRule =
        more.length === 0 &&
        [...from, ...to].every((word) => word !== '') &&
        (sides.length === 2 || from.length > 1);
      if (isRule) return [{ from, to }];
      throw new OptionError(
        path,
        `\`${file.path}\`, line ${index + 1}: \`${text}\` is not a rule of synonyms`,
        HELP,
      );
    });
  if (rules.length === 0) throw new OptionError(path, `\`${file.path}\` has no synonyms`, HELP);
  return rules;
}
