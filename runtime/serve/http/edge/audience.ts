import type { Settings } from '../../../project/settings/settings.js';

/** Who a listener is for: the clients that rank and write, or the operators of the service. */
export type Audience = 'clients' | 'operators';

/** Returns the audience of the first listener, and of the second if there is one. One listener alone serves all routes. */
export function audiencesOf({
  adminPort,
  workbench,
}: Pick<Settings, 'adminPort' | 'workbench'>): readonly [Audience | undefined, ...Audience[]] {
  if (workbench === 'only') return ['operators'];
  return adminPort === 'off' ? [undefined] : ['clients', 'operators'];
}
