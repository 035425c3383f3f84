import { Command, InvalidArgumentError, Option } from 'commander';
import { stateOf, type ApiKey } from '../../serve/access/api-key.js';
import { createKey, hashOfKey, idOfKey } from '../../serve/access/key-text.js';
import {
  changeKeys,
  entryOf,
  isKeyName,
  KEY_NAME_EXPECTED,
  KeysLockedError,
  readKeys,
  timeText,
} from '../../serve/access/keys-file.js';
import { urlOf } from '../../serve/app/serve.js';
import { parseRate, RATE_FORM, rateText, type Rate } from '../../ground/core/rate.js';
import { isScope, ROLE_NAMES, ROLES, SCOPE_NAMES, type Role, type Scope } from '../../serve/access/scopes.js';
import { parseDuration } from '../../ground/api/duration.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { loadProject } from '../../project/config/project/load-project.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import { AS_WORD, didYouMean, nearest } from '../../ground/core/nearest.js';
import { SETTINGS, type SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { addSettingFlags } from '../setting-flags.js';
import { renderTable } from '../report/table.js';

type Flags = SettingFlags & { readonly json?: boolean };

interface CreateFlags extends Flags {
  readonly scope: readonly Scope[];
  readonly pipeline?: readonly string[];
  readonly entityType?: readonly string[];
  readonly rate?: Rate;
  readonly expires?: number;
}

interface InviteFlags extends Flags {
  readonly role: Role;
  readonly pipeline?: readonly string[];
  readonly expires?: number;
  readonly url?: string;
}

/** How long the link of an invitation can be opened. */
const INVITATION_DAYS = 7;

/** The widest name that `keys list` shows whole. */
const NAME_WIDTH = 18;

export function keysCommand(context: CliContext): Command {
  const create = new Command('create')
    .description('create an API key and print it; it cannot be shown again')
    .argument('<NAME>', 'name of its user, for metrics and logs', keyName)
    .addOption(
      new Option('--scope <SCOPES>', `what it may do: ${SCOPE_NAMES.join(', ')}`)
        .argParser(listOf(scope))
        .makeOptionMandatory(),
    )
    .addOption(pipelineOption())
    .addOption(
      new Option('--entity-type <NAMES>', 'entity types that it may read and write [default all]').argParser(
        listOf(name),
      ),
    )
    .addOption(new Option('--rate <RATE>', 'most requests per time, e.g. 100/s or 600/m').argParser(rate))
    .addOption(
      new Option(
        '--expires <WHEN>',
        'a time from now, e.g. 30d, or a date of ISO 8601 [default never]',
      ).argParser(expiry),
    )
    .option('--json', 'print the key and what it may do as JSON')
    .action((its: string, flags: CreateFlags) => createOne(context, its, flags));
  const invite = new Command('invite')
    .description('print a link with which a person signs in, once, in a browser')
    .argument('<NAME>', 'name of the person, for logs and histories', keyName)
    .addOption(
      new Option('--role <ROLE>', 'what the person may do').choices(ROLE_NAMES).makeOptionMandatory(),
    )
    .addOption(pipelineOption())
    .addOption(
      new Option(
        '--expires <WHEN>',
        `until when the link can be opened [default ${INVITATION_DAYS}d]`,
      ).argParser(expiry),
    )
    .option(
      '--url <URL>',
      'address of the service, as the browser of the person reaches it [default this machine]',
    )
    .option('--json', 'print the link and what the person may do as JSON')
    .action((its: string, flags: InviteFlags) => inviteOne(context, its, flags));
  const list = new Command('list')
    .description('list the keys, without their secrets')
    .option('--json', 'print the keys as JSON')
    .action((flags: Flags) => listKeys(context, flags));
  const revoke = new Command('revoke')
    .description('make a key invalid; running services refuse it within seconds')
    .argument('<KEY>', 'name or id of the key')
    .option('--json', 'print the revoked key as JSON')
    .action((which: string, flags: Flags) => revokeOne(context, which, flags));
  const command = new Command('keys').description('create, list and revoke API keys, and invite people');
  for (const child of [create, invite]) command.addCommand(addSettingFlags(child, ['keysFile', 'project']));
  for (const child of [list, revoke]) command.addCommand(addSettingFlags(child, ['keysFile']));
  return command;
}

async function createOne(context: CliContext, its: string, flags: CreateFlags): Promise<void> {
  const { file, project } = await filesOf(context, flags);
  const { scope: scopes, pipeline: pipelines, entityType: entityTypes, rate: limit, expires } = flags;
  const { id, text } = createKey();
  const key: ApiKey = {
    id,
    name: its,
    hash: hashOfKey(text),
    scopes,
    ...(pipelines === undefined ? {} : { pipelines }),
    ...(entityTypes === undefined ? {} : { entityTypes }),
    ...(limit === undefined ? {} : { rate: limit }),
    created: Date.now(),
    ...(expires === undefined ? {} : { expires }),
  };
  await warnOfNames(context, project, key);
  await change(file, (keys) => [...keys, key]);
  if (flags.json === true) printJson(context, { key: text, ...shownOf(key) });
  else context.stdout.write(`${text}\n`);
  context.stderr.write(`key ${id} of ${its} written to ${file}; the key itself is not stored: keep it now\n`);
}

async function inviteOne(context: CliContext, its: string, flags: InviteFlags): Promise<void> {
  const { file, project } = await filesOf(context, flags);
  const { host, port, adminHost, adminPort, tlsCert } = await settingsOf(context, flags);
  const { role, pipeline: pipelines, expires = Date.now() + INVITATION_DAYS * 86_400_000 } = flags;
  const [itsHost, itsPort] = adminPort === 'off' ? [host, port] : [adminHost, adminPort];
  const base = flags.url ?? urlOf(itsHost, itsPort, tlsCert !== '');
  const { id, text } = createKey();
  const key: ApiKey = {
    id,
    name: its,
    hash: hashOfKey(text),
    scopes: ROLES[role],
    ...(pipelines === undefined ? {} : { pipelines }),
    invites: true,
    created: Date.now(),
    expires,
  };
  await warnOfNames(context, project, key);
  await change(file, (keys) => [...keys, key]);
  const link = `${base.replace(/\/+$/, '')}/session#${text}`;
  if (flags.json === true) printJson(context, { link, ...shownOf(key) });
  else context.stdout.write(`${link}\n`);
  context.stderr.write(
    `invitation ${id} of ${its} written to ${file}; its link works once, until ${timeText(expires)}\n`,
  );
}

async function listKeys(context: CliContext, flags: Flags): Promise<void> {
  const { file } = await filesOf(context, flags);
  const keys = await readKeys(file);
  const now = Date.now();
  if (flags.json === true) {
    printJson(
      context,
      keys.map((key) => ({ ...shownOf(key), state: stateOf(key, now) })),
    );
    return;
  }
  const rows = keys.map((key) => [key.id, key.name, stateText(key, now)] as const);
  const columns = [{ title: 'id' }, { title: 'name', max: NAME_WIDTH }, { title: 'state' }, { title: 'may' }];
  const before = renderTable(columns.slice(0, 3), rows).split('\n')[1]?.length ?? 0;
  const width = Math.max(20, styleOf(context, context.stdout).width - before - 2);
  const wrapped = keys.flatMap((key, i) =>
    wrapAfter('', rightsText(key), 0, width).map((line, at) =>
      at === 0 ? [...(rows[i] ?? []), line] : ['', '', '', line],
    ),
  );
  context.stdout.write(renderTable(columns, wrapped));
}

async function revokeOne(context: CliContext, which: string, flags: Flags): Promise<void> {
  const { file } = await filesOf(context, flags);
  const now = Date.now();
  const wanted = idOfKey(which) ?? which;
  let revoked: ApiKey | undefined;
  await readKeys(file); // a file that does not exist is not created
  await change(file, (keys) => {
    const named = keys.filter(({ id, name: its }) => id === wanted || its === wanted);
    const found = named.filter((key) => key.revoked === undefined);
    if (found.length !== 1) throw notOne(wanted, named, found, keys);
    return keys.map((key) => (key === found[0] ? (revoked = { ...key, revoked: now }) : key));
  });
  if (revoked === undefined) throw new Error('one key is revoked');
  if (flags.json === true) printJson(context, { ...shownOf(revoked), state: stateOf(revoked, now) });
  else context.stdout.write(`key ${revoked.id} of ${revoked.name} is revoked\n`);
}

async function change(file: string, to: (keys: readonly ApiKey[]) => readonly ApiKey[]): Promise<void> {
  try {
    await changeKeys(file, to);
  } catch (error) {
    if (error instanceof KeysLockedError)
      throw new CommandFailure(`another command changes ${file}`, `if none does, delete ${error.lock}`, {
        cause: error,
      });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    throw new CommandFailure(
      `${file} cannot be written (${code})`,
      'the folder must exist, and this user must own the file and may create files beside it',
      { cause: error },
    );
  }
}

function notOne(
  wanted: string,
  named: readonly ApiKey[],
  found: readonly ApiKey[],
  keys: readonly ApiKey[],
): CommandFailure {
  if (found.length > 1) {
    const ids = found.map(({ id, created }) => `${id} (created ${timeText(created)})`).join(', ');
    return new CommandFailure(`${wanted} has ${found.length} keys: ${ids}`, 'revoke one of them by its id');
  }
  if (named.length > 0) return new CommandFailure(`${wanted} is revoked already`);
  const help =
    didYouMean(
      wanted,
      keys.flatMap(({ id, name: its }) => [its, id]),
      AS_WORD,
    ) ?? 'millrace keys list shows the keys';
  return new CommandFailure(`there is no key ${wanted}`, help);
}

async function filesOf(context: CliContext, flags: SettingFlags): Promise<{ file: string; project: string }> {
  const { keysFile: file, project } = await settingsOf(context, flags);
  if (file === '')
    throw new UsageError(
      `no keys file is set; set ${SETTINGS.keysFile.env}, or add --${SETTINGS.keysFile.flag} FILE`,
    );
  return { file, project };
}

/** Warns of names that the project does not have. They are allowed, because the key may be for another project. */
async function warnOfNames(context: CliContext, project: string, key: ApiKey): Promise<void> {
  const { pipelines = [], entityTypes = [] } = key;
  if (pipelines.length + entityTypes.length === 0) return;
  const { checkable: config } = await loadProject(project, context.env);
  if (config === undefined) return;
  const warn = (kind: string, names: readonly string[], known: readonly string[]): void => {
    for (const one of names) {
      if (known.includes(one)) continue;
      const near = nearest(one, known);
      const guess = near === undefined ? '' : `; did you mean ${near}?`;
      context.stderr.write(`warning: the project has no ${kind} ${one}${guess}\n`);
    }
  };
  warn(
    'pipeline',
    pipelines,
    config.pipelines.map((pipeline) => pipeline.name),
  );
  warn('entity type', entityTypes, [...config.entities.keys()]);
}

/** The members of a key for programs. The hash is of no use to them. */
function shownOf(key: ApiKey): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entryOf(key)).filter(([member]) => member !== 'hash'));
}

