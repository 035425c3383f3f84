import { startService } from '../../runtime/app/serve.js';
import { loadSettings } from '../../runtime/settings/settings.js';

/** A service in a process of its own, by the environment's settings; tells its parent where it answers. */
const service = await startService(loadSettings(process.env));
process.send?.(service.url);
process.once('disconnect', () => void service.close());
