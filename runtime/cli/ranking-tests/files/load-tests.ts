import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import { readYamlFiles } from '../../../project/config/project/project-files.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { Environment } from '../../../project/config/yaml/interpolate.js';
import type { Located, SourceFile, Span } from '../../../project/config/yaml/source.js';
import { FILE_KINDS } from '../../../project/config/yaml/file-kinds.js';
import { parseFile } from '../../../project/config/yaml/yaml-file.js';
import { TIME_FORMS, timestampOf } from '../../../ground/core/timestamp.js';
import { rowKeys } from '../../../state/index/row-keys.js';
import { isNull, mergeExpect, mergeGiven, mergeOver } from './merge.js';
import { entriesIn, itemsIn, member, placed, textIn, type Placed } from './placed.js';
import type { TestCase, TestFile } from './test-case.js';

export const TESTS_FOLDER = FILE_KINDS.test.folder;

/** The time of a test that states none: 2026-01-01T00:00:00Z. */
export const DEFAULT_TIME = Date.UTC(2026, 0, 1);

type Schemas = Pick<ProjectConfig, 'entities' | 'views'>;

/**
 * Reads tests/*.yaml: checks their shape and merges the cases. Names of the project are checked later.
 * @param schemas undefined if the project has errors; then only the shape matters
 */
export async function loadTests(
  root: string,
  environment: Environment,
  schemas: Schemas | undefined,
  diagnostics: Diagnostics,
): Promise<TestFile[]> {
  const files = await readYamlFiles(root, TESTS_FOLDER, diagnostics);
  return files.flatMap((file) => readTest(file, environment, schemas, diagnostics) ?? []);
}

/** Reads one file of tests. @returns undefined if it is no YAML */
export function readTest(
  file: SourceFile,
  environment: Environment,
  schemas: Schemas | undefined,
  diagnostics: Diagnostics,
): TestFile | undefined {
  const parsed = parseFile(file, 'test', environment, diagnostics);
  if (parsed === undefined) return undefined;
  const root = placed(file, parsed.root, parsed.name.at);
  return { name: parsed.name.value, file, cases: casesOf(root, parsed.name, schemas, diagnostics) };
}

function casesOf(
  root: Placed,
  { value: test, at }: Located<string>,
  schemas: Schemas | undefined,
  diagnostics: Diagnostics,
): TestCase[] {
  const written = itemsIn(member(root, 'cases'));
  const names = new Map<string, Span>();
  const cases: TestCase[] = [];
  for (const [key, { value }] of entriesIn(member(root, 'expect')))
    if (isNull(value) && key !== 'score')
      diagnostics.error(
        'wrong_type',
        value.at,
        `\`${key}\`: nothing is expected`,
        'state what is expected, or remove the key; null removes a key only in a case',
      );
  // The keys above `cases:` are a case of their own if they expect something.
  const isCase = written.length === 0 || ['expect', 'always'].some((key) => member(root, key) !== undefined);
  if (isCase)
    cases.push(...caseOf({ root, over: undefined }, { test, name: test, at }, schemas, diagnostics));
  for (const over of written) {
    const name = textIn(member(over, 'name'));
    if (name === undefined) continue; // reported with the shape
    const nameAt = member(over, 'name')?.at ?? over.at;
    const first = names.get(name);
    if (first !== undefined) {
      diagnostics.error(
        'duplicate_name',
        nameAt,
        `two cases have the name \`${name}\``,
        `the other is at line ${first.file.position(first.start).line}; choose another name`,
      );
      continue;
    }
    names.set(name, nameAt);
    cases.push(
      ...caseOf({ root, over }, { test, name: `${test} > ${name}`, at: nameAt }, schemas, diagnostics),
    );
  }
  return cases;
}

function caseOf(
  { root, over }: { readonly root: Placed; readonly over: Placed | undefined },
  { test, name, at }: Pick<TestCase, 'test' | 'name' | 'at'>,
  schemas: Schemas | undefined,
  diagnostics: Diagnostics,
): TestCase[] {
  const part = (key: string): Placed | undefined => member(root, key);
  const own = (key: string): Placed | undefined => member(over, key);
  const pipeline = part('pipeline');
  const request = mergeOver(part('request'), own('request'));
  const expect = expectOf(part('expect'), own('expect'));
  const always = own('always') ?? part('always');
  // Without a request of the file, the cases that have one of their own are still sound.
  if (
    request === undefined &&
    !diagnostics.all.some((one) => one.at.file === at.file && one.message === NO_REQUEST)
  )
    diagnostics.error(
      'missing_key',
      at,
      NO_REQUEST,
      'give the body of a request, e.g. `request: { candidates: [{ product_id: p1 }] }`',
    );
  if (entriesIn(expect).length === 0 && itemsIn(always).length === 0)
    diagnostics.error(
      'missing_key',
      at,
      'the case expects nothing',
      'add `expect:` or `always:`, e.g. `expect: { order: [p2, p1] }`',
    );
  const rowTime = timeOf(part('time'), diagnostics);
  const time = own('time') === undefined ? rowTime : timeOf(own('time'), diagnostics);
  if (request === undefined || pipeline === undefined || time === undefined || rowTime === undefined)
    return [];
  return [
    {
      name,
      test,
      pipeline: { value: textIn(pipeline) ?? '', at: pipeline.at },
      time,
      rowTime,
      given: mergeGiven(part('given'), own('given'), (kind, of) => keysOf(kind, of, schemas)),
      request,
      expect,
      always: itemsIn(always).map((item) => ({ value: textIn(item) ?? '', at: item.at })),
      at,
    },
  ];
}

const NO_REQUEST = 'the case has no `request`';

/** A case that expects an error expects nothing else, and a case that expects something expects no error. */
function expectOf(above: Placed | undefined, own: Placed | undefined): Placed | undefined {
  const keys = entriesIn(own);
  if (keys.length === 0 || (above !== undefined && isError(above) !== isError(own))) return own ?? above;
  return mergeExpect(above, own);
}

function isError(expect: Placed | undefined): boolean {
  return member(expect, 'error') !== undefined;
}

function timeOf(value: Placed | undefined, diagnostics: Diagnostics): number | undefined {
  if (value === undefined) return DEFAULT_TIME;
  const time = value.kind === 'scalar' ? timestampOf(value.value) : NaN;
  if (!Number.isNaN(time)) return time;
  diagnostics.error('wrong_type', value.at, `\`time\`: expected ${TIME_FORMS}`);
  return undefined;
}

function keysOf(kind: 'entities' | 'features', name: string, schemas: Schemas | undefined): string[] {
  if (kind === 'entities') return [schemas?.entities.get(name)?.key ?? `${name}_id`];
  const view = schemas?.views.get(name);
  return view === undefined || schemas === undefined ? [] : [...rowKeys(view, schemas.entities)];
}
