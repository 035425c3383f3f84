import { startService } from '../../runtime/app/serve.js';
import { loadSettings } from '../../runtime/settings/settings.js';
import { tellUsage } from './serve.js';

/** Millrace in its normal form, with settings from the environment. */
const service = await startService(loadSettings(process.env));
process.send?.(service.url);
tellUsage(() => void service.close());
