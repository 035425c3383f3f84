import { startService } from '../../../runtime/serve/app/serve.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';
import type { ServiceUsage } from './service.js';

/** Runs the service in a separate process, with settings from the environment. It answers each message with its usage. */
const service = await startService(loadSettings(process.env));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({
    cpuMs: (user + system) / 1000,
    rssBytes: process.memoryUsage.rss(),
  } satisfies ServiceUsage);
});
process.on('disconnect', () => process.exit());
process.send?.(service.port);
