import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isMap, type Node } from 'yaml';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import { nearest } from '../../../ground/core/nearest.js';
import { PROJECT_FILE, type FileSetting, type ProjectFile } from '../../settings/setting-origin.js';
import { keyOf, SECTIONS } from '../../settings/setting-row.js';
import { FILE_SETTINGS } from '../../settings/settings.js';
import { Diagnostics, type Diagnostic } from '../diagnostics/diagnostics.js';
import type { Environment } from '../yaml/interpolate.js';
import { SourceFile, type Span } from '../yaml/source.js';
import { entriesOf, locatedText, memberOf, spanOf, type Entry } from '../yaml/tree.js';
import { parseYaml } from '../yaml/yaml-document.js';
import { hideSecrets } from './hide-secrets.js';
import { nameHelp } from './marks.js';
import { placeOf, readText } from './project-files.js';
import { readSetting } from './read-setting.js';
import { foundWords } from './shape-words.js';

export interface LoadedProjectFile {
  /** The settings without errors. */
  readonly file: ProjectFile;
  readonly diagnostics: readonly Diagnostic[];
}

const NAME_KEY = 'project';

/** The key of the kinds of feedback. They are a part of the project, not a setting: a reload applies a change. */
export const EVENTS_KEY = 'events';
/** The key of the npm packages with plugins. A reload applies a change. */
export const PLUGINS_KEY = 'plugins';
/** The key of the options of services that packages share. A reload applies a change. */
export const SERVICES_KEY = 'services';
/** The key of the time zone of campaigns. A reload applies a change. */
export const TIME_ZONE_KEY = 'time_zone';
/** The keys that are parts of the project. */
const PART_KEYS: readonly string[] = [EVENTS_KEY, PLUGINS_KEY, SERVICES_KEY, TIME_ZONE_KEY];
/** The keys that are not settings. */
const PROJECT_KEYS: readonly string[] = [NAME_KEY, ...PART_KEYS];
const KEYS: readonly string[] = [...PROJECT_KEYS, ...FILE_SETTINGS.keys()];

/**
 * Reads and checks millrace.yaml in a project's folder. A project without that file has no errors. The content of the
 * file never makes it reject.
 * @param environment values for `${NAME}` in the file
 * @param content the content of the file if it was read before, e.g. by another process
 */
export async function loadProjectFile(
  folder: string,
  environment: Environment,
  content?: { readonly content: string | undefined },
): Promise<LoadedProjectFile> {
  const diagnostics = new Diagnostics();
  const { source, root } = await readProjectFile(folder, environment, diagnostics, content);
  const found = { folder, content: source?.text };
  if (source === undefined || root === undefined)
    return {
      file: { ...found, name: undefined, settings: new Map(), applied: '' },
      diagnostics: diagnostics.all,
    };
  const place = { file: source, folder, diagnostics };
  const settings = new Map<string, FileSetting>();
  for (const entry of settingsOf(source, root, diagnostics)) {
    const row = FILE_SETTINGS.get(entry.key);
    if (row !== undefined) {
      const setting = readSetting(entry, row, place);
      if (setting !== undefined) settings.set(entry.key, setting);
    } else if (!PROJECT_KEYS.includes(entry.key)) reportUnknown(entry, source, diagnostics);
  }
  const name = readName(source, root, folder, diagnostics);
  const applied = PART_KEYS.map((key) => textAt(source, memberOf(root, key)) ?? '');
  return { file: { ...found, name, settings, applied: applied.join('\n') }, diagnostics: diagnostics.all };
}

/**
 * Reads and parses millrace.yaml. Both parts are undefined if there is no such file; the root is undefined if the file
 * cannot be parsed.
 */
export async function readProjectFile(
  folder: string,
  environment: Environment,
  diagnostics: Diagnostics,
  content?: { readonly content: string | undefined },
): Promise<{ readonly source: SourceFile | undefined; readonly root: Node | undefined }> {
  const source = content === undefined ? await findSource(folder, diagnostics) : sourceOf(content.content);
  return { source, root: source && rootOf(source, folder, environment, diagnostics) };
}

/** The entries of the file, and in place of each section its entries, with keys such as `ledger.keep`. */
function settingsOf(source: SourceFile, root: Node, diagnostics: Diagnostics): Entry[] {
  return entriesOf(source, root).flatMap((entry): Entry[] => {
    const { key, keyAt, value } = entry;
    if (key.includes('.')) {
      reportUnknown(entry, source, diagnostics);
      return [];
    }
    const section = Object.hasOwn(SECTIONS, key) ? SECTIONS[key] : undefined;
    if (section === undefined) return [entry];
    if (isMap(value))
      return entriesOf(source, value).map((inner) => ({
        ...inner,
        key: inner.key === section.itself ? key : `${key}.${inner.key}`,
      }));
    if (section.itself !== undefined) return [entry];
    const names = KEYS.filter((one) => one.startsWith(`${key}.`)).map((one) => one.slice(key.length + 1));
    diagnostics.error(
      'wrong_type',
      value === undefined ? keyAt : spanOf(source, value),
      `\`${key}\`: expected a mapping with ${names.join(', ')}, found ${foundWords(source, value)}`,
    );
    return [];
  });
}

