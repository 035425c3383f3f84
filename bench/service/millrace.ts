import { startService } from '../../runtime/serve/app/serve.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { tellUsage } from './serve.js';

/**
 * Millrace in its normal form, with settings from the environment. The bench measures the cost of requests, so none is refused
 * when the machine has other work.
 */
const service = await startService(loadSettings({ MILLRACE_QUEUE_MS: '30000', ...process.env }));
process.send?.(service.url);
tellUsage(() => void service.close());
