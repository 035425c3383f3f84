import { setTimeout as pause } from 'node:timers/promises';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import { checkStoredFit } from '../../../state/index/stored-fit.js';
import { TOKENS, type Container } from '../container/tokens.js';

/** The longest wait until the store accepts the schemas of this service, in milliseconds. */
const ANNOUNCE_WITHIN = 1000;

/**
 * Announces the schemas of this service to the other services on the store, and checks whether the stored entities fit
 * them. Warnings about other services are logged before the first request. The check of stored entities runs while
 * requests are served.
 */
export async function announce(services: Container, config: ProjectConfig): Promise<void> {
  const announced = services.resolve(TOKENS.serviceSchemas)?.use(config);
  await Promise.race([announced, pause(ANNOUNCE_WITHIN, undefined, { ref: false })]);
  void checkStoredFit(config.entities, {
    store: services.resolve(TOKENS.store),
    layouts: services.resolve(TOKENS.layouts),
    prefix: services.resolve(TOKENS.settings).prefix,
    monitor: services.resolve(TOKENS.storeMonitor),
  });
}
