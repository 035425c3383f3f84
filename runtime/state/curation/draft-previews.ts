import { MillraceError } from '../../ground/api/errors.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { shownName } from '../../ground/core/violations.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { CompiledRules, ListState } from './curation-lists.js';
import { applied, type Draft } from './draft-records.js';
import type { DraftStore, ReadDraft } from './draft-store.js';
import { placed, refuse, type ListWriter } from './list-writer.js';
import { readSent, rulesVersion, type Sent } from './stored-rules.js';

const MOST_PREVIEWS = 20;

/** The rules of drafts that are not published. */
export class DraftPreviews {
  /** By name of drafts: the rules of a preview, and what they were made of. */
  readonly #previews = new Map<string, { readonly made: string; readonly rules: CompiledRules }>();

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
    const drafted: Drafted[] = [];
    for (const list of NAME_PATTERN.test(name) ? lists.states() : []) {
      const { draft, ...read } = await this.store.read(list, name);
      if (draft !== undefined) drafted.push({ ...read, list, draft });
    }
    if (drafted.length === 0)
      throw new MillraceError('unknown_draft', `no list has a draft ${shownName(name)}`);
    // Plans also have the rules of other lists.
    const versions = drafted.map(
      ({ list, live, record }) => `${list.name} ${rulesVersion(live)} ${rulesVersion(record)}`,
    );
    const made = [lists.revision, ...versions].join();
    const known = this.#previews.get(name);
    if (known?.made === made) return known.rules;
    const rules = await this.#compiled(drafted);
    if (this.#previews.size >= MOST_PREVIEWS) this.#previews.clear();
    this.#previews.set(name, { made, rules });
    return rules;
  }

  /** Compiles the drafts of several lists together, because a plan has the columns of all of them. */
  async #compiled(drafted: readonly Drafted[]): Promise<CompiledRules> {
    const { lists } = this.writer.parts;
    const changed = new Map<string, ListState['rules']>();
    const sent: Sent[] = [];
    for (const { list, stored, draft } of drafted) {
      const campaigns = applied(stored.campaigns, draft.changes);
      const read = await readSent(list.name, { ...stored, campaigns }, lists.zone);
      changed.set(list.name, { file: list.rules.file, api: read.rules });
      sent.push(read);
    }
    const diagnostics = new Diagnostics();
    diagnostics.addAll(sent.flatMap(({ errors }) => errors));
    const compiled = diagnostics.hasErrors ? undefined : await lists.compiled(changed, diagnostics);
    if (compiled !== undefined) return compiled;
    refuse(placed(diagnostics.all, (error) => firstOf(sent.map(({ placeOf }) => placeOf(error)))));
    throw new Error('rules with errors are refused');
  }
}

/** A draft of a list, with what was read of both. */
interface Drafted extends Omit<ReadDraft, 'draft'> {
  readonly list: ListState;
  readonly draft: Draft;
}

function firstOf<T>(all: readonly (T | undefined)[]): T | undefined {
  return all.find((one) => one !== undefined);
}
