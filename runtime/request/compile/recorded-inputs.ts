import type { CurationInput } from '../../ground/api/curation.js';
import type { Input } from '../../ground/api/input.js';
import type { InteractionsInput } from '../../ground/api/interactions.js';
import type { BuildContext } from '../../ground/api/build-context.js';
import type { OptionPath } from '../../project/config/project/check-options.js';

/** The columns that one step reads, by what asked for them, so that its component can be created again. */
export class RecordedInputs {
  readonly #options = new Map<string, Input>();
  readonly #needs = new Map<string, Input>();
  readonly #interactions = new Map<string, InteractionsInput>();
  readonly #curation = new Map<string, CurationInput>();
  #build: BuildContext | undefined;

  addOption(path: OptionPath, text: string, input: Input): Input {
    this.#options.set(JSON.stringify([path, text]), input);
    return input;
  }

  option(path: OptionPath, text: string): Input | undefined {
    return this.#options.get(JSON.stringify([path, text]));
  }

  /** The columns that the component may read; undefined: any, since rules that come later can name them. */
  get slots(): readonly number[] | undefined {
    if (this.#curation.size > 0) return undefined;
    return [...this.#options.values(), ...this.#needs.values()].map(({ slot }) => slot);
  }

  /** Whether the component reads interactions. */
  get hasInteractions(): boolean {
    return this.#interactions.size > 0;
  }

  /** The same context, which records what the component asks for. */
  recording(build: BuildContext): BuildContext {
    this.#build = build;
    return {
      ...build,
      need: (name, place) => added(this.#needs, `name ${name}`, build.need(name, place)),
      needColumn: (name, place) => added(this.#needs, `column ${name}`, build.needColumn(name, place)),
      needCuration: (wanted) => added(this.#curation, wanted.list, build.needCuration(wanted)),
      needInteractions: (wanted) =>
        added(this.#interactions, JSON.stringify(wanted), build.needInteractions(wanted)),
    };
  }

  /** A context that answers with the recorded columns. @throws Error if another column is asked for */
  replaying(): BuildContext {
    if (this.#build === undefined) throw new Error('the component was not created yet');
    return {
      ...this.#build,
      need: (name) => recorded(this.#needs, `name ${name}`),
      needColumn: (name) => recorded(this.#needs, `column ${name}`),
      needCuration: ({ list }) => recorded(this.#curation, list),
      needInteractions: (wanted) => recorded(this.#interactions, JSON.stringify(wanted)),
    };
  }
}

function added<V>(map: Map<string, V>, key: string, value: V): V {
  map.set(key, value);
  return value;
}

function recorded<V>(map: ReadonlyMap<string, V>, key: string): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`with other values of its params, the step reads another ${key}`);
  return value;
}
