import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { MillraceError } from '../../ground/api/errors.js';
import { CLIENT_KEY, SETTINGS, type Settings } from '../../project/settings/settings.js';
import { isLoopback } from '../access/exposure.js';
import type { LoadComparer } from '../compare/comparisons.js';
import { remoteComparing } from './remote/remote-comparing.js';
import type { ReadProject } from './remote/remote-project.js';
import { Admission } from '../http/admission/admission.js';
import { BodyMemory } from '../http/bodies/body-memory.js';
import { Edge } from '../http/edge/edge.js';
import { Forwarder } from '../http/forward.js';
import { listen, type HttpServer } from '../http/listen.js';
import { TlsFiles } from '../http/tls-files.js';
import { createWorkbenchApp } from '../http/workbench-app.js';
import { HttpMetrics } from '../metrics/http-metrics.js';
import { AT_ONCE, endOnSignal, type Closing } from './process/end-on-signal.js';
import { openLog } from './process/open-log.js';
import { ProcessGuard } from './process/process-guard.js';
import { compileProject, ProjectInvalidError } from './project/compile-project.js';
import { projectVersion } from './project/project-version.js';
import { connectionLimits, urlOf } from './serve.js';

export interface WorkbenchOptions {
  readonly key?: string | undefined;
  readonly load: LoadComparer;
  readonly logger?: Logger;
}

/** The workbench of a service that another process runs. */
export interface RunningWorkbench {
  readonly url: string;
  /** The name of the key whose scopes everybody has who reaches this process; undefined if there is none. */
  readonly actsAs: string | undefined;
  close(closing?: Closing): Promise<void>;
}

/**
 * Starts the workbench of a service. Nothing of the store is opened here; of the project only its files are read.
 * @param service its address
 * @param load loads the code that compares
 * @param key sent for requests without a key or a session of their own; only this machine may then reach the process
 * @throws MillraceError invalid_setting, service_unreachable, key_invalid
 */
export async function startWorkbench(
  settings: Settings,
  service: string,
  { key, load, logger = openLog(settings) }: WorkbenchOptions,
): Promise<RunningWorkbench> {
  const { host, port, imageHosts, drainMs } = settings;
  const edge = new Edge({ ...settings, adminHost: host });
  const addressOf = edge.addressOf.bind(edge);
  const forwarder = new Forwarder({ url: new URL(service), key, addressOf });
  const compares = remoteComparing({
    settings,
    logger,
    service: forwarder,
    load,
    read: () => readProject(settings),
  });
  let tls: TlsFiles | undefined;
  let server: HttpServer;
  let actsAs: string | undefined;
  try {
    actsAs = await forwarder.whoAmI(key);
    if (actsAs !== undefined && settings.auth !== 'none') await checkReach(host, key);
    tls = await TlsFiles.open(settings, logger);
    const app = createWorkbenchApp({
      ...{ logger, edge, imageHosts, service: forwarder, compares },
      metrics: new HttpMetrics(new Registry()),
      admission: new Admission(settings),
      bodyBytes: settings.uploadBytes,
      bodyMemory: new BodyMemory(settings.bodyMemory),
    });
    server = await listen(app, { host, port }, { ...connectionLimits(settings), tls });
  } catch (error) {
    tls?.close();
    await forwarder.close();
    throw error;
  }
  return {
    url: urlOf(host, server.port, tls !== undefined),
    actsAs,
    async close({ lameDuckMs, idleMs } = AT_ONCE) {
      await pause(lameDuckMs);
      await server.close(drainMs, idleMs);
      tls?.close();
      await compares.close();
      await forwarder.close();
    },
  };
}

/** Serves the workbench of a service until a signal ends the process; resolves once it answers. */
export async function serveWorkbench(
  settings: Settings,
  service: string,
  options: WorkbenchOptions,
): Promise<RunningWorkbench> {
  const logger = openLog(settings);
  const workbench = await startWorkbench(settings, service, { ...options, logger });
  endOnSignal(settings, logger, new ProcessGuard(settings, logger), (closing) => workbench.close(closing));
  const { url, actsAs } = workbench;
  logger.info({ url, service, workbench: `${url}/workbench`, acts_as: actsAs ?? null }, 'listening');
  return workbench;
}

/** The files of the project. They are compiled for their version alone, which is that of models, too. @throws ProjectInvalidError */
async function readProject(settings: Settings): Promise<ReadProject> {
  const compiled = await compileProject(settings.project, settings);
  await compiled.close();
  const { config, diagnostics, files } = compiled;
  if (config === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    throw new ProjectInvalidError(diagnostics);
  return { config, version: projectVersion(config, files) };
}

/** @throws MillraceError invalid_setting if other machines would act with a key, or call a service that needs none */
async function checkReach(host: string, key: string | undefined): Promise<void> {
  if (await isLoopback(host)) return;
  const [why, help] =
    key === undefined
      ? ['the service needs no key', 'give it keys, or listen on 127.0.0.1']
      : [
          `everyone there would act with the key of ${CLIENT_KEY}`,
          `unset ${CLIENT_KEY}, and invite people with \`millrace keys invite --url\`, or listen on 127.0.0.1`,
        ];
  throw new MillraceError(
    'invalid_setting',
    `${SETTINGS.host.env} is ${host}, which other machines may reach, and ${why}; ${help}`,
  );
}
