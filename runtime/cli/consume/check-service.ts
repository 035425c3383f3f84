import { MillraceError } from '../../ground/api/errors.js';
import { HEAD_CODES } from '../../serve/access/head-error.js';
import type { SourceDefinition } from '../../project/config/model/sources.js';
import type { SourceTarget } from '../../serve/sources/intake.js';

/** Errors with which a service refuses every message, until somebody changes the key, the address or the service. */
const REFUSALS: ReadonlySet<string> = new Set(HEAD_CODES.filter((code) => code !== 'overloaded'));

/**
 * Asks a running service by empty bodies whether it takes what sources store, so that a wrong key or address is reported
 * before the first message. A service that is overloaded or has lost its store takes messages later.
 * @throws MillraceError with one of the codes above; CommandFailure if no service answers
 */
export async function checkService(
  target: SourceTarget,
  sources: readonly Pick<SourceDefinition, 'into' | 'merge'>[],
): Promise<void> {
  for (const { into, merge } of sources) {
    try {
      if (into.kind === 'feedback') await target.feedback({ user: null, events: [] });
      else if (merge !== undefined) await target.update(into.name ?? '', [], merge.create);
      else if (into.kind === 'entities') await target.upload(into.name ?? '', []);
      else await target.push(into.name ?? '', []);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      // Only the messages name the entity type, and the key may allow theirs.
      const isOfNoType =
        error.code === 'key_not_allowed' && into.kind !== 'feedback' && into.name === undefined;
      if (REFUSALS.has(error.code) && !isOfNoType) throw error;
    }
  }
}
