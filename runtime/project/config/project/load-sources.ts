import type { Node } from 'yaml';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located } from '../yaml/source.js';
import { YAML_WORDS } from '../model/yaml-keys.generated.js';
import { Section } from '../yaml/section.js';
import { itemsOf, locatedText, textOf } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import { checkSourceMap } from './check-source-map.js';
import type { SourceDefinition, SourceInto } from '../model/sources.js';
import { isElsewhere } from '../model/views.js';
import { help, type SourceNames } from './source-names.js';

/** Loads the sources of a project. Their plugins and options are checked when the project is compiled. */
export function loadSources(
  files: readonly ParsedFile[],
  names: SourceNames,
  diagnostics: Diagnostics,
): SourceDefinition[] {
  return files.flatMap((parsed) => loadSource(parsed, names, diagnostics) ?? []);
}

function loadSource(
  { file, root, name }: ParsedFile,
  names: SourceNames,
  diagnostics: Diagnostics,
): SourceDefinition | undefined {
  const source = new Section('source', file, root, diagnostics);
  const use = source.located('use');
  const into = readInto(source);
  // Their shapes are wrong, which is reported.
  if (use === undefined || into === undefined) return undefined;
  checkTarget(into, names, diagnostics);
  const about = readAbout(source, names);
  const definition: SourceDefinition = {
    name: name.value,
    use,
    into: { kind: into.kind, name: into.name?.value },
    ...(source.word('write') === 'merge' ? { merge: { create: source.isTrue('create') } } : {}),
    map: readMap(source.value('map')),
    event: readEvent(source),
    values: Object.fromEntries(source.entries('values').map(({ key, value }) => [key, textOf(value) ?? ''])),
    where: Object.fromEntries(
      source
        .entries('where')
        .map(({ key, value }) => [key, itemsOf(value).map((item) => textOf(item) ?? '')]),
    ),
    positionsFrom: source.text('positions_from') === '0' ? 0 : 1,
    about: about ?? '',
    rejected: source.text('rejected'),
    with: source.value('with'),
    file,
    at: name.at,
  };
  checkWrite(source, definition);
  checkSourceMap(source, definition, names);
  return definition;
}

function checkWrite(source: Section<'source'>, { into, merge }: SourceDefinition): void {
  for (const [key, needed, isThere] of [
    ['write', 'into: entities', into.kind === 'entities'],
    ['create', 'write: merge', merge !== undefined],
  ] as const)
    if (!isThere && source.value(key) !== undefined)
      source.diagnostics.error(
        'unknown_key',
        source.keyAt(key),
        `\`${key}\` has a meaning only with \`${needed}\``,
        'remove the key',
      );
}

interface LocatedInto {
  readonly kind: SourceInto['kind'];
  readonly name: Located<string> | undefined;
}

function readInto(source: Section<'source'>): LocatedInto | undefined {
  const [entry] = source.entries('into');
  const kind = YAML_WORDS['source.into'].find((one) => one === (entry?.key ?? source.text('into')));
  return kind && { kind, name: locatedText(source.file, entry?.value) };
}

function checkTarget({ kind, name }: LocatedInto, names: SourceNames, diagnostics: Diagnostics): void {
  if (name === undefined) return;
  if (kind === 'entities') checkEntity(name, names, diagnostics);
  if (kind !== 'features') return;
  const view = names.views.get(name.value);
  if (view !== undefined && isElsewhere(view))
    diagnostics.error(
      'unknown_view',
      name.at,
      `the rows of \`${name.value}\` are not in the store, so a source cannot write them`,
      'name a view without `source:` and without `use:`',
    );
  else if (view === undefined && !names.viewNames.has(name.value))
    diagnostics.error(
      'unknown_view',
      name.at,
      `there is no feature view \`${name.value}\``,
      help(name.value, [...names.viewNames, ...names.views.keys()], 'the views are'),
    );
}

function checkEntity({ value, at }: Located<string>, names: SourceNames, diagnostics: Diagnostics): boolean {
  if (names.entityNames.has(value)) return true;
  diagnostics.error(
    'unknown_entity',
    at,
    `there is no entity type \`${value}\``,
    help(value, names.entityNames, 'the types are'),
  );
  return false;
}

/** The entity type that mapped events are about. Undefined if it is unknown; that is only an error if it is needed. */
function readAbout(source: Section<'source'>, names: SourceNames): string | undefined {
  const written = source.located('about');
  if (written !== undefined)
    return checkEntity(written, names, source.diagnostics) ? written.value : undefined;
  const ranked = names.pipelines.flatMap(({ task, candidateType }) =>
    task === 'rank' ? [candidateType.value] : [],
  );
  const [only, ...others] = new Set(ranked);
  if (only !== undefined && others.length === 0) return only;
  return ranked.length === 0 && names.entityNames.has('product') ? 'product' : undefined;
}

function readMap(node: Node | undefined): SourceDefinition['map'] {
  return node === undefined ? undefined : (node.toJSON() as SourceDefinition['map']);
}

function readEvent(source: Section<'source'>): SourceDefinition['event'] {
  const text = source.text('event');
  if (text !== undefined || !source.has('event')) return text;
  return Object.fromEntries(
    source.entries('event').map(({ key, value }) => {
      const kind = textOf(value);
      return [key, kind === 'null' ? null : (kind ?? null)];
    }),
  );
}
