import { Command, InvalidArgumentError, Option } from 'commander';
import { stateOf, type ApiKey, type KeyState } from '../../serve/access/api-key.js';
import { INVITATION_DAYS } from '../../serve/access/invitations.js';
import { createKey, hashOfKey, idOfKey } from '../../serve/access/key-text.js';
import {
  changeKeys,
  isKeyName,
  KEY_NAME_EXPECTED,
  KeysLockedError,
  readKeys,
  shownOf,
  timeText,
} from '../../serve/access/keys-file.js';
import { urlOf } from '../../serve/app/serve.js';
import { parseRate, RATE_FORM, type Rate } from '../../ground/core/rate.js';
import { isScope, ROLES, SCOPE_NAMES, type Role, type Scope } from '../../serve/access/scopes.js';
import { parseDuration } from '../../ground/api/duration.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { loadProject } from '../../project/config/project/load-project.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import { AS_WORD, didYouMean, nearest } from '../../ground/core/nearest.js';
import { ROLE_NAMES } from '../../project/settings/edge-settings.js';
import { SETTINGS, type SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import type { HttpTarget } from '../load/http-target.js';
import { addSettingFlags, httpUrl, serviceOption } from '../setting-flags.js';
import { renderTable } from '../report/table.js';

type Flags = SettingFlags & { readonly json?: boolean };

interface CreateFlags extends Flags {
  readonly scope: readonly Scope[];
  readonly pipeline?: readonly string[];
  readonly entityType?: readonly string[];
  readonly rate?: Rate;
  readonly expires?: number;
}

/** Flags of the commands that also use a running service. */
interface ServiceFlags extends Flags {
  readonly url?: string;
}

interface InviteFlags extends ServiceFlags {
  readonly role: Role;
  readonly pipeline?: readonly string[];
  readonly expires?: number;
  readonly address?: string;
}

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
    .addOption(serviceOption('invite at this running service instead of in the keys file'))
    .addOption(
      new Option(
        '--address <URL>',
        'address of the service in the link, as the browser of the person reaches it [default --url, or this machine]',
      ).argParser(httpUrl),
    )
    .option('--json', 'print the link and what the person may do as JSON')
    .action((its: string, flags: InviteFlags) => inviteOne(context, its, flags));
  const list = new Command('list')
    .description('list the keys, without their secrets')
    .addOption(serviceOption('list the invitations that were made at this running service'))
    .option('--json', 'print the keys as JSON')
    .action((flags: ServiceFlags) => listKeys(context, flags));
  const revoke = new Command('revoke')
    .description('make a key invalid; running services refuse it within seconds')
    .argument('<KEY>', 'name or id of the key')
    .addOption(serviceOption('revoke an invitation that was made at this running service'))
    .option('--json', 'print the revoked key as JSON')
    .action((which: string, flags: ServiceFlags) => revokeOne(context, which, flags));
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
  const { text, where, shown } =
    (await atService(context, flags, (service, url) => inviteAt(service, url, its, flags))) ??
    (await inviteInFile(context, its, flags));
  const link = `${(flags.address ?? flags.url ?? (await ownAddress(context, flags))).replace(/\/+$/, '')}/session#${text}`;
  if (flags.json === true) printJson(context, { link, ...shown });
  else context.stdout.write(`${link}\n`);
  context.stderr.write(
    `invitation ${String(shown.id)} of ${its} ${where}; its link works once, until ${String(shown.expires)}\n`,
  );
}

interface Invited {
  readonly text: string;
  readonly where: string;
  readonly shown: Readonly<Record<string, unknown>>;
}

async function inviteAt(
  service: HttpTarget,
  url: string,
  its: string,
  { role, pipeline: pipelines, expires }: InviteFlags,
): Promise<Invited> {
  const { invitation: text, ...shown } = await service.invite({
    ...{ name: its, role, pipelines },
    ...(expires === undefined ? {} : { expires: timeText(expires) }),
  });
  return { text, where: `made at ${url}`, shown: { ...shown } };
}

async function inviteInFile(context: CliContext, its: string, flags: InviteFlags): Promise<Invited> {
  const { file, project } = await filesOf(context, flags);
  const { role, pipeline: pipelines, expires = Date.now() + INVITATION_DAYS * 86_400_000 } = flags;
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
  return { text, where: `written to ${file}`, shown: shownOf(key) };
}

/** The address of the service that has the settings, on this machine. */
async function ownAddress(context: CliContext, flags: SettingFlags): Promise<string> {
  const { host, port, adminHost, adminPort, tlsCert } = await settingsOf(context, flags);
  const [itsHost, itsPort] = adminPort === 'off' ? [host, port] : [adminHost, adminPort];
  return urlOf(itsHost, itsPort, tlsCert !== '');
}

/** Uses the service that `--url` names; undefined if the command has no such flag. */
async function atService<T>(
  context: CliContext,
  { url, keysFile }: ServiceFlags,
  work: (service: HttpTarget, url: string) => Promise<T>,
): Promise<T | undefined> {
  if (url === undefined) return undefined;
  if (keysFile !== undefined)
    throw new UsageError(`--url and --${SETTINGS.keysFile.flag} are both set; leave one of them out`);
  // Most uses of the command need no client of services.
  const { openService } = await import('../load/open-target.js');
  const service = openService(context, url);
  try {
    return await work(service, url);
  } finally {
    await service.close();
  }
}

async function listKeys(context: CliContext, flags: ServiceFlags): Promise<void> {
  const now = Date.now();
  const keys: readonly Listed[] =
    (await atService(context, flags, (service) => service.invitations())) ??
    (await readKeys((await filesOf(context, flags)).file)).map((key) => ({
      ...(shownOf(key) as unknown as Listed),
      state: stateOf(key, now),
    }));
  if (flags.json === true) {
    printJson(context, keys);
    return;
  }
  const rows = keys.map((key) => [key.id, key.name, stateText(key)] as const);
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

async function revokeOne(context: CliContext, which: string, flags: ServiceFlags): Promise<void> {
  const wanted = idOfKey(which) ?? which;
  const there = await atService(context, flags, (service) => service.revokeInvitation(wanted));
  if (there !== undefined) {
    if (flags.json === true) printJson(context, there);
    else context.stdout.write(`invitation ${there.id} of ${there.name} is revoked\n`);
    return;
  }
  const { file } = await filesOf(context, flags);
  const now = Date.now();
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

/** What lists show of a key, of the file or of a service. */
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly pipelines?: readonly string[];
  readonly entity_types?: readonly string[];
  readonly rate?: string;
  readonly invites?: boolean;
  readonly expires?: string;
  readonly revoked?: string;
  readonly state: KeyState;
}

function stateText({ state, invites, expires, revoked }: Listed): string {
  const day = (time = ''): string => time.slice(0, 10);
  switch (state) {
    case 'revoked':
      return `revoked ${day(revoked)}`;
    case 'expired':
      return `expired ${day(expires)}`;
    case 'valid':
      if (invites === true) return `invited to ${day(expires)}`;
      return expires === undefined ? 'valid' : `valid to ${day(expires)}`;
  }
}

function rightsText({ scopes, pipelines, entity_types: entityTypes, rate: limit }: Listed): string {
  return [
    scopes.join(', '),
    ...(pipelines === undefined ? [] : [`pipelines: ${pipelines.join(', ')}`]),
    ...(entityTypes === undefined ? [] : [`entity types: ${entityTypes.join(', ')}`]),
    ...(limit === undefined ? [] : [limit]),
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