function stateText(key: ApiKey, now: number): string {
  const day = (time = 0): string => timeText(time).slice(0, 10);
  switch (stateOf(key, now)) {
    case 'revoked':
      return `revoked ${day(key.revoked)}`;
    case 'expired':
      return `expired ${day(key.expires)}`;
    case 'valid':
      if (key.invites === true) return `invited to ${day(key.expires)}`;
      return key.expires === undefined ? 'valid' : `valid to ${day(key.expires)}`;
  }
}

function rightsText({ scopes, pipelines, entityTypes, rate: limit }: ApiKey): string {
  return [
    scopes.join(', '),
    ...(pipelines === undefined ? [] : [`pipelines: ${pipelines.join(', ')}`]),
    ...(entityTypes === undefined ? [] : [`entity types: ${entityTypes.join(', ')}`]),
    ...(limit === undefined ? [] : [rateText(limit)]),
  ].join('; ');
}

function pipelineOption(): Option {
  return new Option('--pipeline <NAMES>', 'pipelines to run and explain [default all]').argParser(
    listOf(name),
  );
}

function keyName(text: string): string {
  if (isKeyName(text)) return text;
  throw new InvalidArgumentError(`Expected ${KEY_NAME_EXPECTED.replaceAll('`', '')}.`);
}

/** Parses a list of values, separated by commas or given one flag each. */
function listOf<T extends string>(
  parse: (text: string) => T,
): (text: string, before?: readonly T[]) => readonly T[] {
  return (text, before = []) => [...new Set([...before, ...text.split(',').map((one) => parse(one.trim()))])];
}

function scope(text: string): Scope {
  if (isScope(text)) return text;
  const near = nearest(text, SCOPE_NAMES);
  throw new InvalidArgumentError(
    near === undefined ? `Expected one of ${SCOPE_NAMES.join(', ')}.` : `Did you mean ${near}?`,
  );
}

function name(text: string): string {
  if (NAME_PATTERN.test(text)) return text;
  throw new InvalidArgumentError('Expected names of lowercase letters, digits and _, separated by commas.');
}

function rate(text: string): Rate {
  const parsed = parseRate(text);
  if (parsed !== undefined) return parsed;
  throw new InvalidArgumentError(`Expected ${RATE_FORM}.`);
}

function expiry(text: string): number {
  const duration = parseDuration(text);
  const time =
    duration === undefined ? Date.parse(/^\d{4}-\d\d-\d\d/.test(text) ? text : '') : Date.now() + duration;
  if (time > Date.now() && time <= 8.64e15) return time;
  throw new InvalidArgumentError(
    'Expected a time from now, e.g. 30d, or a date in the future, e.g. 2027-01-31.',
  );
}
