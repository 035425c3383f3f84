import { NotReplicatedError } from './failure.js';
import type { RedisConnection } from './connection.js';
import type { AddCommand, CommandPipeline } from './servers.js';

/** The number of replicas that must confirm the writes of a pipeline, and the time limit in milliseconds. */
export interface Confirmation {
  readonly replicas: number;
  readonly within: number;
}

interface Pipeline {
  readonly positions: readonly number[];
  /** Total size of the values. */
  readonly bytes: number;
  readonly add: AddCommand;
  readonly confirmation?: Confirmation | undefined;
  /** Whether the slot is migrating to this node. */
  readonly asking?: boolean;
}

/**
 * Sends one command for each position together, and checks every reply. Never rejects.
 * @returns by index in `positions`: the reply or an Error; the same Error for all if nothing could be sent
 */
export async function sendPipeline(connection: RedisConnection, pipeline: Pipeline): Promise<unknown[]> {
  const { positions, bytes, add, confirmation, asking = false } = pipeline;
  const confirmed = confirmation !== undefined && confirmation.replicas > 0;
  try {
    const replies = await connection.run(positions.length, bytes, (redis) => {
      const commands = redis.pipeline() as CommandPipeline;
      for (const position of positions) {
        if (asking) commands.asking();
        add(commands, position);
      }
      if (confirmed) commands.wait(confirmation.replicas, confirmation.within);
      return commands.exec();
    });
    const reply = (at: number): unknown => {
      const [error, value] = replies?.[at] ?? [new Error('no reply'), undefined];
      return error ?? value;
    };
    const step = asking ? 2 : 1;
    const outcomes = positions.map((_, i) => reply(i * step + step - 1));
    for (const outcome of outcomes) if (outcome instanceof Error) connection.renewIfDemoted(outcome);
    if (!confirmed) return outcomes;
    const replicas = reply(positions.length * step);
    if (typeof replicas === 'number' && replicas >= confirmation.replicas) return outcomes;
    const failure =
      replicas instanceof Error
        ? replicas
        : new NotReplicatedError(Number(replicas), confirmation.replicas, confirmation.within);
    return outcomes.map((outcome) => (outcome instanceof Error ? outcome : failure));
  } catch (error) {
    return positions.map(() => error);
  }
}
