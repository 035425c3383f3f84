import type { ProjectConfig } from '../../project/config/model/project.js';

/** What a new file can be made from. */
export interface NewContext {
  readonly name: string;
  /** The project as its files declare it; its pipelines may have errors. */
  readonly config: Pick<ProjectConfig, 'entities' | 'views' | 'pipelines'>;
  /** The names of its pipelines. */
  readonly pipelines: readonly string[];
}

/** A kind of thing that `millrace new` makes. */
export interface NewKind {
  /** One line, for the help. */
  readonly summary: string;
  /**
   * The files, by path in the project; they pass `millrace validate`. The last one is the file to edit.
   * @throws CommandFailure if the project lacks what they need
   */
  files(context: NewContext): ReadonlyMap<string, string>;
}

/** The type of the candidates: product, if nothing says otherwise. */
export function rankedType({ entities }: NewContext['config']): string {
  if (entities.get('product')?.at !== undefined) return 'product';
  const own = [...entities.values()].find(
    ({ at, name }) => at !== undefined && !['user', 'query', 'request'].includes(name),
  );
  return own?.name ?? 'product';
}
