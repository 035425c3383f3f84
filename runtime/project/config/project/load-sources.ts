import { choiceOf } from '../model/choices.js';
import type { Node } from 'yaml';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located, SourceFile } from '../yaml/source.js';
import { entriesOf, itemsOf, locatedText, memberOf, textOf } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import { checkSourceMap } from './check-source-map.js';
import type { SourceDefinition, SourceInto } from '../model/sources.js';
import { help, keyPlace, type SourceNames } from './source-names.js';

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
  const use = locatedText(file, memberOf(file, root, 'use'));
  const into = readInto(file, memberOf(file, root, 'into'));
  // Their shapes are wrong, which is reported.
  if (use === undefined || into === undefined) return undefined;
  checkTarget(into, names, diagnostics);
  const about = readAbout(file, root, names, diagnostics);
  const definition: SourceDefinition = {
    name: name.value,
    use,
    into: { kind: into.kind, name: into.name?.value },
    ...(choiceOf('source.write', textOf(memberOf(file, root, 'write'))) === 'merge'
      ? { merge: { create: textOf(memberOf(file, root, 'create')) === 'true' } }
      : {}),
    map: readMap(memberOf(file, root, 'map')),
    event: readEvent(file, memberOf(file, root, 'event')),
    values: textsOf(file, memberOf(file, root, 'values')),
    where: Object.fromEntries(
      entriesOf(file, memberOf(file, root, 'where')).map(({ key, value }) => [
        key,
        itemsOf(value).map((item) => textOf(item) ?? ''),
      ]),
    ),
    positionsFrom: textOf(memberOf(file, root, 'positions_from')) === '0' ? 0 : 1,
    about: about ?? '',
    rejected: textOf(memberOf(file, root, 'rejected')),
    with: memberOf(file, root, 'with'),
    file,
    at: name.at,
  };
  checkWrite(root, definition, diagnostics);
  checkSourceMap(root, definition, names, diagnostics);
  return definition;
}

function checkWrite(root: Node, { file, into, merge }: SourceDefinition, diagnostics: Diagnostics): void {
  for (const [key, needed, isThere] of [
    ['write', 'into: entities', into.kind === 'entities'],
    ['create', 'write: merge', merge !== undefined],
  ] as const)
    if (!isThere && memberOf(file, root, key) !== undefined)
      diagnostics.error(
        'unknown_key',
        keyPlace(file, root, key),
        `\`${key}\` has a meaning only with \`${needed}\``,
        'remove the key',
      );
}

interface LocatedInto {
  readonly kind: SourceInto['kind'];
  readonly name: Located<string> | undefined;
}

const KINDS: readonly SourceInto['kind'][] = ['feedback', 'entities', 'features'];

function readInto(file: SourceFile, node: Node | undefined): LocatedInto | undefined {
  const [entry] = entriesOf(file, node);
  const kind = KINDS.find((one) => one === (entry?.key ?? textOf(node)));
  if (kind === undefined) return undefined;
  return { kind, name: locatedText(file, entry?.value) };
}

function checkTarget({ kind, name }: LocatedInto, names: SourceNames, diagnostics: Diagnostics): void {
  if (name === undefined) return;
  if (kind === 'entities') checkEntity(name, names, diagnostics);
  if (kind !== 'features') return;
  const view = names.views.get(name.value);
  if (view?.source !== undefined)
    diagnostics.error(
      'unknown_view',
      name.at,
      `Feast stores the rows of \`${name.value}\`, so a source cannot write them`,
      'name a view without `source:`',
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
function readAbout(
  file: SourceFile,
  root: Node,
  names: SourceNames,
  diagnostics: Diagnostics,
): string | undefined {
  const written = locatedText(file, memberOf(file, root, 'about'));
  if (written !== undefined) return checkEntity(written, names, diagnostics) ? written.value : undefined;
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

function readEvent(file: SourceFile, node: Node | undefined): SourceDefinition['event'] {
  const text = textOf(node);
  if (text !== undefined) return text;
  if (node === undefined) return undefined;
  return Object.fromEntries(
    entriesOf(file, node).map(({ key, value }) => [
      key,
      textOf(value) === 'null' ? null : (textOf(value) ?? null),
    ]),
  );
}

function textsOf(file: SourceFile, node: Node | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(entriesOf(file, node).map(({ key, value }) => [key, textOf(value) ?? '']));
}
