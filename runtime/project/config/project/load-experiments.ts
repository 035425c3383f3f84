import { choiceOf } from '../model/choices.js';
import { isMap, isScalar, type Node } from 'yaml';
import { parseDuration } from '../../../ground/api/duration.js';
import { parseShare } from '../../../ground/core/share.js';
import { TIME_FORMS, timestampOf } from '../../../ground/core/timestamp.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { SourceFile } from '../yaml/source.js';
import { entriesOf, itemsOf, locatedText, memberOf, spanOf, textOf, type Entry } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import {
  GUARDS,
  type ArmDefinition,
  type ExperimentDefinition,
  type ExperimentGuard,
  type ExperimentMetrics,
} from '../model/experiments.js';

const DAY = 86_400_000;

/** Loads the experiments of a project. `checkExperiments` checks the names in them. Wrong shapes are already reported. */
export function loadExperiments(
  files: readonly ParsedFile[],
  diagnostics: Diagnostics,
): ExperimentDefinition[] {
  return files.flatMap((parsed) => new ExperimentReader(parsed, diagnostics).read() ?? []);
}

class ExperimentReader {
  readonly #file: SourceFile;

  constructor(
    readonly parsed: ParsedFile,
    readonly diagnostics: Diagnostics,
  ) {
    this.#file = parsed.file;
  }

  /** @returns undefined if a required key is missing, which is reported */
  read(): ExperimentDefinition | undefined {
    const { file, name, root } = this.parsed;
    const text = (key: string): ReturnType<typeof locatedText> => locatedText(file, this.#member(key));
    const [pipeline, unit, mode] = [text('pipeline'), text('unit'), textOf(this.#member('mode'))];
    const arms = entriesOf(file, this.#member('arms')).map((entry) => this.#arm(entry));
    if (pipeline === undefined || unit === undefined || arms.length === 0) return undefined;
    const from = this.#time('from');
    const until = this.#time('until');
    const ends = this.#member('until');
    if (from !== undefined && until !== undefined && ends !== undefined && until <= from)
      this.diagnostics.error('wrong_type', spanOf(file, ends), '`until`: must be later than `from`');
    return {
      name: name.value,
      pipeline,
      mode: choiceOf('experiment.mode', mode),
      unit,
      share: this.#share(root, 'share') ?? 1,
      offset: this.#share(root, 'offset') ?? 0,
      layer: text('layer') ?? name,
      from,
      until,
      arms: new Map(arms.map((arm) => [arm.name, arm])),
      metrics: this.#metrics(this.#member('metrics')),
      file,
      at: name.at,
    };
  }

  #member(key: string): Node | undefined {
    return memberOf(this.#file, this.parsed.root, key);
  }

  #share(parent: Node, key: string): number | undefined {
    const text = locatedText(this.#file, memberOf(this.#file, parent, key));
    if (text === undefined) return undefined;
    const share = parseShare(text.value);
    if (share === undefined && /^[0-9.]+%$/.test(text.value))
      this.diagnostics.error('wrong_type', text.at, `\`${key}\`: must be from 0% to 100%`);
    return share;
  }

  #time(key: string): number | undefined {
    const node = this.#member(key);
    if (!isScalar(node)) return undefined;
    const time = timestampOf(node.value);
    if (!Number.isNaN(time)) return time;
    this.diagnostics.error('wrong_type', spanOf(this.#file, node), `\`${key}\`: expected ${TIME_FORMS}`);
    return undefined;
  }

  #arm({ key, keyAt, value }: Entry): ArmDefinition {
    const member = (name: string): Node | undefined => memberOf(this.#file, value, name);
    const params = entriesOf(this.#file, member('params')).flatMap((entry) => {
      const number = numberOf(entry.value);
      return number === undefined ? [] : [[entry.key, { value: number, at: entry.keyAt }] as const];
    });
    return {
      name: key,
      weight: numberOf(member('weight')) ?? 1,
      params: new Map(params),
      pipeline: locatedText(this.#file, member('pipeline')),
      at: keyAt,
    };
  }

  #metrics(node: Node | undefined): ExperimentMetrics | undefined {
    const primary = memberOf(this.#file, node, 'primary');
    const text = (key: string): string | undefined => textOf(memberOf(this.#file, primary, key));
    const event = text('event');
    if (primary === undefined || event === undefined) return undefined;
    const value = text('value') ?? 'count';
    const summed = /^sum\((.*)\)$/.exec(value)?.[1];
    return {
      primary: {
        event,
        value:
          summed === undefined ? { kind: value === 'any' ? 'any' : 'count' } : { kind: 'sum', of: summed },
        over: text('over'),
        within: parseDuration(text('within') ?? '') ?? 7 * DAY,
        at: spanOf(this.#file, primary),
      },
      guard: itemsOf(memberOf(this.#file, node, 'guard')).flatMap((item) => this.#guard(item)),
    };
  }

  #guard(item: Node): ExperimentGuard[] {
    const named = isMap(item) ? entriesOf(this.#file, item)[0]?.key : textOf(item);
    const metric = GUARDS.find((one) => one === named);
    if (metric === undefined) return [];
    return [{ metric, bound: this.#share(item, metric), at: spanOf(this.#file, item) }];
  }
}

function numberOf(node: Node | undefined): number | undefined {
  const value: unknown = isScalar(node) ? node.value : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
