import { startService } from '../../runtime/serve/app/serve.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';

/** A service in a separate process, with settings from the environment. It reports its address to its parent. */
const service = await startService(loadSettings(process.env));
process.send?.(service.url);
process.once('disconnect', () => void service.close());
