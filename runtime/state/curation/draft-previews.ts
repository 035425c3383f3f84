import { MillraceError } from '../../ground/api/errors.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { shownName } from '../../ground/core/violations.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { CompiledRules, ListState } from './curation-lists.js';
import { applied, type Draft } from './draft-records.js';
import type { DraftStore, ReadDraft } from './draft-store.js';
import { placed, refuse, type ListWriter } from './list-writer.js';
import { readSent, rulesVersion } from './stored-rules.js';

const MOST_PREVIEWS = 20;

/** The rules of drafts that are not published. */
export class DraftPreviews {
  /** By list and draft: the rules of a preview, and what they were made of. */
  readonly #previews = new Map<
    string,
    { readonly made: string; readonly rules: CompiledRules; readonly file: ListState['rules']['file'] }
  >();

  constructor(
    private readonly writer: ListWriter,
    private readonly store: DraftStore,
  ) {}

  /**
   * The rules as they will be when the drafts of a name are published, for the steps that apply their lists.
   * @throws MillraceError unknown_draft if no list has such a draft; invalid_body if it has errors
   */
  async of(name: string): Promise<CompiledRules> {
    const { lists } = this.writer.parts;
    const found: CompiledRules[] = [];
    for (const state of NAME_PATTERN.test(name) ? lists.states() : []) {
      const read = await this.store.read(state, name);
      if (read.draft !== undefined) found.push(await this.#preview(state, name, read, read.draft));
    }
    if (found.length === 0)
      throw new MillraceError('unknown_draft', `no list has a draft ${shownName(name)}`);
    return new Map(found.flatMap((one) => [...one]));
  }

  async #preview(
    list: ListState,
    name: string,
    { stored, live, record }: ReadDraft,
    { changes }: Draft,
  ): Promise<CompiledRules> {
    const { lists } = this.writer.parts;
    const campaigns = applied(stored.campaigns, changes);
    const key = `${list.name} ${name}`;
    const made = `${rulesVersion(live)} ${rulesVersion(record)}`;
    const known = this.#previews.get(key);
    if (known?.made === made && known.file === list.rules.file) return known.rules;
    const { rules, errors, placeOf } = await readSent(list.name, { ...stored, campaigns }, lists.zone);
    const diagnostics = new Diagnostics();
    const compiled =
      errors.length > 0
        ? undefined
        : await lists.compiled(list.name, { file: list.rules.file, api: rules }, diagnostics);
    if (compiled === undefined) {
      refuse(placed([...errors, ...diagnostics.all], placeOf));
      throw new Error('rules with errors are refused');
    }
    if (this.#previews.size >= MOST_PREVIEWS) this.#previews.clear();
    this.#previews.set(key, { made, file: list.rules.file, rules: compiled });
    return compiled;
  }
}
