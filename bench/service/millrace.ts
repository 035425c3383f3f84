import { startService } from '../../runtime/app/serve.js';
import { loadSettings } from '../../runtime/settings/settings.js';
import { tellUsage } from './serve.js';

/** Millrace as it is served, by the environment's settings. */
const service = await startService(loadSettings(process.env));
process.send?.(service.url);
tellUsage(() => void service.close());
