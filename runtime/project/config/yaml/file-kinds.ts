import type { SchemaName } from '../project/schemas.js';

/** The kinds of a project's YAML files, by the key that declares the name: the folder of each, and its schema. */
export const FILE_KINDS = {
  pipeline: { folder: 'pipelines', schema: 'pipeline' },
  entity: { folder: 'schemas/entities', schema: 'entity' },
  view: { folder: 'schemas/features', schema: 'feature-view' },
  counter: { folder: 'schemas/counters', schema: 'counter' },
  sink: { folder: 'sinks', schema: 'sink' },
  source: { folder: 'sources', schema: 'source' },
  front: { folder: 'fronts', schema: 'front' },
  experiment: { folder: 'experiments', schema: 'experiment' },
  curation: { folder: 'curation', schema: 'curation' },
  test: { folder: 'tests', schema: 'test' },
} as const satisfies Readonly<Record<string, { readonly folder: string; readonly schema: SchemaName }>>;

export type FileKind = keyof typeof FILE_KINDS;

/** The kinds that need a reload after a change. Rules of curation/ are taken up without one; no service reads tests. */
export type LoadedKind = Exclude<FileKind, 'curation' | 'test'>;

export const LOADED_KINDS = (Object.keys(FILE_KINDS) as FileKind[]).filter(
  (kind): kind is LoadedKind => kind !== 'curation' && kind !== 'test',
);
