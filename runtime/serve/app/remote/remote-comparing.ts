import type { Logger } from 'pino';
import { MillraceError } from '../../../ground/api/errors.js';
import type { Settings } from '../../../project/settings/settings.js';
import { headError } from '../../access/head-error.js';
import { CSRF_HEADER } from '../../access/csrf.js';
import { hasScope, type Scope } from '../../access/scopes.js';
import type { Exchange } from '../../http/exchange.js';
import type { Forwarder } from '../../http/forward.js';
import { who, type WhoAnswer } from '../../http/routes/session.js';
import { workbenchProject, type WorkbenchProject } from '../../http/routes/workbench.js';
import type { RemoteComparing } from '../../http/workbench-app.js';
import { Comparisons, type LoadComparer } from '../../compare/comparisons.js';
import { RemoteProject, type ReadProject } from './remote-project.js';
import { Workshop } from '../../compare/workshop.js';
import { comparingOf } from '../comparing-of.js';

/** What a workbench does itself whose store another process owns. */
export interface RemoteParts {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly service: Forwarder;
  readonly load: LoadComparer;
  /** Reads the files of the project. @throws MillraceError project_invalid */
  readonly read: () => Promise<ReadProject>;
}

/** Compares, reads logged requests and keeps tests, each in the name of the person who asks. */
export function remoteComparing({
  settings,
  logger,
  service,
  load,
  read,
}: RemoteParts): RemoteComparing & { close(): Promise<void> } {
  const comparisons = new Comparisons(logger, Date.now, load);
  const workshop = new Workshop(logger, load);
  const project = new RemoteProject(settings, read);
  const ofProject = (ask: Parameters<RemoteProject['as']>[0]): ReturnType<typeof comparingOf> =>
    comparingOf(comparisons, workshop, settings, () => project.as(ask));
  return {
    servicesFor: async (exchange) => {
      const ask = service.callsOf(exchange.req);
      identify(exchange, await ask<WhoAnswer>(who.path));
      return ofProject(ask);
    },
    project: async ({ req }) => {
      const ask = service.callsOf(req);
      const served = await ask<WorkbenchProject>(workbenchProject.path);
      const hasLedger = ofProject(ask).workshop.hasLedger();
      return { ...served, elsewhere: await project.elsewhere(served), hasLedger };
    },
    close: () => comparisons.close(),
  };
}

/**
 * Notes on a request who sends it, as the service knows them.
 * @throws MillraceError scope_missing, csrf_missing
 */
function identify(exchange: Exchange, { name, scopes, pipelines, csrf }: WhoAnswer): void {
  const { method, headers } = exchange.req;
  if (csrf !== undefined && method === 'POST' && headers[CSRF_HEADER] !== csrf)
    throw headError('csrf_missing', `the request of a session lacks its token in ${CSRF_HEADER}`);
  const known = scopes as readonly Scope[];
  if (!hasScope(known, 'explain'))
    throw new MillraceError('scope_missing', 'the key lacks the scope explain');
  // The service has no keys.
  if (name === '') return;
  const own = pipelines === undefined ? {} : { pipelines };
  exchange.key = { id: '', name, hash: Buffer.alloc(0), scopes: known, created: 0, ...own };
}
