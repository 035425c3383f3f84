import type { DependencyContainer } from 'tsyringe';
import { describeError } from '../../../ground/core/describe-error.js';
import type { EntityBinding } from '../../../request/compile/need-entities.js';
import { EntityFollower, type FollowedType } from '../../../state/index/entity-follower.js';
import { MinuteLog } from '../project/held-log.js';
import type { Lease } from './shared.js';
import { TOKENS } from './tokens.js';

/** Leases what follows entities: that of an earlier generation if it keeps the same. */
export function leasing(
  container: DependencyContainer,
): (followed: FollowedType) => Promise<Lease<EntityFollower>> {
  const failures = new MinuteLog(container.resolve(TOKENS.logger));
  const parts = {
    store: container.resolve(TOKENS.store),
    layouts: container.resolve(TOKENS.layouts),
    prefix: container.resolve(TOKENS.settings).prefix,
    coherence: container.resolve(TOKENS.coherence),
    onError: (error: unknown) =>
      failures.warn(
        '',
        { error: describeError(error) },
        'entities that are kept in process could not be read',
      ),
  };
  return (followed) =>
    container.resolve(TOKENS.followers).lease(
      (follower) => follower.followed.key === followed.key,
      () => new EntityFollower(followed, parts),
    );
}

/**
 * Reads the entities that components keep, and binds the components to them. An earlier generation's are reused if they keep
 * the same.
 * @param hold takes each lease, also if a later one fails
 */
export async function followEntities(
  container: DependencyContainer,
  kept: readonly EntityBinding[],
  hold: <T>(lease: Lease<T>) => T,
): Promise<void> {
  const logger = container.resolve(TOKENS.logger);
  const lease = leasing(container);
  const followers: EntityFollower[] = [];
  for (const binding of kept) {
    const follower = hold(await lease(binding.followed));
    binding.bind(follower);
    followers.push(follower);
  }
  for (const follower of followers) {
    await follower.settled();
    if (follower.problem !== undefined)
      logger.warn({ type: follower.followed.type }, `a component keeps nothing: ${follower.problem}`);
  }
}