function sourceOf(content: string | undefined): SourceFile | undefined {
  return content === undefined ? undefined : new SourceFile(PROJECT_FILE, content);
}

/** Reads the file. A file with a similar name is an error, because nothing would read it. */
async function findSource(folder: string, diagnostics: Diagnostics): Promise<SourceFile | undefined> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names.filter((one) => one !== PROJECT_FILE && /^millrace\.ya?ml$/i.test(one)))
    diagnostics.error(
      'file_name',
      placeOf(name),
      `only ${PROJECT_FILE} is read`,
      `rename it to ${PROJECT_FILE}`,
    );
  const isMissing = await lstat(join(folder, PROJECT_FILE)).then(
    () => false,
    (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''),
  );
  return isMissing ? undefined : readText(folder, PROJECT_FILE, diagnostics);
}

function rootOf(
  source: SourceFile,
  folder: string,
  environment: Environment,
  diagnostics: Diagnostics,
): Node | undefined {
  hideSecrets(source);
  const firstLine = firstLineOf(folder);
  const root = parseYaml(source, environment, diagnostics, firstLine);
  if (root === undefined || isMap(root)) return root;
  diagnostics.error(
    'wrong_type',
    spanOf(source, root),
    `expected a mapping, found ${foundWords(source, root)}`,
    `start the file with \`${firstLine}\``,
  );
  return undefined;
}

function firstLineOf(folder: string): string {
  const name = basename(folder);
  return `${NAME_KEY}: ${NAME_PATTERN.test(name) ? name : 'shop'}`;
}

function readName(
  source: SourceFile,
  root: Node,
  folder: string,
  diagnostics: Diagnostics,
): string | undefined {
  const entry = entriesOf(source, root).find(({ key }) => key === NAME_KEY);
  if (entry === undefined) {
    // A misspelt key was reported before.
    if (entriesOf(source, root).some(({ key }) => guessOf(key) === NAME_KEY)) return undefined;
    diagnostics.error(
      'missing_key',
      startOf(source, root),
      `the key \`${NAME_KEY}\` is missing`,
      `start the file with \`${firstLineOf(folder)}\``,
    );
    return undefined;
  }
  const name = locatedText(source, memberOf(root, NAME_KEY));
  if (name === undefined)
    diagnostics.error(
      'wrong_type',
      entry.value === undefined ? entry.keyAt : spanOf(source, entry.value),
      `\`${NAME_KEY}\`: expected the name of the project, found ${foundWords(source, entry.value)}`,
      `for example \`${firstLineOf(folder)}\``,
    );
  else if (NAME_PATTERN.test(name.value)) return name.value;
  else
    diagnostics.error(
      'invalid_name',
      name.at,
      `\`${name.value}\` is not a valid name`,
      /[./\\]/.test(name.value)
        ? `\`${NAME_KEY}\` is a name, not a folder; --project and MILLRACE_PROJECT set the folder`
        : nameHelp(name.value),
    );
  return undefined;
}

function startOf(source: SourceFile, root: Node): Span {
  const [first] = entriesOf(source, root);
  return first?.keyAt ?? spanOf(source, root);
}

/** Returns the key that an unknown key most likely means. The name of an environment variable means its setting. */
function guessOf(key: string): string | undefined {
  const written = keyOf({ env: key.toUpperCase() });
  return KEYS.includes(written) ? written : nearest(key, KEYS);
}

function reportUnknown({ key, keyAt, value }: Entry, source: SourceFile, diagnostics: Diagnostics): void {
  const guess = guessOf(key);
  const nested = entriesOf(source, value)
    .map((inner) => `${key}_${inner.key}`)
    .find((joined) => KEYS.includes(joined));
  diagnostics.error(
    'unknown_key',
    keyAt,
    `\`${key}\` is not allowed here`,
    nested !== undefined
      ? `write \`${nested}:\`; \`${key}\` is not a section of ${PROJECT_FILE}`
      : guess !== undefined
        ? guessHelp(key, guess)
        : 'docs/reference/settings.md lists the keys',
  );
}

function textAt(source: SourceFile, node: Node | undefined): string | undefined {
  return node?.range ? source.text.slice(node.range[0], node.range[1]) : undefined;
}

/** Says what to write for a key that is not allowed. The key of a setting in a section stands below the section. */
function guessHelp(key: string, guess: string): string {
  const [section = '', name] = guess.split('.');
  if (name === undefined) return `did you mean \`${guess}\`?`;
  return key.startsWith(`${section}.`) && key !== guess
    ? `did you mean \`${name}\`?`
    : `write \`${name}\` below \`${section}\`: \`${section}: { ${name}: … }\``;
}
